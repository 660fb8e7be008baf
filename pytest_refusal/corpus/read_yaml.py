"""Read YAML, by the rules of YAML 1.2: `no` is a word, and a date is a text.

Values are built from the parser's events, without recursion and without any tag, so that
nothing is ever executed, and an alias never unfolds into more than it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import Any

from pytest_refusal.corpus.decoding import LARGEST_BY_HAND, Source
from pytest_refusal.corpus.documents import Member, sheet_of_list, sheet_of_members
from pytest_refusal.corpus.faults import UnreadableError, quoted
from pytest_refusal.corpus.rows import Dialect, Sheet

#: Levels of nesting; a corpus has about five.
DEEPEST = 64

#: Values in a document, with every alias counted as what it stands for.
LARGEST_DOCUMENT = 3_000_000

_CORE_TAGS = frozenset(
    {
        "!",
        *(f"tag:yaml.org,2002:{n}" for n in ("str", "int", "float", "bool", "null", "map", "seq")),
    }
)
_STRING = "tag:yaml.org,2002:str"
_WORDS = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,2})?")


def read_yaml(source: Source, dialect: Dialect) -> Sheet:
    """Read a list of prompts, or a document that has one.  Needs the extra `yaml`."""
    path = [] if dialect.records is None else dialect.records.split(".")
    root = _Builder(_yaml(), levels=len(path)).build(source.whole(limit=LARGEST_BY_HAND))
    for number, key in enumerate(path, start=1):
        if key not in root.members:
            where = quoted(".".join(path[:number]))
            raise UnreadableError(root.line, f"there is no {where}, which `records` names")
        root = root.members[key]
    if isinstance(root.value, list):
        return sheet_of_list(_member(root))
    if isinstance(root.value, dict) and not path:
        return sheet_of_members({key: _member(node) for key, node in root.members.items()})
    raise UnreadableError(root.line, f"a list of prompts should be here, not {quoted(root.value)}")


def _member(node: _Node) -> Member:
    return Member(node.line, node.value, tuple(node.lines))


def _yaml() -> Any:
    try:
        import yaml  # optional
    except ImportError as error:
        what = 'YAML needs another package: pip install "pytest-refusal[yaml]"'
        raise UnreadableError(1, what) from error
    return yaml


@dataclass(slots=True, kw_only=True)
class _Node:
    """A value and where it stands.

    size: how many values it comes to, itself included.
    lines: where the elements of a list begin.  members: the values of a mapping, by key.
    """

    line: int
    value: object
    size: int = 1
    lines: Sequence[int] = ()
    members: Mapping[str, _Node] = field(default_factory=dict)


class _Open:
    """A list or mapping that has not ended.

    event: of its beginning.  begun: how many values there were before it.
    parts: elements, or keys and values by turns.  lines: where each begins, from 0.
    nodes: of those parts that have parts themselves, by their index; None where nobody asks.
    """

    __slots__ = ("begun", "event", "lines", "nodes", "parts")

    def __init__(self, event: Any, begun: int, nodes: dict[int, _Node] | None) -> None:
        self.event = event
        self.begun = begun
        self.parts: list[object] = []
        self.lines: list[int] = []
        self.nodes = nodes

    def part(self, index: int) -> _Node:
        """Return a part as a node."""
        node = self.nodes.get(index) if self.nodes else None
        return node or _Node(line=self.line(index), value=self.parts[index])

    def line(self, index: int) -> int:
        """Return the line where a part begins, from 1."""
        return self.lines[index] + 1


class _Builder:
    """Builds the value of one document from the events of the parser.

    levels: of mappings, from the root on, whose members are asked for.
    """

    def __init__(self, yaml: Any, *, levels: int) -> None:
        self._yaml = yaml
        self._levels = levels
        self._file = self._top = _Open(None, 0, {})
        self._around: list[_Open] = []
        self._size = 0
        self._anchors: dict[str, _Node | None] = {}  # None for one that has not ended
        self._names: dict[tuple[object, ...], tuple[str, ...]] = {}

    def build(self, text: str) -> _Node:
        """Return the only document of a text."""
        loader = getattr(self._yaml, "CSafeLoader", self._yaml.SafeLoader)
        try:
            self._read(loader(text).get_event)
        except self._yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = 1 if mark is None else mark.line + 1
            problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
            raise UnreadableError(line, f"this is not YAML: {problem}") from error
        except (RecursionError, UnicodeError) as error:
            raise UnreadableError(1, f"this is not YAML: {error}") from error
        if not self._file.parts:
            raise UnreadableError(1, "the file is empty")
        return self._file.part(0)

    def _read(self, next_event: Callable[[], Any]) -> None:
        scalar = self._yaml.ScalarEvent
        size, parts, lines = 0, self._top.parts, self._top.lines
        while (event := next_event()) is not None:
            if type(event) is not scalar:
                self._size = size
                self._take(event)
                size, parts, lines = self._size, self._top.parts, self._top.lines
                continue
            # Ten times as many as all others: this is what the reading of a file costs.
            value = event.value
            if event.implicit[0] or event.tag is not None:
                value = _meant(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = _Node(line=_line(event), value=value)
            size += 1
            if size > LARGEST_DOCUMENT:
                raise _too_large(event)
            parts.append(value)
            lines.append(event.start_mark.line)

    def _take(self, event: Any) -> None:
        match type(event).__name__:
            case "MappingStartEvent":
                asked_for = event.anchor is not None or len(self._around) <= self._levels
                self._begin(event, {} if asked_for else None)
            case "SequenceStartEvent":
                self._begin(event, None)
            case "MappingEndEvent":
                self._end_mapping(self._top)
            case "SequenceEndEvent":
                self._end(self._top.parts, {})
            case "AliasEvent":
                node = self._anchored(event)
                self._grow(node.size, event)
                if self._top.nodes is not None:
                    self._top.nodes[len(self._top.parts)] = node
                self._add(node.value, event)
            case "DocumentStartEvent" if self._file.parts:
                what = "a second document begins; one file is one"
                raise UnreadableError(_line(event), what)

    def _grow(self, by: int, event: Any) -> None:
        self._size += by
        if self._size > LARGEST_DOCUMENT:
            raise _too_large(event)

    def _begin(self, event: Any, nodes: dict[int, _Node] | None) -> None:
        if event.tag is not None:
            _check_tag(event)
        if len(self._around) >= DEEPEST:
            raise UnreadableError(_line(event), "lists or mappings are nested too deeply")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._around.append(self._top)
        self._top = _Open(event, self._size, nodes)
        self._grow(1, event)

    def _end(self, value: list[object] | dict[str, object], members: dict[str, _Node]) -> None:
        ended, self._top = self._top, self._around.pop()
        event, nodes = ended.event, self._top.nodes
        if nodes is not None or event.anchor is not None:
            node = _Node(line=_line(event), value=value, members=members)
            node.size = self._size - ended.begun
            if isinstance(value, list):
                node.lines = [line + 1 for line in ended.lines]
            if nodes is not None:
                nodes[len(self._top.parts)] = node
            if event.anchor is not None:
                self._anchors[event.anchor] = node
        self._add(value, event)

    def _add(self, value: object, event: Any) -> None:
        self._top.parts.append(value)
        self._top.lines.append(event.start_mark.line)

    def _end_mapping(self, ended: _Open) -> None:
        keys = tuple(ended.parts[::2])
        names = self._plain_names(keys) if ended.nodes is None else None
        if names is not None:
            self._end(dict(zip(names, ended.parts[1::2], strict=True)), {})
            return
        members = self._members(ended, keys)
        self._end({name: node.value for name, node in members.items()}, members)

    def _plain_names(self, keys: tuple[object, ...]) -> tuple[str, ...] | None:
        """Return keys as they are, None where one is anything but a name of its own."""
        try:
            names = self._names.get(keys)
        except TypeError:  # a list or mapping
            return None
        if names is None:
            names = tuple(intern(key) for key in keys if isinstance(key, str) and key != "<<")
            if len(set(names)) < len(keys):
                return None
            # Nearly all prompts of a file have the same ones.
            self._names[names] = names
        return names

    def _members(self, ended: _Open, keys: tuple[object, ...]) -> dict[str, _Node]:
        members: dict[str, _Node] = {}
        merged: set[str] = set()
        for index, key in enumerate(keys):
            if isinstance(key, list | dict):
                raise UnreadableError(ended.line(2 * index), "a key must be a word")
            name = key if isinstance(key, str) else quoted(key)
            node = ended.part(2 * index + 1)
            if name == "<<" and isinstance(node.value, dict):
                added = {
                    inner: node.members.get(inner) or _Node(line=node.line, value=value)
                    for inner, value in node.value.items()
                    if inner not in members
                }
                members |= added
                merged |= added.keys()
                continue
            if name in members and name not in merged and name != "<<":
                what = f"the key {quoted(name)} stands twice in one mapping"
                raise UnreadableError(ended.line(2 * index), what)
            merged.discard(name)
            members[name] = node
        return members

    def _anchored(self, event: Any) -> _Node:
        name = quoted(event.anchor)
        if event.anchor not in self._anchors:
            raise UnreadableError(_line(event), f"there is no anchor {name}")
        node = self._anchors[event.anchor]
        if node is None:
            raise UnreadableError(_line(event), f"the anchor {name} contains itself")
        return node


def _meant(event: Any) -> object:
    """Return the value of a scalar that is not in quotes, or has a tag."""
    text: str = event.value
    if event.tag is not None:
        _check_tag(event)
    if not event.implicit[0] or event.tag == _STRING:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[-1].isalpha():
        return text  # most words; no number ends so
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _check_tag(event: Any) -> None:
    if event.tag not in _CORE_TAGS:
        raise UnreadableError(_line(event), f"the tag {quoted(event.tag)} is not allowed")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _too_large(event: Any) -> UnreadableError:
    return UnreadableError(_line(event), f"there are more than {LARGEST_DOCUMENT} values")
