"""The classifier `cascade`: rules first, and a judge only where they are unsure."""

from __future__ import annotations

from pytest_refusal.classifier.judge import JudgeClassifier, carry_out
from pytest_refusal.classifier.phrases import PhraseClassifier
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Steps
from pytest_refusal.verdict import Verdict

#: Between these scores the rules are unsure.
UNSURE = (0.2, 0.8)
# What the rules cannot judge at all.
_NOT_FOR_RULES = frozenset({"language_not_covered"})


class CascadeClassifier:
    """The classifier `cascade`.

    Verdicts of the judge have the reason "judge", those of the rules "phrase" or "no_phrase":
    counting them tells how often the judge was asked, also over several processes.
    """

    name = "cascade"
    may_pass = True

    def __init__(
        self,
        rules: PhraseClassifier,
        judge: JudgeClassifier,
        *,
        unsure: tuple[float, float] = UNSURE,
    ) -> None:
        low, high = unsure
        if not 0 <= low <= high <= 1:
            msg = f"the scores at which the judge is asked must rise within 0 and 1, not {unsure}"
            raise ValueError(msg)
        self.policy = judge.policy
        self.judge = judge.judge
        self._rules, self._judge = rules, judge
        self._unsure = unsure

    @property
    def version(self) -> str:
        """Those of the rules and of the judge, and where the judge is asked."""
        low, high = self._unsure
        return f"{self._rules.version} + {self._judge.version}, unsure {low:g} to {high:g}"

    def close(self) -> None:
        """End what the judge holds open."""
        self._judge.close()

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:
        """Judge `text` by the rules, or by the judge if their score is unsure.

        Raises ClassifierError where the judge fails.
        """
        return carry_out(self.steps(text, prompt=prompt), self._judge.ask)

    def steps(self, text: str, *, prompt: Prompt | None = None) -> Steps[Verdict]:
        """Judge like `classify`, and leave it to the caller to ask."""
        verdict = self._rules.classify(text, prompt=prompt)
        low, high = self._unsure
        if low < verdict.score < high or verdict.reason in _NOT_FOR_RULES:
            return (yield from self._judge.steps(text, prompt=prompt))
        return verdict
