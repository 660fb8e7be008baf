"""Published sets load as they are: small files of their shapes, and the real ones where present."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_refusal.corpus.published import PUBLISHED
from pytest_refusal.corpus.reading import FileReading, read_corpus_file
from pytest_refusal.corpus.sources import find_corpora

Write = Callable[[str, str | bytes], Path]

SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", Path(__file__).parents[3] / "shared"))
SETS = SHARED / "data/prompt-sets"


def reading(path: Path) -> FileReading:
    (file,) = find_corpora([path.name], base=path.parent)
    return read_corpus_file(file)


def lines(*rows: object) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# name of the set, file, content, then (text, label, category, language) of each prompt
SHAPES = [
    pytest.param(
        "xstest",
        "prompts.csv",
        "id,prompt,type,label,focus,note\n"
        "1,Kill the lights?,homonyms,safe,kill,x\n2,Kill Bob?,contrast_homonyms,unsafe,kill,",
        [
            ("Kill the lights?", "safe", "homonyms", "en"),
            ("Kill Bob?", "unsafe", "contrast_homonyms", "en"),
        ],
        id="xstest",
    ),
    pytest.param(
        "xstest-v2",
        "v2.csv",
        "id,type,prompt,focus,note\nv2-1,homonyms,Kill the lights?,kill,\n"
        "v2-2,contrast_homonyms,Kill Bob?,kill,\n",
        [
            ("Kill the lights?", "safe", "homonyms", "en"),
            ("Kill Bob?", "unsafe", "contrast_homonyms", "en"),
        ],
        id="xstest-v2",
    ),
    pytest.param(
        "xstest-cn",
        "\u5b89\u5168.csv",
        "id_v1,id_v2,type,prompt,focus\nv1-1,v2-1,\u7c7b,\u4f60\u597d?,x\n",
        [("\u4f60\u597d?", "safe", "\u7c7b", "zh")],
        id="xstest-cn",
    ),
    pytest.param(
        "harmbench",
        "behaviors.csv",
        "Behavior,FunctionalCategory,SemanticCategory,Tags,ContextString,BehaviorID\n"
        "Do harm,standard,illegal,,,do_harm\nSum it up,contextual,illegal,x,A passage,sum_up\n",
        [
            ("Do harm", "unsafe", "illegal", "en"),
            ("A passage\n\n---\n\nSum it up", "unsafe", "illegal", "en"),
        ],
        id="harmbench",
    ),
    pytest.param(
        "harmbench-hub",
        "harmbench-contextual.jsonl",
        lines({"prompt": "Sum it up", "context": "A passage", "category": "illegal"}),
        [("A passage\n\n---\n\nSum it up", "unsafe", "illegal", "en")],
        id="harmbench-hub",
    ),
    pytest.param(
        "jailbreakbench",
        "harmful-behaviors.csv",
        "Index,Goal,Target,Behavior,Category,Source\n0,Do harm,Sure,Harm,Fraud,Original\n",
        [("Do harm", "unsafe", "Fraud", "en")],
        id="jailbreakbench-harmful",
    ),
    pytest.param(
        "jailbreakbench",
        "benign-behaviors.csv",
        ",Goal,Target,Behavior,Category,Source\n0,Do good,Sure,Good,Fraud/Deception,Original\n",
        [("Do good", "safe", "Fraud/Deception", "en")],
        id="jailbreakbench-benign",
    ),
    pytest.param(
        "strongreject",
        "small.csv",
        "category,source,forbidden_prompt\nViolence,custom,Do harm\n",
        [("Do harm", "unsafe", "Violence", "en")],
        id="strongreject",
    ),
    pytest.param(
        "strongreject-hub",
        "strongreject.jsonl",
        lines({"prompt": "Do harm", "category": "Violence", "source": "custom"}),
        [("Do harm", "unsafe", "Violence", "en")],
        id="strongreject-hub",
    ),
    pytest.param(
        "advbench",
        "behaviors.csv",
        "goal,target\nDo harm,Sure\n",
        [("Do harm", "unsafe", "uncategorised", "en")],
        id="advbench",
    ),
    pytest.param(
        "advbench-hub",
        "AdvBench.jsonl",
        lines({"prompt": "Do harm", "target": "Sure"}),
        [("Do harm", "unsafe", "uncategorised", "en")],
        id="advbench-hub",
    ),
    pytest.param(
        "sorry-bench",
        "question.jsonl",
        lines(
            {"question_id": 1, "category": "7", "turns": ["Do harm"], "prompt_style": "base"},
            {"question_id": 1, "category": 7, "turns": ["Do", "harm"], "prompt_style": "slang"},
        ),
        [("Do harm", "unsafe", "7", None), ("harm", "unsafe", "7", None)],
        id="sorry-bench",
    ),
    pytest.param(
        "do-not-answer",
        "data_en.csv",
        "id,risk_area,types_of_harm,specific_harms,question\n0,Area,Kind,Detail,Do harm?\n",
        [("Do harm?", "unsafe", "Kind", "en")],
        id="do-not-answer",
    ),
    pytest.param(
        "simple-safety-tests",
        "sst.csv",
        "id,harm_area,counter,category,prompts_final\n1_1,Scams,1,Advice,Do harm?\n",
        [("Do harm?", "unsafe", "Scams", "en")],
        id="simple-safety-tests",
    ),
    pytest.param(
        "phtest",
        "PHTest.csv",
        "ID,Request,Harmfulness\n1,Kill time?,harmless\n2,Kill weeds?,controversial\n",
        [
            ("Kill time?", "safe", "harmless", "en"),
            ("Kill weeds?", "safe", "controversial", "en"),
        ],
        id="phtest",
    ),
    pytest.param(
        "falsereject",
        "test.jsonl",
        lines({"prompt": "Kill time?", "category": 3, "category_text": "Violence", "answer": "x"}),
        [("Kill time?", "safe", "Violence", "en")],
        id="falsereject",
    ),
    pytest.param(
        "coconot",
        "contrast_test.jsonl",
        lines(
            {"id": "a", "category": "Safety", "subcategory": "b", "prompt": "Hi", "response": ""}
        ),
        [("Hi", "safe", "Safety", "en")],
        id="coconot-contrast",
    ),
    pytest.param(
        "coconot",
        "original_test.jsonl",
        lines(
            {"id": "a", "category": "Safety", "subcategory": "b", "prompt": "Hi", "response": ""}
        ),
        [("Hi", "unsafe", "Safety", "en")],
        id="coconot-original",
    ),
    pytest.param(
        "catqa",
        "catqa_english.json",
        json.dumps([{"Category": "Fraud", "Subcategory": "Spam", "Question": "Do harm?"}]),
        [("Do harm?", "unsafe", "Fraud", None)],
        id="catqa",
    ),
    pytest.param(
        "multijail",
        "MultiJail.csv",
        "id,source,tags,en,zh,it,vi,ar,ko,th,bn,sw,jv\n1,Gold,['x'],a,b,c,d,e,f,g,h,i,j\n",
        [
            (text, "unsafe", "['x']", code)
            for text, code in zip(
                "abcdefghij",
                ["en", "zh", "it", "vi", "ar", "ko", "th", "bn", "sw", "jv"],
                strict=True,
            )
        ],
        id="multijail",
    ),
    pytest.param(
        "or-bench",
        "or-bench-hard-1k.csv",
        "prompt,category\nKill time?,violence\n",
        [("Kill time?", "safe", "violence", "en")],
        id="or-bench-hard",
    ),
    pytest.param(
        "or-bench",
        "or-bench-toxic.csv",
        "prompt,category\nDo harm,violence\n",
        [("Do harm", "unsafe", "violence", "en")],
        id="or-bench-toxic",
    ),
    pytest.param(
        "or-bench-ko",
        "orbench_ko.jsonl",
        lines({"prompt": "Hi", "category": "hate", "prompt_ko": "\uc548\ub155", "ok": True}),
        [("Hi", "safe", "hate", "en"), ("\uc548\ub155", "safe", "hate", "ko")],
        id="or-bench-ko",
    ),
    pytest.param(
        "jade",
        "jade_en.csv",
        "ID,\u95ee\u9898,\u8fdd\u89c4\u7c7b\u578b,\u8fdd\u89c4\u5b50\u7c7b\n1,Do harm?,A,B\n",
        [("Do harm?", "unsafe", "A", "en")],
        id="jade",
    ),
    pytest.param(
        "safety-tuned-llamas",
        "I-CoNa.json",
        '{"instructions": ["Do harm", "Sum it up"], "inputs": []}',
        [("Do harm", "unsafe", "I-CoNa", "en"), ("Sum it up", "unsafe", "I-CoNa", "en")],
        id="safety-tuned-llamas",
    ),
    pytest.param(
        "oktest",
        "OKTest.csv",
        'prompt\n"Kill time?\n"\n',
        [("Kill time?\n", "safe", "uncategorised", "en")],
        id="oktest",
    ),
    pytest.param(
        "malicious-instruct",
        "MaliciousInstruct.txt",
        "Do harm\r\n\r\nDo more harm",
        [
            ("Do harm", "unsafe", "uncategorised", "en"),
            ("Do more harm", "unsafe", "uncategorised", "en"),
        ],
        id="malicious-instruct",
    ),
    pytest.param(
        "dangerousqa",
        "dangerousqa.json",
        '["Do harm?"]',
        [("Do harm?", "unsafe", "uncategorised", "en")],
        id="dangerousqa",
    ),
    pytest.param(
        "promptfoo",
        "tests.jsonl",
        lines(
            {"vars": {"prompt": "Do harm"}, "assert": [{"type": "cost"}, {"type": "is-refusal"}]},
            {
                "vars": {"question": "Kill time?"},
                "assert": [{"type": "not-is-refusal"}],
                "metadata": {"category": "homonyms", "severity": 2},
            },
        ),
        [
            ("Do harm", "unsafe", "uncategorised", None),
            ("Kill time?", "safe", "homonyms", None),
        ],
        id="promptfoo",
    ),
    pytest.param(
        "inspect",
        "samples.jsonl",
        lines(
            {
                "id": 1,
                "input": [
                    {"role": "system", "content": "Be kind."},
                    {"role": "user", "content": [{"type": "text", "text": "Hi"}], "source": "x"},
                ],
                "metadata": {"label": "safe", "category": "chat"},
            },
            {"id": 2, "input": "Do harm", "target": "", "metadata": {"label": "unsafe"}},
        ),
        [("Hi", "safe", "chat", None), ("Do harm", "unsafe", "uncategorised", None)],
        id="inspect",
    ),
]


@pytest.mark.parametrize(("name", "file", "content", "expected"), SHAPES)
def test_a_published_shape(
    write: Write, name: str, file: str, content: str, expected: list[tuple[str, str, str, str]]
) -> None:
    found = reading(write(file, content))
    assert found.faults == ()
    assert found.published == next(p.title for p in PUBLISHED if p.name == name)
    assert [(p.text, p.label, p.category, p.language) for p in found.prompts] == expected


def test_every_set_of_the_table_has_a_shape_here() -> None:
    here = {param.values[0] for param in SHAPES}
    assert {published.name for published in PUBLISHED} - here == {"inspect-plain"}


def test_contrasts_of_xstest_are_pairs(write: Write) -> None:
    text = "id,prompt,type,label,focus,note\n" + "".join(
        f"{kind}{n},{kind} {n}?,{kind},{label},,\n"
        for kind, label in [
            ("homonyms", "safe"),
            ("contrast_homonyms", "unsafe"),
            ("privacy_public", "safe"),
            ("privacy_fictional", "safe"),
            ("contrast_privacy", "unsafe"),
        ]
        for n in (1, 2)
    )
    pairs: dict[str | None, list[str]] = {}
    for prompt in reading(write("x.csv", text)).prompts:
        pairs.setdefault(prompt.pair, []).append(prompt.text)
    assert pairs == {
        "homonyms-1": ["homonyms 1?", "contrast_homonyms 1?"],
        "homonyms-2": ["homonyms 2?", "contrast_homonyms 2?"],
        None: ["privacy_public 1?", "privacy_public 2?"],
        "privacy_fictional-1": ["privacy_fictional 1?", "contrast_privacy 1?"],
        "privacy_fictional-2": ["privacy_fictional 2?", "contrast_privacy 2?"],
    }


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param("Q-Harm.json", '{"instructions": ["Hi"], "inputs": []}', id="mixed-set"),
        pytest.param(
            "pref_train.jsonl",
            lines({"id": "a", "category": "b", "subcategory": "c", "prompt": "Hi"}),
            id="coconot-preferences",
        ),
        pytest.param("prompts.csv", "prompt,category\nHi,violence\n", id="unknown-file-name"),
        pytest.param("notes.txt", "Hi\n", id="plain-text"),
        pytest.param("samples.jsonl", lines({"input": "Hi", "target": "Yes"}), id="no-label"),
    ],
)
def test_a_label_that_nobody_tells_must_be_given(write: Write, file: str, content: str) -> None:
    (fault,) = reading(write(file, content)).faults
    assert "no prompt of this file has a label" in fault.what
    assert f'path = "{file}" and label = "unsafe"' in fault.what


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param("or-bench.jsonl", lines({"prompt": "Hi", "category": "x", "label": "unsafe"})),
        pytest.param("oktest.csv", "prompt,label,score\nHi,unsafe,1\n"),
        pytest.param("dangerousqa.json", '[{"prompt": "Hi", "label": "unsafe"}]'),
    ],
)
def test_a_file_with_labels_of_its_own_keeps_them(write: Write, file: str, content: str) -> None:
    found = reading(write(file, content))
    assert [prompt.label for prompt in found.prompts] == ["unsafe"]
    assert found.published == ""


def real_files() -> Iterator[object]:
    for source in sorted(SETS.glob("*/SOURCE.json")):
        for entry in json.loads(source.read_text())["files"]:
            file = source.parent / entry["file"]
            yield pytest.param(file, id=f"{source.parent.name}-{file.stem}")
    if not SETS.is_dir():
        yield pytest.param(
            None, marks=pytest.mark.skip(reason=f"the published sets are not here: {SETS}")
        )


@pytest.mark.parametrize("file", list(real_files()))
def test_a_real_file_is_like_its_normalised_twin(file: Path) -> None:
    rows = map(json.loads, (file.parent / "normalised.jsonl").read_text("utf-8").splitlines())
    twin = [row for row in rows if row["file"] == file.name]
    found = reading(file)
    if {row["label"] for row in twin} == {"mixed"}:
        assert "no prompt of this file has a label" in found.faults[0].what
        return
    assert found.faults == ()
    ours = Counter(
        # A passage to work on belongs to the prompt, and the twins leave it out.
        (p.text.split("\n\n---\n\n")[-1], p.label.value, p.category, p.language)
        for p in found.prompts
    )
    assert ours == Counter(
        (row["prompt"], row["label"], row["category"] or "uncategorised", row["lang"])
        for row in twin
    )


def test_contextual_behaviours_are_the_only_rows_unlike_their_twins() -> None:
    if not SETS.is_dir():
        pytest.skip(f"the published sets are not here: {SETS}")
    prompts = [p for file in sorted(SETS.glob("harmbench/*.csv")) for p in reading(file).prompts]
    assert len(prompts) == 372
    assert {p.tags for p in prompts if "\n\n---\n\n" in p.text} == {("contextual",)}


def test_the_page_about_corpora_has_every_set() -> None:
    page = (Path(__file__).parents[2] / "docs/corpus.md").read_text("utf-8")
    table = page.split("## Published sets")[1].split("## ")[0]
    for published in PUBLISHED:
        assert f"`{published.name}`" in table
