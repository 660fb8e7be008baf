"""Whatever cannot be used: exit status 4, all faults in plain words, and no traceback."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import pytest

from pytest_refusal.registry import faults_of_unused
from pytest_refusal.settings import read_settings

STRICT = "--refusal-policy=strict"
CORPUS = 'corpus = "prompts.toml"\n'


@dataclass(frozen=True)
class Case:
    """What is wrong, and what the message must say; each text is a part of one line."""

    name: str
    says: tuple[str, ...]
    settings: str = CORPUS
    args: tuple[str, ...] = (STRICT,)
    files: tuple[tuple[str, str | bytes], ...] = ()


def setting(name: str, text: str, *says: str, args: tuple[str, ...] = (STRICT,)) -> Case:
    return Case(name, says, settings=CORPUS + textwrap.dedent(text), args=args)


def corpus(name: str, file: str, text: str | bytes, *says: str) -> Case:
    content = text if isinstance(text, bytes) else textwrap.dedent(text)
    return Case(name, says, settings=f'corpus = "{file}"', files=((file, content),))


def option(name: str, *args: str, says: tuple[str, ...], settings: str = CORPUS) -> Case:
    return Case(name, says, settings=settings, args=args)


SETTINGS = [
    setting(
        "unknown key", "polcy = 1", 'tool.pytest-refusal.polcy: unknown key; did you mean "policy"?'
    ),
    setting(
        "unknown table",
        "[tool.pytest-refusal.celings]\nece = 1",
        'tool.pytest-refusal.celings: unknown key; did you mean "ceilings"?',
    ),
    setting(
        "all faults at once",
        'ece_bins = "ten"\nsamples = 0\nclassifier = ""\netiquettes = 3',
        "tool.pytest-refusal.ece_bins: must be a whole number from 1 to 1000, not 'ten'",
        "tool.pytest-refusal.samples: must be a whole number from 1 to 1000, not 0",
        "tool.pytest-refusal.classifier: must be a text that is not empty, not ''",
        "tool.pytest-refusal.etiquettes: unknown key",
    ),
    setting("a boolean is no number", "ece_bins = true", "ece_bins: must be a whole number"),
    setting("a fraction is no count", "samples = 1.5", "samples: must be a whole number"),
    setting("too many samples", "samples = 1001", "samples: must be a whole number from 1 to 1000"),
    setting(
        "unknown choice",
        'within_ceilings = "skip"',
        "within_ceilings: must be one of fail, xfail, not 'skip'",
    ),
    setting(
        "unknown ceiling",
        "[tool.pytest-refusal.ceilings]\nunder_refussal = 0.1",
        '.ceilings.under_refussal: unknown ceiling; did you mean "under_refusal"?',
    ),
    setting(
        "ceiling above 1",
        "ceilings = { ece = 1.01 }",
        "ceilings.ece: must be a number from 0 to 1, not 1.01",
    ),
    setting(
        "ceiling below 0", "ceilings = { ece = -0.1 }", "ceilings.ece: must be a number from 0 to 1"
    ),
    setting(
        "ceiling that is no number",
        "ceilings = { ece = nan }",
        "ceilings.ece: must be a number from 0 to 1",
    ),
    setting(
        "ceiling as text",
        'ceilings = { ece = "0.1" }',
        "ceilings.ece: must be a number from 0 to 1, not '0.1'",
    ),
    setting(
        "ceilings as a number",
        "ceilings = 0.1",
        "tool.pytest-refusal.ceilings: must be a table, not 0.1",
    ),
    setting(
        "ceiling table without its end",
        "ceilings = { ece = { min = 0.1 } }",
        "ceilings.ece: a ceiling as a table needs the key 'max'",
    ),
    setting(
        "floor with a max",
        "ceilings = { accuracy = { max = 0.1 } }",
        "ceilings.accuracy: a ceiling as a table needs the key 'min'",
    ),
    setting(
        "unknown way to decide",
        'ceilings = { ece = { max = 0.1, decide = "guessed" } }',
        "ceilings.ece.decide: must be",
    ),
    setting(
        "confidence level out of range",
        "ceilings = { under_refusal = { max = 0.1, confidence_level = 95 } }",
        "ceilings.under_refusal.confidence_level: must be a number from",
    ),
    setting(
        "ceiling on samples without any",
        "ceilings = { any_of_k_under_refusal = 0.1 }",
        "ceiling any_of_k_under_refusal: needs several samples of each prompt",
    ),
    setting(
        "category ceiling as a number",
        "ceilings = { under_refusal_by_category = 0.1 }",
        "under_refusal_by_category: must be a table of categories, not 0.1",
    ),
    setting(
        "misspelt category",
        "ceilings = { under_refusal_by_category = { role-pay = 0.1 } }",
        "under_refusal_by_category.role-pay",
        'did you mean "role-play"?',
    ),
    setting(
        "category with the other label only",
        "ceilings = { over_refusal_by_category = { role-play = 0.1 } }",
        "over_refusal_by_category.role-play",
        "no safe prompt",
    ),
    setting(
        "ceiling of a policy on what is not there",
        "policies.strict.ceilings = { under_refusal_by_category = { nothing = 0.1 } }",
        "under_refusal_by_category.nothing",
        "categories: encoding-trick, role-play",
    ),
    setting(
        "empty phrase",
        'extra_refusal_phrases = ["I pass", ""]',
        "extra_refusal_phrases",
        "too short",
    ),
    setting(
        "phrase of one character",
        'policies.strict.extra_refusal_phrases = ["x"]',
        "tool.pytest-refusal.policies.strict.extra_refusal_phrases",
        "too short",
    ),
    setting(
        "phrases as a text",
        'extra_refusal_phrases = "no"',
        "extra_refusal_phrases: must be a list of texts",
    ),
    setting(
        "unknown finish kind", 'finish_reasons = { odd = "done" }', "finish_reasons.odd: must be"
    ),
    setting(
        "unknown classifier",
        'classifier = "phrasse"',
        "tool.pytest-refusal.classifier: 'phrasse' is not known",
        'did you mean "phrases"?',
    ),
    setting("classifier that is none", 'classifier = "bot:good"', "'bot:good' is no classifier"),
    setting("classifier without module", 'classifier = "no_such_module:C"', "no_such_module"),
    setting(
        "classifier that cannot be made",
        'classifier = "broken_shape:Judge"',
        "broken_shape:Judge",
        "ValueError: no judge today",
    ),
    setting(
        "policy settings for nobody",
        "policies.strickt.ceilings = { ece = 1 }",
        "tool.pytest-refusal.policies.strickt: there is no such policy",
        'did you mean "strict"?',
    ),
    setting(
        "policy as a number",
        "policies.strict = 3",
        "tool.pytest-refusal.policies.strict: must be a table",
    ),
    setting(
        "policy of unknown type",
        'policies.mine.type = "opnai"',
        "policies.mine.type",
        'did you mean "openai"?',
        args=("--refusal-policy=mine",),
    ),
    setting(
        "policies that are not in the run",
        'policies.mine = { type = "fn" }\npolicies.other = { type = "openai", modle = "x" }\n'
        'policies.fit = { type = "openai", model = "x", api_key_env = "SET_NOWHERE" }\n'
        'policies.absent = { type = "function", target = "no_such_module:f" }',
        "tool.pytest-refusal.policies.mine.type: must be one of",
        'tool.pytest-refusal.policies.other.modle: unknown key; did you mean "model"?',
    ),
    setting(
        "policy without its key",
        'policies.mine.type = "function"',
        "policies.mine.target",
        args=("--refusal-policy=mine",),
    ),
    setting(
        "policy with an unknown key",
        'policies.mine = { type = "recorded", pth = "r.jsonl" }',
        "policies.mine.pth: unknown key",
        'did you mean "path"?',
        args=("--refusal-policy=mine",),
    ),
    setting(
        "key written into the file",
        'policies.mine = { type = "openai", model = "m", api_key = "sk-1" }',
        "policies.mine.api_key",
        args=("--refusal-policy=mine",),
    ),
    setting(
        "policy default of wrong type",
        "policy = 3",
        "tool.pytest-refusal.policy: must be a text or a list",
        args=(),
    ),
    Case(
        "corpus of wrong type",
        ("tool.pytest-refusal.corpus: must be a text or a list",),
        settings="corpus = 3",
    ),
    Case(
        "corpus that is empty",
        ("tool.pytest-refusal.corpus: must be a text or a list",),
        settings="corpus = []",
    ),
    Case(
        "missing corpus",
        ('corpus "promts.toml": no such file', 'did you mean "prompts.toml"?'),
        settings='corpus = "promts.toml"',
    ),
    Case(
        "published set that is not there",
        ('corpus "xstest"', "data/xstest.csv"),
        settings='corpus = ["xstest"]',
    ),
    Case(
        "glob that matches nothing",
        ('corpus "data/*.csv": matches no corpus',),
        settings='corpus = "data/*.csv"',
    ),
    Case(
        "ceiling for a label that the corpora do not have",
        ("ceiling over_refusal: the corpora have no safe prompt",),
        settings='corpus = "c.toml"\nceilings = { over_refusal = 0.1 }',
        files=(("c.toml", '[[prompt]]\nprompt = "Bad?"\nlabel = "unsafe"\n'),),
    ),
    Case(
        "table that is no table",
        ("tool.pytest-refusal: must be a table, not 3",),
        files=(("pyproject.toml", "[tool]\npytest-refusal = 3\n"),),
    ),
    Case(
        "both settings and corpora",
        ("tool.pytest-refusal.ece_bins",),
        settings='ece_bins = 0\ncorpus = "nothing.toml"',
    ),
    Case(
        "policy and corpus",
        ("policy 'x1' is not known", 'corpus "nothing.toml"'),
        settings='corpus = "nothing.toml"',
        args=("--refusal-policy=x1",),
    ),
    Case(
        "policy and faults of a corpus",
        ("policy 'x1' is not known", "c.toml:1: no prompt of this file has a label"),
        settings='corpus = "c.toml"',
        args=("--refusal-policy=x1",),
        files=(("c.toml", '[[prompt]]\nprompt = "Q?"\n'),),
    ),
]

OPTIONS = [
    option(
        "unknown policy",
        "--refusal-policy=strickt",
        says=(
            "policy 'strickt' is not known",
            'did you mean "strict"?',
            "always-answer, always-refuse, leaky, length, over-cautious, strict",
        ),
    ),
    option(
        "several unknown policies",
        "--refusal-policy=aaa,bbb",
        says=("policy 'aaa' is not known", "policy 'bbb' is not known"),
    ),
    option(
        "unknown classifier",
        STRICT,
        "--refusal-classifier=phrase",
        says=("--refusal-classifier: 'phrase' is not known; did you mean \"phrases\"?",),
    ),
    option("empty policy", "--refusal-policy=", says=("--refusal-policy: an empty policy name",)),
    option(
        "comma at the end", "--refusal-policy=strict,", says=("an empty policy name in 'strict,'",)
    ),
    option(
        "misspelt kind of model",
        "--refusal-policy=opnai:gpt-4o",
        says=("policy 'opnai:gpt-4o' is not of the form", 'did you mean "openai:gpt-4o"?'),
    ),
    option(
        "misspelt kind of a model that could be an attribute",
        "--refusal-policy=opnai:gpt",
        says=("policy 'opnai:gpt': there is no module 'opnai'", 'did you mean "openai:gpt"?'),
    ),
    option(
        "kind of model without the model",
        "--refusal-policy=openai",
        says=('did you mean "openai:MODEL"?', "anthropic:MODEL"),
    ),
    option(
        "module with a dot",
        "--refusal-policy=bot.good",
        says=("policy 'bot.good' is not known; did you mean \"bot:good\"?",),
    ),
    option(
        "policy named once", "--refusal-policy=bot:goood", says=("policy 'bot:goood': bot has",)
    ),
    option("no such module", "--refusal-policy=no_such_module:f", says=("no_such_module",)),
    option("no such attribute", "--refusal-policy=bot:goood", says=("goood", "good")),
    option("module that fails", "--refusal-policy=broken:f", says=("broken", "ZeroDivisionError")),
    option(
        "module with a syntax error",
        "--refusal-policy=unparsable:f",
        says=("unparsable", "SyntaxError"),
    ),
    option("module that exits", "--refusal-policy=exits:f", says=("exits", "SystemExit")),
    option(
        "policy that is no callable",
        "--refusal-policy=bot:ANSWER",
        says=("bot:ANSWER", "cannot be called"),
    ),
    option(
        "policy of too many arguments",
        "--refusal-policy=broken_shape:two",
        says=("broken_shape:two", "b"),
    ),
    option(
        "recorded file that is not there", "--refusal-policy=recorded:no.jsonl", says=("no.jsonl",)
    ),
    option("recorded file of another kind", "--refusal-policy=recorded:bot.py", says=("bot.py",)),
    option(
        "recorded file that is broken", "--refusal-policy=recorded:bad.jsonl", says=("bad.jsonl:1",)
    ),
    option(
        "ceiling without a number",
        STRICT,
        "--refusal-ceiling=ece",
        says=("--refusal-ceiling ece: write it as NAME=NUMBER",),
    ),
    option(
        "ceiling out of range",
        STRICT,
        "--refusal-ceiling=ece=2",
        says=("ece: must be a number from 0 to 1",),
    ),
    option(
        "ceiling of nan",
        STRICT,
        "--refusal-ceiling=ece=nan",
        says=("ece: must be a number from 0 to 1",),
    ),
    option(
        "ceiling misspelt", STRICT, "--refusal-ceiling=under=0.1", says=("under: unknown ceiling",)
    ),
    option(
        "ceiling of another policy",
        STRICT,
        "--refusal-ceiling=ece[leaky]=0.1",
        says=("ece[leaky]: this policy is not in the run",),
    ),
    option(
        "ceiling of a category that is not there",
        STRICT,
        "--refusal-ceiling=under_refusal_by_category.everyday=0.1",
        says=("everyday", "no unsafe prompt"),
    ),
    option(
        "ceiling without a policy",
        "--refusal-ceiling=ece=0.1",
        says=("--refusal-ceiling: without a policy nothing is asked",),
    ),
    option(
        "partial gate without a policy",
        "--refusal-gate-partial",
        says=("--refusal-gate-partial: without a policy nothing is asked",),
    ),
    option(
        "other options without a policy",
        "--refusal-report=r.json",
        "--refusal-audit",
        "a.csv",
        says=("--refusal-report, --refusal-audit: without a policy nothing is asked",),
    ),
    Case(
        "report over a corpus",
        ("table.csv: is a corpus of this run, which would be overwritten",),
        args=(STRICT, "--refusal-report=table.csv", "table.csv"),
        files=(("table.csv", "id,prompt,label\na,Hello,safe\n"),),
    ),
    Case(
        "report over a configured corpus that does not run",
        ("set.json: is a corpus of this run, which would be overwritten",),
        settings='corpus = ["prompts.toml", "set.json"]',
        args=(STRICT, "--refusal-report=folder.json/../set.json", "prompts.toml"),
        files=(("set.json", '[{"id": "a", "prompt": "Hello", "label": "safe"}]'),),
    ),
    Case(
        "record over the recorded responses",
        ("said.jsonl",),
        args=(
            "--refusal-policy=recorded:said.jsonl",
            "--refusal-record=said.jsonl",
            "--refusal-record-mode=all",
        ),
        files=(("said.jsonl", '{"prompt_id": "bad-1", "response": "No."}\n'),),
    ),
    option(
        "recording, history and report in one",
        STRICT,
        "--refusal-report=a.json",
        "--refusal-history=a.json",
        "--refusal-record=./a.json",
        says=(
            "--refusal-history",
            "--refusal-record",
            "a.json: is what --refusal-report writes",
        ),
    ),
    Case(
        "table of ours under another name",
        ("[tool.pytest_refusal] in pyproject.toml is not read",),
        args=(STRICT, "prompts.toml"),
        files=(("pyproject.toml", "[tool.pytest_refusal]\nceilings = { accuracy = 1 }\n"),),
    ),
    Case(
        "table of ours below that of pytest",
        ("[tool.pytest.refusal] in pyproject.toml is not read",),
        args=(STRICT, "prompts.toml"),
        files=(("pyproject.toml", "[tool.pytest.refusal]\nceilings = { accuracy = 1 }\n"),),
    ),
    option(
        "ceiling with a slip of the finger",
        STRICT,
        "--refusal-ceiling=under_refusal=0_1",
        says=("under_refusal=0_1: write it as NAME=NUMBER",),
    ),
    option(
        "ceiling in digits of another script",
        STRICT,
        "--refusal-ceiling=under_refusal=\u0660.\u0665",
        says=("write it as NAME=NUMBER",),
    ),
    option(
        "report of unknown kind",
        STRICT,
        "--refusal-report=r.docx",
        says=("--refusal-report", "r.docx", "no kind of report"),
    ),
    option(
        "report without suffix",
        STRICT,
        "--refusal-report=report",
        says=("no kind of report has this suffix",),
    ),
    option(
        "report that is a folder", STRICT, "--refusal-report=folder.json", says=("is a folder",)
    ),
    Case(
        "report in the place of a corpus",
        ("corpus.json: is a corpus of this run, which would be overwritten",),
        settings='corpus = "corpus.json"',
        args=(STRICT, "--refusal-report=corpus.json"),
        files=(("corpus.json", '[{"prompt": "Q?", "label": "safe"}]'),),
    ),
    option(
        "report in the place of labels",
        STRICT,
        "--refusal-labels=labels.csv",
        "--refusal-report=labels.csv",
        says=("labels.csv: holds the labels of people, which would be overwritten",),
    ),
    option(
        "report below a file", STRICT, "--refusal-report=bot.py/r.json", says=("bot.py/r.json",)
    ),
    option(
        "unknown prompt",
        STRICT,
        "prompts.toml::bad-3",
        says=("prompts.toml::bad-3: there is no such prompt", 'did you mean "bad-'),
    ),
    option(
        "unknown policy in an id",
        STRICT,
        "prompts.toml::bad-1[leaky]",
        says=("prompts.toml::bad-1[leaky]: there is no such prompt",),
    ),
    option(
        "no such file",
        STRICT,
        "promts.toml",
        says=('promts.toml: no such file or folder; did you mean "prompts.toml"?',),
    ),
    Case(
        "file that is read by nobody",
        ("README.md: files of this kind are not read as a corpus", ".toml, .jsonl"),
        settings=CORPUS,
        args=(STRICT, "README.md"),
        files=(("README.md", "# x"),),
    ),
    option(
        "no corpus among the arguments",
        STRICT,
        "bot.py",
        says=("no corpus is among the arguments",),
    ),
    option(
        "folder without corpora", STRICT, "folder.json", says=("no corpus is among the arguments",)
    ),
]

HOOKS = [
    Case(
        "hook that returns a list",
        ("pytest_refusal_policies: must return a mapping", "list"),
        files=(("conftest.py", "def pytest_refusal_policies():\n    return []\n"),),
    ),
    Case(
        "hook that returns no callable",
        ("'mine'", "cannot be called"),
        args=("--refusal-policy=mine",),
        files=(("conftest.py", "def pytest_refusal_policies():\n    return {'mine': 3}\n"),),
    ),
    Case(
        "hook that exits",
        ("pytest_refusal_policies: SystemExit",),
        files=(("conftest.py", "def pytest_refusal_policies():\n    raise SystemExit(0)\n"),),
    ),
    Case(
        "hook that takes the place of a built-in policy",
        ("'strict' is the name of a built-in policy",),
        files=(("conftest.py", "def pytest_refusal_policies():\n    return {'strict': str}\n"),),
    ),
    Case(
        "hook with names that cannot be typed",
        ("1 is no name", "'a,b' is no name"),
        files=(
            ("conftest.py", "def pytest_refusal_policies():\n    return {1: str, 'a,b': str}\n"),
        ),
    ),
    Case(
        "module of a policy that skips itself",
        ("importing lacking failed", "could not import 'no_such_module'"),
        args=("--refusal-policy=lacking:answer",),
        files=(("lacking.py", "import pytest\npytest.importorskip('no_such_module')\n"),),
    ),
    Case(
        "hook that raises",
        ("pytest_refusal_policies", "ZeroDivisionError", "conftest.py:2"),
        files=(("conftest.py", "def pytest_refusal_policies():\n    1 / 0\n"),),
    ),
]

CORPORA = [
    corpus("toml that is none", "c.toml", "[[prompt]\n", "c.toml:1"),
    corpus(
        "all faults of a toml file",
        "c.toml",
        """
        [[prompt]]
        prompt = ""
        label = "safe"

        [[prompt]]
        prompt = "Q1"
        label = "saef"

        [[prompt]]
        id = "a"
        prompt = "Q2"
        label = "safe"
        severity = 6

        [[prompt]]
        id = "a"
        prompt = "Q3"
        label = "safe"
        tags = "x"

        [[prompt]]
        prompt = "Q4"
        label = "safe"
        labell = "x"

        [[prompt]]
        label = "safe"
        """,
        "c.toml:2: the prompt is empty",
        'c.toml:6: the label is "saef"',
        'did you mean "safe"?',
        "c.toml:10: the severity is 6; it must be a whole number from 1 to 5",
        'c.toml:16: the id "a" is already used at line 10',
        "c.toml:16: the tags are",
        'c.toml:22: unknown field "labell"',
        "c.toml:27: the prompt is missing",
    ),
    corpus(
        "json lines",
        "c.jsonl",
        '{"prompt": "Q", "label": "safe"}\n{"prompt": 3}\n{"prompt"\n[]\n',
        "c.jsonl:2: the prompt is 3",
        "c.jsonl:2: the label is missing",
        "c.jsonl:3:",
        "c.jsonl:4:",
    ),
    corpus("json that is none", "c.json", "[{]", "c.json:1"),
    corpus("json of another shape", "c.json", '{"prmpts": []}', "c.json:1", '"prmpts"'),
    corpus(
        "json with an unknown field",
        "c.json",
        '[{"prompt": "Q", "label": "safe", "x": 1}]',
        'unknown field "x"',
    ),
    corpus("csv without columns", "c.csv", "a,b\n1,2\n", "c.csv:1"),
    corpus(
        "csv with a bad label", "c.csv", "prompt,label\nQ,maybe\n", 'c.csv:2: the label is "maybe"'
    ),
    corpus(
        "tsv with a bad severity",
        "c.tsv",
        "prompt\tlabel\tseverity\nQ\tsafe\thigh\n",
        'c.tsv:2: the severity is "high"',
    ),
    corpus(
        "bad encoding",
        "c.csv",
        b"prompt,label\nCaf\xe9,safe\n",
        "c.csv:2: this line is not in UTF-8",
    ),
    corpus(
        "utf-16",
        "c.csv",
        "prompt,label\nQ,safe\n".encode("utf-16"),
        "c.csv:1: the file is in UTF-16",
    ),
    corpus("empty file", "c.toml", "", "c.toml:1: the file has no prompts"),
    corpus(
        "conversation without a user",
        "c.jsonl",
        '{"prompt": [{"role": "system", "content": "x"}], "label": "safe"}',
        'no message with role "user"',
    ),
    corpus(
        "unknown role",
        "c.jsonl",
        '{"prompt": [{"role": "usr", "content": "x"}], "label": "safe"}',
        'did you mean "user"?',
    ),
    corpus(
        "opposite labels",
        "c.toml",
        '[[prompt]]\nprompt = "Kill it?"\nlabel = "safe"\n'
        '[[prompt]]\nprompt = "kill  it"\nlabel = "unsafe"\n',
        "c.toml:4: the same text is unsafe here and safe at c.toml:1",
    ),
    Case(
        "opposite labels over two files",
        ("b.toml:1: the same text is safe here and unsafe at a.toml:1",),
        settings='corpus = ["a.toml", "b.toml"]',
        files=(
            ("a.toml", '[[prompt]]\nprompt = "Q?"\nlabel = "unsafe"\n'),
            ("b.toml", '[[prompt]]\nprompt = "q"\nlabel = "safe"\n'),
        ),
    ),
    Case(
        "faults of two files",
        ("a.toml:1: no prompt of this file has a label", "b.csv:2: the prompt is empty"),
        settings='corpus = ["a.toml", "b.csv"]',
        files=(("a.toml", '[[prompt]]\nprompt = "Q?"\n'), ("b.csv", "prompt,label\n,safe\n")),
    ),
    Case(
        "only safe prompts under a ceiling on unsafe ones",
        ("ceiling under_refusal", "no unsafe prompt"),
        settings='corpus = "c.toml"\nceilings = { under_refusal = 1 }',
        files=(("c.toml", '[[prompt]]\nprompt = "Q?"\nlabel = "safe"\n'),),
    ),
    Case(
        "hostile text in a fault",
        (r"\x1b[31m",),
        settings='corpus = "c.jsonl"',
        files=(("c.jsonl", '{"prompt": "Q", "label": "\\u001b[31m"}'),),
    ),
]

FILES = (
    ("broken.py", "1 / 0\n"),
    ("unparsable.py", "def f(:\n"),
    ("exits.py", "raise SystemExit(3)\n"),
    (
        "broken_shape.py",
        "def two(a, b):\n    return ''\n\n"
        "class Judge:\n    def __init__(self):\n        raise ValueError('no judge today')\n",
    ),
    ("bad.jsonl", "{\n"),
    ("folder.json/empty.txt", ""),
)

CASES = [*SETTINGS, *OPTIONS, *HOOKS, *CORPORA]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_what_cannot_be_used_is_a_usage_error(project, case: Case) -> None:
    project.settings(case.settings)
    for name, content in (*FILES, *case.files):
        project.write_file(name, content)
    messages = []
    for workers in ((), ("-n", "2")):
        ran = project.pytester.runpytest_inprocess(
            "-p", "no:hypothesispytest", *case.args, *workers
        )
        assert ran.ret == pytest.ExitCode.USAGE_ERROR
        whole = f"{ran.stdout.str()}\n{ran.stderr.str()}"
        assert "Traceback" not in whole
        assert "INTERNALERROR" not in whole
        assert "\x1b" not in whole
        for text in case.says:
            assert text.replace('"', "'") in whole.replace('"', "'")
        # What can only be known after collection is told below the head of a session.
        messages.append([line for line in whole.splitlines() if line.startswith("ERROR: ")])
    alone, with_workers = messages
    assert alone == with_workers != []


def test_a_policy_that_is_not_in_the_run_needs_neither_its_module_nor_its_key(tmp_path) -> None:
    tables = {
        "fit": {"type": "openai", "model": "x", "api_key_env": "SET_NOWHERE"},
        "absent": {"type": "function", "target": "no_such_module:f"},
        "later": {"type": "recorded", "path": "not-yet.jsonl"},
        "wrong": {"type": "recorded", "pth": "r.jsonl"},
    }
    faults = faults_of_unused(read_settings({"policies": tables}, base=tmp_path))
    assert [fault.partition(":")[0] for fault in faults] == [
        "tool.pytest-refusal.policies.wrong.path",
        "tool.pytest-refusal.policies.wrong.pth",
    ]
