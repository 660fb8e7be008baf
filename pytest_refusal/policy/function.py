"""A policy from any Python callable: sync or async, from a prompt or its text."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_refusal import foreign
from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.loading import load_function
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response

# Requests of a coroutine function under way: up to twice this, see `execution/prefetch.py`.
_CONCURRENCY = 4

_MOST_THREADS = 1000

__all__ = ["FunctionPolicy", "InvalidResponseError", "load_function", "policy_from"]


class InvalidResponseError(PolicyError):
    """A callable returned what is no response."""

    reason = "invalid_response"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPolicy:
    """A callable with the shape of `Policy`.

    concurrency: above 0 for a coroutine function, which can be asked ahead.
    """

    name: str
    takes_conversation: bool
    function: Callable[[typing.Any], object]  # takes a Prompt or a str: only the caller knows
    concurrency: int = 0

    @classmethod
    def of(cls, function: object, *, name: str) -> FunctionPolicy:
        """Wrap a callable of one argument that returns a string or a Response, or awaits one.

        It gets the prompt if its parameter is annotated `Prompt`, else the text of the last
        message of the user.  Raises PolicyError for what cannot be called so.
        """
        if inspect.isclass(function):
            msg = (
                f"policy {name!r}: {function.__name__} is a class; give a function, or an"
                f" instance: {function.__name__}(...)"
            )
            raise PolicyError(msg)
        if not callable(function):
            msg = (
                f"policy {name!r} is {_kind(function)}, which cannot be called;"
                " expected a callable from a prompt to text"
            )
            raise PolicyError(msg)
        parameter = _parameter(function, name)
        return cls(
            name=name,
            takes_conversation=parameter is not None and _takes_prompt(function, parameter),
            function=function,
            concurrency=_CONCURRENCY if _is_async(function) else 0,
        )

    def respond(self, prompt: Prompt, *, sample: int) -> Response | Awaitable[Response]:  # noqa: ARG002  # the shape of Policy
        """Call the function; raises InvalidResponseError for what is no response."""
        result = self.function(prompt if self.takes_conversation else prompt.text)
        if type(result) is str:
            return Response(text=result)
        if isinstance(result, str | Response):
            return self._response(result)
        if inspect.isawaitable(result):
            return self._awaited(result)
        return self._response(result)

    async def _awaited(self, result: Awaitable[object]) -> Response:
        return self._response(await result)

    def _response(self, result: object) -> Response:
        if isinstance(result, str):
            return Response(text=str.__str__(result))  # a subclass may hold anything
        if not isinstance(result, Response):
            raise InvalidResponseError(
                f"policy {self.name!r} returned {_kind(result)}; expected str or Response"
                + _hint(result)
            )
        if not isinstance(result.text, str):
            msg = (
                f"policy {self.name!r} returned a Response whose text is {_kind(result.text)};"
                ' expected str ("" for no text)'
            )
            raise InvalidResponseError(msg)
        confidence: object = result.confidence
        if confidence is not None and not (
            isinstance(confidence, int | float) and 0 <= confidence <= 1
        ):
            msg = (
                f"policy {self.name!r} returned a Response whose confidence is"
                f" {_kind(confidence)}; expected a number from 0 to 1, or None"
            )
            raise InvalidResponseError(msg)
        return result


def policy_from(thing: object, *, name: str) -> Policy:
    """Return `thing` itself if it has the shape of `Policy`, else wrap it as a function."""
    try:
        if isinstance(thing, Policy) and not inspect.isclass(thing):
            return thing
        return FunctionPolicy.of(thing, name=name)
    except PolicyError:
        raise
    except Exception as error:  # an object may run anything where it is looked at
        msg = f"policy {name!r} cannot be looked at: {foreign.describe(error)}"
        raise PolicyError(msg) from error


def threads_of(thing: object, *, name: str) -> int:
    """Return how many threads may call `thing` at a time, as its `refusal_threads` says; else 0.

    Raises PolicyError for what is no number of threads.
    """
    try:
        told = inspect.getattr_static(getattr(thing, "__func__", thing), "refusal_threads", 0)
    except Exception:  # somebody else's code looks for attributes
        return 0
    if type(told) is not int or not 0 <= told <= _MOST_THREADS:
        msg = f"policy {name!r}: refusal_threads must be a number from 0 to {_MOST_THREADS}"
        raise PolicyError(msg)
    return told


def _parameter(function: Callable[..., object], name: str) -> inspect.Parameter | None:
    """Find the parameter that takes the prompt; None if the function does not say."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return None
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    needed = [
        p.name
        for p in [*positional[1:], *(p for p in parameters if p.kind is p.KEYWORD_ONLY)]
        if p.default is p.empty
    ]
    if needed:
        msg = (
            f"policy {name!r} needs more than the prompt: {', '.join(needed)};"
            " give defaults, or functools.partial with the values"
        )
        raise PolicyError(msg)
    if positional:
        return positional[0]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    msg = f"policy {name!r} takes no positional argument; it must take the prompt"
    raise PolicyError(msg)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _takes_prompt(function: Callable[..., object], parameter: inspect.Parameter) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if not (inspect.isroutine(function)):
        function = type(function).__call__
    try:
        annotation = typing.get_type_hints(function).get(parameter.name)
    except Exception:  # evaluates foreign annotations; the text is left to read
        annotation = parameter.annotation
    if isinstance(annotation, str):
        return _names_prompt(annotation)
    members = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    return Prompt in members


def _is_async(function: Callable[..., object]) -> bool:
    call = getattr(type(function), "__call__", None)  # noqa: B004  # its own, not the metaclass's
    try:
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
    except TypeError:  # a mock has every attribute, and none of them is what it should be
        return False


def _is_union(annotation: object) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _names_prompt(annotation: str) -> bool:
    """Whether an annotation that could not be evaluated is `Prompt`, or a union with it."""
    text = annotation.strip("\"' ")
    if text.startswith(("Optional[", "typing.Optional[")) and text.endswith("]"):
        text = text[text.index("[") + 1 : -1]
    return any(part.strip("\"' ").split(".")[-1] == "Prompt" for part in text.split("|"))


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _hint(result: object) -> str:
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        return " (join the pieces of a stream first)"
    return ""
