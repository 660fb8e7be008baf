"""Models behind LiteLLM: every provider that no other policy speaks to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_refusal.errors import PolicyError, TransientPolicyError
from pytest_refusal.foreign import describe
from pytest_refusal.policy.openai import read_block, read_completion
from pytest_refusal.policy.secrets import Redaction, Secret
from pytest_refusal.policy.status import status_error
from pytest_refusal.policy.wire import Sampling, messages_with_system
from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Block, FilterStage, Response

_LOGGERS = (
    "LiteLLM",
    "httpx",
    *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)


class LiteLLMPolicy:
    """A model of LiteLLM, asked without its own retries and fallbacks.

    Both would change what is measured: a fallback lets another model answer where the one
    under test declined.  LiteLLM turns some broken completions into "stop"; the provider's
    own word is read where LiteLLM keeps it.
    hidden: what must never be shown, wherever a server echoes it.
    """

    takes_conversation = True

    def __init__(
        self,
        name: str,
        *,
        model: str,
        sampling: Sampling,
        base_url: str = "",
        key: Secret | None = None,
        concurrency: int = 8,
        timeout_s: float = 120.0,
        request_timeout_s: float = 60.0,
        retries: int = 6,
        hidden: Sequence[Secret] = (),
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self.timeout_s = timeout_s
        self.retries = retries
        self._model = model
        self._sampling = sampling
        self._base_url = base_url
        self._key = key
        self._request_timeout_s = request_timeout_s
        self._redaction = Redaction([*hidden, *([key] if key else [])])
        self._redaction.hide_in_logs(_LOGGERS)

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages; no secrets."""
        return {"api": "litellm", "model": self._model, **self._sampling.plain}

    def hide(self, text: str) -> str:
        """Return `text` without the keys that requests carry."""
        return self._redaction.hide(text)

    async def respond(self, prompt: Prompt, *, sample: int) -> Response:
        """Send one request; raises PolicyError and its kinds like any model behind HTTP."""
        import litellm

        litellm.suppress_debug_info = True  # it would print advice between the results
        sampling = self._sampling
        optional = {
            "temperature": sampling.temperature,
            "seed": sampling.seed_of(sample),
            "max_tokens": sampling.max_tokens,
            "api_base": self._base_url or None,
            "api_key": self._key.reveal() if self._key else None,
        }
        messages = messages_with_system(prompt, sampling.system)
        try:
            completion = await litellm.acompletion(
                model=self._model,
                messages=[{"role": m.role.value, "content": m.content} for m in messages],
                timeout=self._request_timeout_s,
                num_retries=0,
                max_retries=0,
                **{name: value for name, value in optional.items() if value is not None},
                **sampling.extra,
            )
        except Exception as error:
            blocked = _blocked(error)
            if blocked is None:
                raise self._told(error) from None
            return blocked
        return read_completion(self._redaction.hide_in_json(completion.model_dump()))

    def _told(self, error: Exception) -> PolicyError:
        status = getattr(error, "status_code", None)
        said = self._redaction.hide(str(error))
        if isinstance(error, TimeoutError) or type(error).__name__ == "Timeout":
            return TransientPolicyError(f"no reply: {said}", reason="timeout")
        if type(error).__name__ == "APIConnectionError":
            return TransientPolicyError(f"no reply: {said}", reason="connection")
        if isinstance(status, int):
            headers = getattr(getattr(error, "response", None), "headers", None) or {}
            lower = {str(name).lower(): str(value) for name, value in dict(headers).items()}
            return status_error(status, lower, {"error": {"message": said}})
        return PolicyError(self._redaction.hide(describe(error)))


def _blocked(error: Exception) -> Response | None:
    names = {kind.__name__ for kind in type(error).__mro__}
    # It knows some blocks by their words; the codes that it passes on tell of the others.
    told = {"error": getattr(error, "body", None)}
    response = read_block(getattr(error, "status_code", 0), told)
    if response is not None or "ContentPolicyViolationError" not in names:
        return response
    return Response(block=Block(stage=FilterStage.PROMPT, signal="content_policy_violation"))
