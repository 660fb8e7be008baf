from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, Optional
from unittest.mock import Mock

import pytest

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.function import FunctionPolicy, InvalidResponseError, policy_from
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]  # a name that cannot resolve

PROMPT = Prompt(
    id="p",
    label=Label.SAFE,
    messages=(
        Message(role=Role.SYSTEM, content="Be kind."),
        Message(role=Role.USER, content="Hello"),
    ),
)


class Closed:
    """Lets nobody look at it, as a client without its connection may."""

    def __getattr__(self, name: str) -> object:
        msg = f"not connected: {name}"
        raise RuntimeError(msg)

    def __call__(self, text: str) -> str:
        return text


def test_what_cannot_be_looked_at_is_told_in_words() -> None:
    with pytest.raises(PolicyError, match="RuntimeError: not connected"):
        policy_from(Closed(), name="mine")


def takes_text(text: str) -> str:
    return f"text {text}"


def takes_anything(thing):  # type: ignore[no-untyped-def]  # people write them so
    return f"text {thing}"


def takes_prompt(prompt: Prompt) -> str:
    return f"prompt {prompt.id}"


def takes_optional(prompt: Optional[Prompt]) -> str:  # noqa: UP045  # the old spelling, too
    assert prompt is not None
    return f"prompt {prompt.id}"


def takes_union(prompt: str | Prompt, more: int = 0) -> str:
    assert isinstance(prompt, Prompt)
    return f"prompt {prompt.id}"


def cannot_resolve(prompt: Prompt, more: Unknown = None) -> str:
    return f"prompt {prompt.id}"


def returns_response(text: str) -> Response:
    return Response(text=f"text {text}")


async def asynchronous(text: str) -> str:
    await asyncio.sleep(0)
    return f"text {text}"


async def asynchronous_prompt(prompt: Prompt) -> Response:
    return Response(text=f"prompt {prompt.id}")


def returns_awaitable(text: str) -> Any:
    return asynchronous(text)


def configured(style: str, text: str) -> str:
    return f"{style} {text}"


class Callable:
    def __call__(self, prompt: Prompt) -> str:
        return f"prompt {prompt.id}"

    def method(self, prompt: Prompt) -> str:
        return f"prompt {prompt.id}"


class AsyncCallable:
    async def __call__(self, text: str) -> str:
        return f"text {text}"


@functools.wraps(takes_prompt)
def decorated(*args: Any, **kwargs: Any) -> str:
    return takes_prompt(*args, **kwargs)


TAKES_TEXT = {
    "annotated str": takes_text,
    "not annotated": takes_anything,
    "response": returns_response,
    "async": asynchronous,
    "returns an awaitable": returns_awaitable,
    "partial": functools.partial(configured, "text"),
    "async callable object": AsyncCallable(),
    "lambda": lambda text: f"text {text}",
    "star args": lambda *args: f"text {args[0]}",
    "mock": Mock(side_effect=takes_text, spec=takes_text),
    "built-in": "text {}".format,
}
TAKES_PROMPT = {
    "annotated Prompt": takes_prompt,
    "Optional": takes_optional,
    "union": takes_union,
    "another annotation cannot be resolved": cannot_resolve,
    "async": asynchronous_prompt,
    "callable object": Callable(),
    "method": Callable().method,
    "partial": functools.partial(takes_prompt),
    "decorated": decorated,
}


def respond(function: object) -> Response:
    response = FunctionPolicy.of(function, name="mine").respond(PROMPT, sample=1)
    return response if isinstance(response, Response) else asyncio.run(_wait(response))


async def _wait(response: Any) -> Response:
    result: Response = await response
    return result


@pytest.mark.parametrize("function", TAKES_TEXT.values(), ids=TAKES_TEXT)
def test_text_goes_to_callables_that_do_not_ask_for_a_prompt(function: object) -> None:
    assert respond(function) == Response(text="text Hello")
    assert not FunctionPolicy.of(function, name="mine").takes_conversation


@pytest.mark.parametrize("function", TAKES_PROMPT.values(), ids=TAKES_PROMPT)
def test_the_prompt_goes_to_callables_annotated_so(function: object) -> None:
    assert respond(function) == Response(text="prompt p")
    assert FunctionPolicy.of(function, name="mine").takes_conversation


@pytest.mark.parametrize(
    "annotation",
    ["Prompt", "'Prompt'", "x.Prompt", "Optional[Prompt]", "typing.Optional[x.Prompt]",
     "Prompt | None", "None|x.Prompt"],
)  # fmt: skip
def test_an_annotation_that_cannot_be_evaluated_is_read(annotation: str) -> None:
    def function(prompt: Any, other: Unknown = None) -> str:
        return "yes"

    function.__annotations__["prompt"] = annotation
    assert FunctionPolicy.of(function, name="mine").takes_conversation


@pytest.mark.parametrize("annotation", ["str", "list[Prompt]", "PromptText", "Prompt.Text"])
def test_other_annotations_that_cannot_be_evaluated_mean_text(annotation: str) -> None:
    def function(prompt: Any, other: Unknown = None) -> str:
        return "yes"

    function.__annotations__["prompt"] = annotation
    assert not FunctionPolicy.of(function, name="mine").takes_conversation


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (None, "returned None; expected str or Response"),
        ({}, "returned dict; expected str or Response"),
        (b"x", "returned bytes; expected str or Response"),
        (["x"], "returned list; expected str or Response"),
        ((c for c in "x"), "returned generator; expected str or Response (join the pieces"),
        (Response(text=None), "a Response whose text is NoneType"),  # type: ignore[arg-type]  # it happens
        (Response(text="x", confidence=1.5), "a Response whose confidence is float"),
        (Response(text="x", confidence=float("nan")), "a Response whose confidence is float"),
    ],
)
def test_what_is_no_response_is_told(result: object, told: str) -> None:
    told = told.replace("NoneType", "None")
    with pytest.raises(InvalidResponseError, match="policy 'mine' returned") as caught:
        respond(lambda text: result)
    assert told in str(caught.value)
    assert caught.value.reason == "invalid_response"

    async def later(text: str) -> Any:
        return result

    with pytest.raises(InvalidResponseError, match="policy 'mine' returned"):
        respond(later)


def test_a_subclass_of_str_becomes_plain_text() -> None:
    class Shouting(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "NO"

    assert type(respond(lambda text: Shouting("yes")).text) is str
    assert respond(lambda text: Shouting("yes")).text == "yes"


def needs_two(text: str, key: str) -> str:
    return text + key


def needs_keyword(text: str, *, key: str) -> str:
    return text + key


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (Callable, "Callable is a class; give a function, or an instance: Callable(...)"),
        (3, "policy 'mine' is int, which cannot be called"),
        (None, "policy 'mine' is None, which cannot be called"),
        (needs_two, "needs more than the prompt: key"),
        (needs_keyword, "needs more than the prompt: key"),
        (lambda: "x", "takes no positional argument"),
        (lambda **_: "x", "takes no positional argument"),
    ],
)
def test_what_cannot_be_asked_is_told_when_it_is_built(thing: object, told: str) -> None:
    with pytest.raises(PolicyError) as caught:
        FunctionPolicy.of(thing, name="mine")
    assert told in str(caught.value)


def test_an_object_with_the_shape_of_a_policy_is_taken_as_it_is() -> None:
    class Own:
        name = "own"
        takes_conversation = True

        def respond(self, prompt: Prompt, *, sample: int) -> Response:
            return Response(text="x")

    own = Own()
    assert policy_from(own, name="mine") is own
    assert policy_from(takes_text, name="mine").name == "mine"
    with pytest.raises(PolicyError, match="is a class"):
        policy_from(Own, name="mine")
