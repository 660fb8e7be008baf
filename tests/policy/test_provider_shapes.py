"""Every shape in which providers answer, refuse, block, stop and fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.anthropic import read_message
from pytest_refusal.policy.gemini import read_content
from pytest_refusal.policy.openai import read_block, read_completion
from pytest_refusal.policy.openai_responses import read_response
from pytest_refusal.response import Block, FilterStage, Response, Usage

PROMPT, COMPLETION = FilterStage.PROMPT, FilterStage.COMPLETION


def chat(message: object, finish_reason: object = "stop", **beside: object) -> dict[str, object]:
    return {"choices": [{"message": message, "finish_reason": finish_reason, **beside}]}


def said(response: Response) -> dict[str, object]:
    """Name what a response holds, but for the text's own absence and unknown counts."""
    found: dict[str, object] = {"finish": response.finish_reason}
    if response.text:
        found["text"] = response.text
    if response.refusal is not None:
        found["refusal"] = response.refusal
    if response.block is not None:
        block = response.block
        found["block"] = (block.stage.value, block.signal, block.detail)
    if response.tool_calls:
        found["tools"] = response.tool_calls
    if response.other_parts:
        found["beside"] = response.other_parts
    return found


FILTER_ERROR = {
    "error": {"code": "content_filter_error", "message": "The contents are not filtered"}
}

CHAT = {
    "answer": (chat({"content": "Hi."}), {"finish": "stop", "text": "Hi."}),
    "refusal field": (
        chat({"content": None, "refusal": "I can't."}),
        {"finish": "stop", "refusal": "I can't."},
    ),
    "refusal field beside blank content": (
        chat({"content": " \n", "refusal": "No."}),
        {"finish": "stop", "text": " \n", "refusal": "No."},
    ),
    "refusal field beside reasoning": (
        chat({"content": None, "reasoning": "hmm", "refusal": "I can't."}),
        {"finish": "stop", "refusal": "I can't.", "beside": ("thinking",)},
    ),
    "thinking that is shown": (
        chat({"content": None, "reasoning_content": "hm"}, "length"),
        {"finish": "length", "beside": ("thinking",)},
    ),
    "thinking that is only counted": (
        chat({"content": ""}, "length")
        | {"usage": {"completion_tokens_details": {"reasoning_tokens": 512}}},
        {"finish": "length", "beside": ("thinking",)},
    ),
    "no thinking": (
        chat({"content": "Hi.", "reasoning": None, "reasoning_content": ""})
        | {"usage": {"completion_tokens_details": {"reasoning_tokens": 0}}},
        {"finish": "stop", "text": "Hi."},
    ),
    "blank refusal field": (
        chat({"content": "Hi.", "refusal": ""}),
        {"finish": "stop", "text": "Hi."},
    ),
    "filtered": (
        chat({"content": None}, "content_filter"),
        {"finish": "content_filter", "block": ("completion", "content_filter", "")},
    ),
    "filtered after text": (
        chat({"content": "Step 1"}, "content_filter"),
        {
            "finish": "content_filter",
            "text": "Step 1",
            "block": ("completion", "content_filter", ""),
        },
    ),
    "Azure says what was filtered": (
        chat(
            {"content": None},
            "content_filter",
            content_filter_results={
                "sexual": {"filtered": True, "severity": "medium"},
                "hate": {"filtered": False, "severity": "safe"},
                "jailbreak": {"filtered": True, "detected": True},
            },
        ),
        {
            "finish": "content_filter",
            "block": ("completion", "content_filter", "sexual: medium, jailbreak"),
        },
    ),
    "Azure only annotates": (
        chat(
            {"content": "Hi."},
            content_filter_results={"jailbreak": {"filtered": False, "detected": True}},
        ),
        {"finish": "stop", "text": "Hi."},
    ),
    "Azure's filter failed": (
        chat({"content": "Hi."}, content_filter_results=FILTER_ERROR),
        {"finish": "stop", "text": "Hi.", "beside": ("content_filter_error",)},
    ),
    "Azure's filter failed on the prompt": (
        chat({"content": "Hi."})
        | {"prompt_filter_results": [{"content_filter_results": FILTER_ERROR}]},
        {"finish": "stop", "text": "Hi.", "beside": ("content_filter_error",)},
    ),
    "another vendor's word": (
        chat({"content": None}, "refusal"),
        {"finish": "refusal"},
    ),
    "cut off": (chat({"content": ""}, "length"), {"finish": "length"}),
    "parts": (
        chat({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}),
        {"finish": "stop", "text": "ab", "beside": ("image",)},
    ),
    "tool call": (
        chat({"content": None, "tool_calls": [{"function": {"name": "look_up"}}]}, "tool_calls"),
        {"finish": "tool_calls", "tools": ("look_up",)},
    ),
    "old function call": (
        chat({"content": None, "function_call": {"name": "look_up"}}, "function_call"),
        {"finish": "function_call", "tools": ("look_up",)},
    ),
    "no finish reason": (chat({"content": "Hi."}, None), {"finish": "null", "text": "Hi."}),
    "unknown finish reason": (
        chat({"content": "Hi."}, "weird_new_reason"),
        {"finish": "weird_new_reason", "text": "Hi."},
    ),
    "numeric finish reason": (chat({"content": "Hi."}, 99), {"finish": "99", "text": "Hi."}),
    "OpenRouter's native reason": (
        chat({"content": ""}, "stop", native_finish_reason="SAFETY"),
        {"finish": "SAFETY"},
    ),
    "native reason that says no more": (
        chat({"content": "Hi."}, "stop", native_finish_reason="completed"),
        {"finish": "stop", "text": "Hi."},
    ),
    "LiteLLM's native reason": (
        chat(
            {"content": "x"},
            "stop",
            provider_specific_fields={"native_finish_reason": "MALFORMED_RESPONSE"},
        ),
        {"finish": "MALFORMED_RESPONSE", "text": "x"},
    ),
    "no message": ({"choices": [{"finish_reason": "content_filter"}]}, {
        "finish": "content_filter", "block": ("completion", "content_filter", "")
    }),
    "a rail stopped": (
        chat({"content": "I'm sorry, I can't respond to that."})
        | {"guardrails_data": {"log": {"activated_rails": [{"name": "r", "stop": True}]}}},
        {
            "finish": "stop",
            "text": "I'm sorry, I can't respond to that.",
            "block": ("completion", "guardrail_intervened", ""),
        },
    ),
    "prompt filter without choice": (
        {
            "choices": [],
            "prompt_filter_results": [
                {"content_filter_results": {"hate": {"filtered": True, "severity": "high"}}}
            ],
        },
        {"finish": None, "block": ("prompt", "content_filter", "hate: high")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHAT)
def test_chat_completions(case: str) -> None:
    body, expected = CHAT[case]
    assert said(read_completion(body)) == expected


def test_counts_and_model_are_kept_also_with_a_block() -> None:
    body = chat(
        {"content": None},
        "content_filter",
        content_filter_results={"self_harm": {"filtered": True}},
    ) | {"usage": {"prompt_tokens": 31, "completion_tokens": 0}, "model": "m-2"}
    response = read_completion(body)
    assert response.usage == Usage(prompt_tokens=31, completion_tokens=0)
    assert response.model == "m-2"
    assert response.block == Block(stage=COMPLETION, signal="content_filter", detail="self_harm")


@pytest.mark.parametrize(
    "body",
    [{}, {"choices": None}, {"choices": []}, {"choices": "x"}, {"choices": [None]},
     {"choices": [], "prompt_filter_results": [{"content_filter_results": {}}]}],
)  # fmt: skip
def test_no_choice_is_an_error(body: object) -> None:
    with pytest.raises(PolicyError, match="holds no choice"):
        read_completion(body)


def test_an_error_within_the_choice_is_an_error() -> None:
    body = chat({"content": "begun"}, "error", error={"code": 502, "message": "gone"})
    with pytest.raises(PolicyError, match="gone"):
        read_completion(body)


def error(code: object = None, message: str = "", **beside: object) -> dict[str, object]:
    return {"error": {"code": code, "message": message, **beside}}


BLOCKS = {
    "Azure": (
        400,
        error(
            "content_filter",
            innererror={
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {
                    "violence": {"filtered": True, "severity": "high"},
                    "hate": {"filtered": False, "severity": "safe"},
                },
            },
        ),
        ("prompt", "content_filter", "violence: high"),
    ),
    "Azure without inner error": (400, error("content_filter"), ("prompt", "content_filter", "")),
    "inner error alone": (
        400,
        error("BadRequest", innererror={"code": "ResponsibleAIPolicyViolation"}),
        ("prompt", "ResponsibleAIPolicyViolation", ""),
    ),
    "content policy": (
        400,
        error("content_policy_violation"),
        ("prompt", "content_policy_violation", ""),
    ),
    "moderation": (400, error("moderation_blocked"), ("prompt", "moderation_blocked", "")),
    "usage policy": (
        400,
        error("invalid_prompt", "Invalid prompt: flagged as violating our usage policy."),
        ("prompt", "invalid_prompt", ""),
    ),
    "LiteLLM": (
        400,
        error("400", "litellm.ContentPolicyViolationError: refused", type="invalid_request_error"),
        ("prompt", "content_policy_violation", ""),
    ),
    "OpenRouter": (
        403,
        error(403, "Input flagged", metadata={"reasons": ["violence"], "flagged_input": "..."}),
        ("prompt", "content_policy_violation", "violence"),
    ),
    "OpenRouter by type": (
        403,
        error(403, metadata={"error_type": "content_policy_violation"}),
        ("prompt", "content_policy_violation", ""),
    ),
}


@pytest.mark.parametrize("case", BLOCKS)
def test_errors_that_are_blocks(case: str) -> None:
    status, body, expected = BLOCKS[case]
    response = read_block(status, body)
    assert response is not None
    assert response.block is not None
    assert (response.block.stage.value, response.block.signal, response.block.detail) == expected
    assert response.text == ""


def test_a_refusal_reported_as_an_error_is_the_models() -> None:
    body = error(403, "I won't.", metadata={"error_type": "refusal"})
    assert read_block(403, body) == Response(refusal="I won't.")


NO_BLOCKS = {
    "bad request": (400, error("invalid_request_error", "content filter is a nice thing")),
    "malformed prompt": (400, error("invalid_prompt", "messages: expected an array")),
    "limited access": (403, error(None, "limited access to this deployment")),
    "no key": (403, error(403, "no access", metadata={})),
    "guardrail not asked for": (403, {"error": {}, "guardrail": "moderation"}),
    "a text": (400, {"error": "content_filter"}),
    "a list": (400, ["content_filter"]),
    "a page": (400, "<html>content_filter</html>"),
}


@pytest.mark.parametrize("case", NO_BLOCKS)
def test_errors_that_are_none(case: str) -> None:
    assert read_block(*NO_BLOCKS[case]) is None


def test_a_guardrail_that_was_asked_for_blocks() -> None:
    response = read_block(403, {"guardrail": "moderation"}, guarded=True)
    assert response is not None
    assert response.block == Block(stage=PROMPT, signal="guardrail")


def output(*content: object, status: str = "completed", **beside: object) -> dict[str, object]:
    message = {"type": "message", "role": "assistant", "content": list(content)}
    return {"status": status, "output": [message], **beside}


RESPONSES = {
    "answer": (
        output({"type": "output_text", "text": "Hi "}, {"type": "output_text", "text": "you."}),
        {"finish": "stop", "text": "Hi you."},
    ),
    "refusal": (
        output({"type": "refusal", "refusal": "I can't help with that."}),
        {"finish": "stop", "refusal": "I can't help with that."},
    ),
    "filtered": (
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"},
            "output": [],
        },
        {"finish": "content_filter", "block": ("completion", "content_filter", "")},
    ),
    "filtered after text": (
        output(
            {"type": "output_text", "text": "Step 1"},
            status="incomplete",
            incomplete_details={"reason": "content_filter"},
        ),
        {
            "finish": "content_filter",
            "text": "Step 1",
            "block": ("completion", "content_filter", ""),
        },
    ),
    "cut off": (
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "reasoning", "summary": []}],
        },
        {"finish": "max_output_tokens", "beside": ("thinking",)},
    ),
    "incomplete without a reason": (
        {"status": "incomplete", "output": []},
        {"finish": "incomplete"},
    ),
    "tool": (
        {"status": "completed", "output": [{"type": "function_call", "name": "look_up"}]},
        {"finish": "stop", "tools": ("look_up",)},
    ),
    "nothing": ({"status": "completed"}, {"finish": "stop"}),
}


@pytest.mark.parametrize("case", RESPONSES)
def test_responses(case: str) -> None:
    body, expected = RESPONSES[case]
    assert said(read_response(body)) == expected


@pytest.mark.parametrize("status", ["failed", "cancelled", "queued", "in_progress", None])
def test_a_response_that_did_not_come_to_its_end_is_an_error(status: object) -> None:
    with pytest.raises(PolicyError, match="not completed"):
        read_response({"status": status, "output": []})


ANTHROPIC = {
    "answer": (
        {"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"},
        {"finish": "end_turn", "text": "Hi."},
    ),
    "refusal": (
        {"content": [], "stop_reason": "refusal"},
        {"finish": "refusal", "block": ("completion", "refusal", "")},
    ),
    "details null": (
        {"content": [], "stop_reason": "refusal", "stop_details": None},
        {"finish": "refusal", "block": ("completion", "refusal", "")},
    ),
    "details with a category": (
        {"content": [], "stop_reason": "refusal", "stop_details": {"category": "cyber"}},
        {"finish": "refusal", "block": ("completion", "refusal", "cyber")},
    ),
    "refusal after text": (
        {"content": [{"type": "text", "text": "First"}], "stop_reason": "refusal"},
        {"finish": "refusal", "text": "First", "block": ("completion", "refusal", "")},
    ),
    "empty": ({"content": [], "stop_reason": "end_turn"}, {"finish": "end_turn"}),
    "only thinking": (
        {"content": [{"type": "thinking", "thinking": "I can't"}], "stop_reason": "max_tokens"},
        {"finish": "max_tokens", "beside": ("thinking",)},
    ),
    "thinking left out": (
        {
            "content": [
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b"},
            ],
            "stop_reason": "end_turn",
        },
        {"finish": "end_turn", "text": "ab", "beside": ("redacted_thinking",)},
    ),
    "a tool of the server": (
        {
            "content": [
                {"type": "thinking", "thinking": "a"},
                {"type": "server_tool_use", "name": "web_search"},
                {"type": "thinking", "thinking": "b"},
            ],
            "stop_reason": "pause_turn",
        },
        {"finish": "pause_turn", "beside": ("thinking", "server_tool_use")},
    ),
    "tool": (
        {"content": [{"type": "tool_use", "name": "look_up"}], "stop_reason": "tool_use"},
        {"finish": "tool_use", "tools": ("look_up",)},
    ),
    "window": (
        {"content": [], "stop_reason": "model_context_window_exceeded"},
        {"finish": "model_context_window_exceeded"},
    ),
    "no stop reason": ({"content": []}, {"finish": "null"}),
}


@pytest.mark.parametrize("case", ANTHROPIC)
def test_anthropic_messages(case: str) -> None:
    body, expected = ANTHROPIC[case]
    assert said(read_message(body)) == expected


GEMINI = {
    "answer": (
        {"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]},
        {"finish": "STOP", "text": "Hi."},
    ),
    "thoughts left out": (
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "hm", "thought": True}, {"text": "Hi."}]},
                    "finishReason": "STOP",
                }
            ]
        },
        {"finish": "STOP", "text": "Hi.", "beside": ("thinking",)},
    ),
    "thoughts that are only counted": (
        {
            "candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}],
            "usageMetadata": {"thoughtsTokenCount": 98},
        },
        {"finish": "MAX_TOKENS", "beside": ("thinking",)},
    ),
    "code that the server ran": (
        {
            "candidates": [
                {
                    "content": {"parts": [{"executableCode": {}}, {"codeExecutionResult": {}}]},
                    "finishReason": "STOP",
                }
            ]
        },
        {"finish": "STOP", "beside": ("executableCode", "codeExecutionResult")},
    ),
    **{
        f"prompt blocked: {reason}": (
            {"promptFeedback": {"blockReason": reason}},
            {"finish": None, "block": ("prompt", reason, "")},
        )
        for reason in ("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK")
    },
    "stopped": (
        {
            "candidates": [
                {
                    "finishReason": "SAFETY",
                    "safetyRatings": [
                        {"category": "DANGEROUS", "probability": "HIGH", "blocked": True},
                        {"category": "HATE", "probability": "LOW"},
                    ],
                }
            ]
        },
        {"finish": "SAFETY", "block": ("completion", "SAFETY", "DANGEROUS: HIGH")},
    ),
    "stopped without ratings": (
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"finish": "SAFETY"},
    ),
    "recitation": ({"candidates": [{"finishReason": "RECITATION"}]}, {"finish": "RECITATION"}),
    "other": ({"candidates": [{"finishReason": "OTHER", "content": {}}]}, {"finish": "OTHER"}),
    "number": ({"candidates": [{"finishReason": 2}]}, {"finish": "2"}),
    "empty": ({"candidates": [{"finishReason": "STOP", "content": {"parts": []}}]}, {
        "finish": "STOP"
    }),
}  # fmt: skip


@pytest.mark.parametrize("case", GEMINI)
def test_gemini_content(case: str) -> None:
    body, expected = GEMINI[case]
    assert said(read_content(body)) == expected


@pytest.mark.parametrize(
    "body",
    [{}, {"promptFeedback": {}}, {"promptFeedback": {"blockReason": ""}}, {"candidates": []}, [],
     None],
)  # fmt: skip
def test_gemini_without_candidate_and_reason_is_an_error(body: object) -> None:
    with pytest.raises(PolicyError, match="no candidate and no block reason"):
        read_content(body)


RUBBISH: list[object] = [
    None, 3, "x", [], {}, {"choices": {}}, {"choices": [{"message": 3}]}, {"content": {"a": 1}},
    {"content": [None, 3, {"type": 3, "text": 4}]}, {"candidates": [{"content": [1]}]},
    {"candidates": [{"safetyRatings": {"blocked": True}}]}, {"choices": [{"message": {"content": 3,
     "refusal": 4, "tool_calls": [1, {"function": 2}]}, "finish_reason": []}], "usage": [1]},
]  # fmt: skip


@pytest.mark.parametrize("read", [read_completion, read_message, read_content])
@pytest.mark.parametrize("body", RUBBISH)
def test_rubbish_is_a_policy_error_at_worst(
    read: Callable[[object], Response], body: object
) -> None:
    try:
        response = read(body)
    except PolicyError:
        return
    assert isinstance(response.text, str)
    assert response.refusal is None
