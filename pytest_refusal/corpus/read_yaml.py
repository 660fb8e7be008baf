"""Read YAML, by the rules of YAML 1.2: `no` is a word, and a date is a text.

Values are built from the parser's events, without recursion and without any tag, so that
nothing is ever executed, and an alias never unfolds into more than it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_refusal.corpus.decoding import LARGEST_BY_HAND, Source
from pytest_refusal.corpus.documents import Member, sheet_of_list, sheet_of_members
from pytest_refusal.corpus.faults import UnreadableError, quoted
from pytest_refusal.corpus.rows import Dialect, Sheet

#: Levels of nesting; a corpus has about five.
DEEPEST = 64

#: Values in a document, with every alias counted as what it stands for.
LARGEST_DOCUMENT = 5_000_000

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
    root = _Builder(_yaml()).build(source.whole(limit=LARGEST_BY_HAND))
    for number, key in enumerate(path := _path(dialect), start=1):
        if not isinstance(root, _Collection) or key not in root.members:
            where = quoted(".".join(path[:number]))
            raise UnreadableError(root.line, f"there is no {where}, which `records` names")
        root = root.members[key]
    if isinstance(root.value, list):
        return sheet_of_list(_member(root))
    if isinstance(root, _Collection) and not path:
        return sheet_of_members({key: _member(node) for key, node in root.members.items()})
    raise UnreadableError(root.line, f"a list of prompts should be here, not {quoted(root.value)}")


def _member(node: _Node) -> Member:
    lines = tuple(node.lines) if isinstance(node, _Collection) else ()
    return Member(node.line, node.value, lines)


def _path(dialect: Dialect) -> list[str]:
    return [] if dialect.records is None else dialect.records.split(".")


def _yaml() -> Any:
    try:
        import yaml  # optional
    except ImportError as error:
        what = 'YAML needs another package: pip install "pytest-refusal[yaml]"'
        raise UnreadableError(1, what) from error
    return yaml


class _Node:
    """A value and where it stands.

    size: how many values it comes to, itself included.
    """

    __slots__ = ("line", "size", "value")

    def __init__(self, line: int, value: object) -> None:
        self.line = line
        self.value = value
        self.size = 1


class _Collection(_Node):
    """A list or a mapping, and its parts.

    lines: where the elements of a list begin.  members: the values of a mapping, by key.
    own: the keys that are not merged from elsewhere.  key: one that waits for its value.
    """

    __slots__ = ("key", "lines", "members", "own")

    def __init__(self, line: int, value: list[object] | dict[str, object]) -> None:
        super().__init__(line, value)
        self.lines: list[int] = []
        self.members: dict[str, _Node] = {}
        self.own: set[str] = set()
        self.key: str | None = None


class _Builder:
    """Builds the value of one document from the events of the parser."""

    def __init__(self, yaml: Any) -> None:
        self._yaml = yaml
        self._open: list[_Collection] = []
        self._anchors: dict[str, _Node] = {}
        self._unfinished: set[int] = set()
        self._root: _Node | None = None

    def build(self, text: str) -> _Node:
        """Return the only document of a text."""
        documents = 0
        for event in self._events(text):
            line = event.start_mark.line + 1
            match type(event).__name__:
                case "ScalarEvent":  # ten times as many as of all others
                    self._add(_Node(line, self._scalar(event, line)), event)
                case "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        raise UnreadableError(line, "a second document begins; one file is one")
                case "SequenceStartEvent":
                    self._begin(_Collection(line, []), event)
                case "MappingStartEvent":
                    self._begin(_Collection(line, {}), event)
                case "SequenceEndEvent" | "MappingEndEvent":
                    self._end()
                case "AliasEvent":
                    self._add(self._anchored(event.anchor, line), None)
        if self._root is None:
            raise UnreadableError(1, "the file is empty")
        return self._root

    def _events(self, text: str) -> Iterator[Any]:
        loader = getattr(self._yaml, "CSafeLoader", self._yaml.SafeLoader)
        try:
            yield from self._yaml.parse(text, Loader=loader)
        except self._yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = 1 if mark is None else mark.line + 1
            problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
            raise UnreadableError(line, f"this is not YAML: {problem}") from error
        except (RecursionError, UnicodeError) as error:
            raise UnreadableError(1, f"this is not YAML: {error}") from error

    def _begin(self, node: _Collection, event: Any) -> None:
        self._check_tag(event, node.line)
        if len(self._open) >= DEEPEST:
            raise UnreadableError(node.line, "lists or mappings are nested too deeply")
        self._add(node, event)
        self._open.append(node)
        self._unfinished.add(id(node))

    def _end(self) -> None:
        node = self._open.pop()
        self._unfinished.discard(id(node))
        if self._open:
            self._open[-1].size += node.size - 1

    def _add(self, node: _Node, event: Any) -> None:
        if event is not None and event.anchor is not None:
            self._anchors[event.anchor] = node
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        parent.size += node.size
        if parent.size > LARGEST_DOCUMENT:
            raise UnreadableError(node.line, f"there are more than {LARGEST_DOCUMENT} values")
        if isinstance(parent.value, list):
            parent.value.append(node.value)
            parent.lines.append(node.line)
        elif isinstance(parent.value, dict):
            self._add_member(parent, parent.value, node)

    def _add_member(self, parent: _Collection, members: dict[str, object], node: _Node) -> None:
        if parent.key is None:
            if isinstance(node, _Collection):
                raise UnreadableError(node.line, "a key must be a word")
            parent.key = node.value if isinstance(node.value, str) else quoted(node.value)
            if parent.key in parent.own and parent.key != "<<":
                what = f"the key {quoted(parent.key)} stands twice in one mapping"
                raise UnreadableError(node.line, what)
            parent.own.add(parent.key)
            return
        key, parent.key = parent.key, None
        if key != "<<" or not isinstance(node.value, dict):
            parent.members[key] = node
            members[key] = node.value
        elif isinstance(node, _Collection):
            merged = {k: v for k, v in node.members.items() if k not in parent.members}
            parent.members |= merged
            members |= {name: member.value for name, member in merged.items()}

    def _anchored(self, anchor: str, line: int) -> _Node:
        node = self._anchors.get(anchor)
        if node is None:
            raise UnreadableError(line, f"there is no anchor {quoted(anchor)}")
        if id(node) in self._unfinished:
            raise UnreadableError(line, f"the anchor {quoted(anchor)} contains itself")
        return node

    def _scalar(self, event: Any, line: int) -> object:
        self._check_tag(event, line)
        text: str = event.value
        if not event.implicit[0] or event.tag == _STRING:
            return text  # in quotes, or said to be text
        if text in _WORDS:
            return _WORDS[text]
        if text[-1].isalpha():
            return text  # most words; no number ends so
        if _INTEGER.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text

    def _check_tag(self, event: Any, line: int) -> None:
        if event.tag is not None and event.tag not in _CORE_TAGS:
            raise UnreadableError(line, f"the tag {quoted(event.tag)} is not allowed")
