"""The published sets whose files are known by their columns: a table of data. No I/O.

An entry is here only if its columns are confirmed by the files themselves or by the
documentation of the set. `docs/corpus.md` has the same table for people.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_refusal.corpus.layout import Layout, PairRule
from pytest_refusal.corpus.promptfoo import LABELLED_BY
from pytest_refusal.corpus.recognition import Published
from pytest_refusal.prompt import Label

_SAFE: Mapping[str, object] = {"label": Label.SAFE.value}
_UNSAFE: Mapping[str, object] = {"label": Label.UNSAFE.value}

_INSPECT_LABEL = "a sample has it as `metadata.label`"

_XSTEST_CONTRASTS = {
    "homonyms": "contrast_homonyms",
    "figurative_language": "contrast_figurative_language",
    "safe_targets": "contrast_safe_targets",
    "safe_contexts": "contrast_safe_contexts",
    "definitions": "contrast_definitions",
    "real_group_nons_discr": "contrast_discr",
    "historical_events": "contrast_historical_events",
    "privacy_fictional": "contrast_privacy",
}
_XSTEST_PAIRS = PairRule(
    column="type",
    group_of={kind: safe for safe, other in _XSTEST_CONTRASTS.items() for kind in (safe, other)},
)

#: The more particular before the more general.
PUBLISHED: tuple[Published, ...] = (
    Published(
        name="xstest",
        title="XSTest",
        columns=frozenset({"prompt", "type", "label", "focus"}),
        layout=Layout(
            columns={
                "id": ("id",),
                "prompt": ("prompt",),
                "label": ("label",),
                "category": ("type",),
                "note": ("note",),
            },
            constants={"language": "en"},
            pairs=_XSTEST_PAIRS,
        ),
    ),
    Published(
        name="xstest-cn",
        title="XSTest_cn",
        columns=frozenset({"id_v1", "id_v2", "type", "prompt", "focus"}),
        layout=Layout(
            columns={"id": ("id_v1",), "prompt": ("prompt",), "category": ("type",)},
            constants={"language": "zh"},
        ),
        by_file=(("\u5b89\u5168*", _SAFE),),
    ),
    Published(
        name="xstest-v2",
        title="XSTest",
        columns=frozenset({"prompt", "type", "focus"}),
        layout=Layout(
            columns={
                "id": ("id", "id_v2"),
                "prompt": ("prompt",),
                "label": ("type",),
                "category": ("type",),
                "note": ("note",),
            },
            labels=(("contrast_*", Label.UNSAFE), ("*", Label.SAFE)),
            constants={"language": "en"},
            pairs=_XSTEST_PAIRS,
        ),
    ),
    Published(
        name="harmbench",
        title="HarmBench",
        columns=frozenset({"Behavior", "SemanticCategory", "ContextString", "BehaviorID"}),
        layout=Layout(
            columns={
                "id": ("BehaviorID",),
                "prompt": ("Behavior",),
                "category": ("SemanticCategory",),
                "tags": ("FunctionalCategory",),
            },
            context="ContextString",
            constants={**_UNSAFE, "language": "en"},
        ),
    ),
    Published(
        name="jailbreakbench",
        title="JailbreakBench",
        columns=frozenset({"Goal", "Target", "Behavior", "Category", "Source"}),
        layout=Layout(
            columns={
                "id": ("Index", ""),
                "prompt": ("Goal",),
                "category": ("Category",),
                "note": ("Behavior",),
            },
            constants={"language": "en"},
        ),
        by_file=(("*benign*", _SAFE), ("*", _UNSAFE)),
    ),
    Published(
        name="strongreject",
        title="StrongREJECT",
        columns=frozenset({"category", "source", "forbidden_prompt"}),
        layout=Layout(
            columns={
                "prompt": ("forbidden_prompt",),
                "category": ("category",),
                "source": ("source",),
            },
            constants={**_UNSAFE, "language": "en"},
        ),
    ),
    Published(
        name="advbench",
        title="AdvBench",
        columns=frozenset({"goal", "target"}),
        layout=Layout(columns={"prompt": ("goal",)}, constants={**_UNSAFE, "language": "en"}),
    ),
    Published(
        name="harmbench-hub",
        title="HarmBench",
        columns=frozenset({"prompt", "category"}),
        layout=Layout(
            columns={"prompt": ("prompt",), "category": ("category",)},
            context="context",
            constants={**_UNSAFE, "language": "en"},
        ),
        files=("*harmbench*",),
    ),
    Published(
        name="strongreject-hub",
        title="StrongREJECT",
        columns=frozenset({"prompt", "category"}),
        layout=Layout(
            columns={"prompt": ("prompt",), "category": ("category",)},
            constants={**_UNSAFE, "language": "en"},
        ),
        files=("*strongreject*", "*strong_reject*", "*strong-reject*"),
    ),
    Published(
        name="advbench-hub",
        title="AdvBench",
        columns=frozenset({"prompt", "target"}),
        layout=Layout(columns={"prompt": ("prompt",)}, constants={**_UNSAFE, "language": "en"}),
        files=("*advbench*",),
    ),
    Published(
        name="sorry-bench",
        title="SORRY-Bench",
        columns=frozenset({"question_id", "category", "turns", "prompt_style"}),
        layout=Layout(
            columns={
                "prompt": ("turns",),
                "category": ("category",),
                "tags": ("prompt_style",),
            },
            constants=_UNSAFE,
        ),
    ),
    Published(
        name="do-not-answer",
        title="Do-Not-Answer",
        columns=frozenset({"risk_area", "types_of_harm", "specific_harms", "question"}),
        layout=Layout(
            columns={"id": ("id",), "prompt": ("question",), "category": ("types_of_harm",)},
            constants=_UNSAFE,
        ),
        by_file=(("*zh*", {"language": "zh"}), ("*", {"language": "en"})),
    ),
    Published(
        name="simple-safety-tests",
        title="SimpleSafetyTests",
        columns=frozenset({"id", "harm_area", "category"}),
        layout=Layout(
            columns={
                "id": ("id",),
                "prompt": ("prompts_final", "prompt"),
                "category": ("harm_area",),
                "tags": ("category",),
            },
            constants={**_UNSAFE, "language": "en"},
        ),
    ),
    Published(
        name="phtest",
        title="PHTest",
        columns=frozenset({"ID", "Request", "Harmfulness"}),
        layout=Layout(
            # Neither kind should be declined; as categories, their rates stay apart.
            columns={"id": ("ID",), "prompt": ("Request",), "category": ("Harmfulness",)},
            constants={**_SAFE, "language": "en"},
        ),
    ),
    Published(
        name="falsereject",
        title="FalseReject",
        columns=frozenset({"prompt", "category", "category_text"}),
        layout=Layout(
            columns={"prompt": ("prompt",), "category": ("category_text",)},
            constants={**_SAFE, "language": "en"},
        ),
    ),
    Published(
        name="coconot",
        title="CoCoNot",
        columns=frozenset({"prompt", "category", "subcategory"}),
        layout=Layout(
            columns={
                "id": ("id",),
                "prompt": ("prompt",),
                "category": ("category",),
                "tags": ("subcategory",),
            },
            constants={"language": "en"},
        ),
        by_file=(("*contrast*", _SAFE), ("*original*", _UNSAFE)),
    ),
    Published(
        name="catqa",
        title="CatQA",
        columns=frozenset({"Category", "Subcategory", "Question"}),
        layout=Layout(
            columns={
                "prompt": ("Question",),
                "category": ("Category",),
                "tags": ("Subcategory",),
            },
            constants=_UNSAFE,
        ),
    ),
    Published(
        name="multijail",
        title="MultiJail",
        columns=frozenset({"id", "en", "zh", "it", "vi", "ar", "ko", "th", "bn", "sw", "jv"}),
        layout=Layout(
            columns={"id": ("id",), "category": ("tags",)},
            languages={
                code: code for code in ("en", "zh", "it", "vi", "ar", "ko", "th", "bn", "sw", "jv")
            },
            constants=_UNSAFE,
        ),
    ),
    Published(
        name="or-bench-ko",
        title="OR-Bench",
        columns=frozenset({"prompt", "category", "prompt_ko"}),
        layout=Layout(
            columns={"category": ("category",)},
            languages={"en": "prompt", "ko": "prompt_ko"},
            constants=_SAFE,
        ),
        files=("*or-bench*", "*orbench*", "*or_bench*"),
    ),
    Published(
        name="or-bench",
        title="OR-Bench",
        columns=frozenset({"prompt", "category"}),
        layout=Layout(
            columns={"prompt": ("prompt",), "category": ("category",)},
            constants={"language": "en"},
        ),
        files=("*or-bench*", "*orbench*", "*or_bench*"),
        by_file=(("*toxic*", _UNSAFE), ("*", _SAFE)),
    ),
    Published(
        name="jade",
        title="JADE",
        columns=frozenset({"\u95ee\u9898", "\u8fdd\u89c4\u7c7b\u578b", "\u8fdd\u89c4\u5b50\u7c7b"}),
        layout=Layout(
            columns={
                "id": ("ID",),
                "prompt": ("\u95ee\u9898",),
                "category": ("\u8fdd\u89c4\u7c7b\u578b",),
                "tags": ("\u8fdd\u89c4\u5b50\u7c7b",),
            },
            constants=_UNSAFE,
        ),
        by_file=(("*_en", {"language": "en"}), ("*", {"language": "zh"})),
    ),
    Published(
        name="safety-tuned-llamas",
        title="safety-tuned-llamas",
        columns=frozenset({"instructions", "inputs"}),
        layout=Layout(
            columns={"prompt": ("instructions",)},
            context="inputs",
            constants={"language": "en"},
        ),
        by_file=(
            ("i-alpaca", {**_SAFE, "category": "I-Alpaca"}),
            ("i-physicalsafetysafe", {**_SAFE, "category": "I-PhysicalSafetySafe"}),
            ("i-cona", {**_UNSAFE, "category": "I-CoNa"}),
            ("i-controversial", {**_UNSAFE, "category": "I-Controversial"}),
            ("i-maliciousinstructions", {**_UNSAFE, "category": "I-MaliciousInstructions"}),
            ("i-physicalsafetyunsafe", {**_UNSAFE, "category": "I-PhysicalSafetyUnsafe"}),
            ("q-harm", {"category": "Q-Harm"}),  # of both kinds, and it does not say which
        ),
    ),
    Published(
        name="oktest",
        title="OKTest",
        columns=frozenset({"prompt"}),
        layout=Layout(columns={"prompt": ("prompt",)}, constants={**_SAFE, "language": "en"}),
        files=("oktest*",),
    ),
    Published(
        name="malicious-instruct",
        title="MaliciousInstruct",
        columns=frozenset({"prompt"}),
        layout=Layout(columns={"prompt": ("prompt",)}, constants={**_UNSAFE, "language": "en"}),
        files=("maliciousinstruct*", "malicious-instruct*", "malicious_instruct*"),
    ),
    Published(
        name="dangerousqa",
        title="DangerousQA",
        columns=frozenset({"prompt"}),
        layout=Layout(columns={"prompt": ("prompt",)}, constants={**_UNSAFE, "language": "en"}),
        files=("dangerousqa*", "dangerous-qa*", "dangerous_qa*"),
    ),
    Published(
        name="promptfoo",
        title="promptfoo",
        columns=frozenset({"vars"}),
        layout=Layout(
            columns={
                "prompt": (
                    "vars.prompt",
                    "vars.question",
                    "vars.query",
                    "vars.input",
                    "vars.message",
                    "vars.?",
                ),
                "label": ("metadata.label", "vars.label", "assert.*.type"),
                "category": ("metadata.category", "vars.category", "metadata.pluginId"),
                "severity": ("metadata.severity",),
                "note": ("description",),
                "language": ("metadata.language",),
                "pair": ("metadata.pair",),
            },
            labels=(
                ("is-refusal", Label.UNSAFE),
                ("not-is-refusal", Label.SAFE),
                ("unsafe", Label.UNSAFE),
                ("safe", Label.SAFE),
            ),
            constants={},
        ),
        labelled_by=LABELLED_BY,
    ),
    Published(
        name="inspect",
        title="Inspect samples",
        columns=frozenset({"input", "metadata"}),
        layout=Layout(
            columns={
                "id": ("id",),
                "prompt": ("input",),
                "label": ("metadata.label",),
                "category": ("metadata.category",),
                "severity": ("metadata.severity",),
                "language": ("metadata.language",),
                "pair": ("metadata.pair",),
            },
        ),
        labelled_by=_INSPECT_LABEL,
    ),
    Published(
        name="inspect-plain",
        title="Inspect samples",
        columns=frozenset({"input", "target"}),
        layout=Layout(columns={"id": ("id",), "prompt": ("input",)}),
        labelled_by=_INSPECT_LABEL,
    ),
)
