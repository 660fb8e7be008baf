"""What policies have in common that ask another one."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_refusal.protocols import Policy


class WrappingPolicy:
    """A policy that asks another one, and is called and known as that is."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @property
    def name(self) -> str:
        """The name of the policy that is asked."""
        return self.policy.name

    @property
    def takes_conversation(self) -> bool:
        """Whether the policy that is asked reads all messages."""
        return self.policy.takes_conversation

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response of the policy that is asked."""
        found: Mapping[str, object] = getattr(self.policy, "fingerprint", {})
        return found

    @property
    def answers_whole_prompts(self) -> bool:
        """Whether the policy that is asked looks its responses up by prompt."""
        return bool(getattr(self.policy, "answers_whole_prompts", False))

    @property
    def answers_at_once(self) -> bool:
        """Whether the policy that is asked may be asked ahead without any cost."""
        return bool(getattr(self.policy, "answers_at_once", False))

    async def aclose(self) -> None:
        """Close what the policy that is asked holds open."""
        close = getattr(self.policy, "aclose", None)
        if close is not None:
            await close()
