"""Responses that other tools produced, put into the fields of our own recorded files.

Knows the output of OpenAI's batches, logs of Inspect in JSON and results of promptfoo.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.digging import count, dig, items, joined_texts, text, word
from pytest_refusal.policy.openai import read_block, read_completion
from pytest_refusal.policy.openai_responses import is_response, read_response
from pytest_refusal.response import Response


def rows_within(document: object) -> list[object] | None:
    """Return the rows of a document that is one object; None if it is of no known kind."""
    if isinstance(dig(document, "samples"), list):
        return [{"inspect": sample} for sample in items(document, "samples")]
    if isinstance(dig(document, "results", "results"), list):
        return [{"promptfoo": result} for result in items(document, "results", "results")]
    return None


def own_fields(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Translate a row of another tool; one of our own is returned as it is."""
    if "custom_id" in fields:
        return _of_batch(fields)
    if "inspect" in fields:
        return _of_inspect(fields["inspect"])
    if "promptfoo" in fields:
        return _of_promptfoo(fields["promptfoo"])
    return fields


def _of_batch(line: Mapping[str, object]) -> Mapping[str, object]:
    body = dig(line, "response", "body")
    status = count(line, "response", "status_code") or 0
    response: Response | None
    try:
        response = _of_body(status, body)
    except PolicyError:
        response = None
    return {"prompt_id": word(line, "custom_id"), **_said(response)}


def _of_body(status: int, body: object) -> Response | None:
    if status != 200:
        return read_block(status, body)
    return read_response(body) if is_response(body) else read_completion(body)


def _said(response: Response | None) -> dict[str, object]:
    if response is None:
        return {"response": None}
    finish_reason = response.finish_reason or (response.block.signal if response.block else None)
    return {
        "response": response.text,
        "refusal": response.refusal,
        "finish_reason": finish_reason,
    }


def _of_inspect(sample: object) -> Mapping[str, object]:
    choice = dig(sample, "output", "choices", 0)
    failed = dig(sample, "error") is not None or choice is None
    said = None if failed else joined_texts(dig(choice, "message", "content")) or ""
    stop = text(choice, "stop_reason")
    return {
        "prompt_id": word(sample, "id"),
        "sample": count(sample, "epoch"),
        "response": said,
        # Inspect's "unknown" says that the provider gave no reason that it knows.
        "finish_reason": None if failed else stop,
    }


def _of_promptfoo(result: object) -> Mapping[str, object]:
    output = dig(result, "response", "output")
    failed = dig(result, "response", "error") is not None or not isinstance(output, str)
    identity = word(result, "testCase", "metadata", "id") or word(result, "vars", "id")
    asked = text(result, "vars", "prompt") or text(result, "prompt", "raw")
    return {
        **({"prompt_id": identity} if identity else {"prompt": asked}),
        "policy": text(result, "provider", "label") or text(result, "provider", "id"),
        "response": None if failed else output,
        "finish_reason": None if failed else text(result, "response", "finishReason"),
    }
