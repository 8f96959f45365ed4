"""A language model called with its vendor's client by way of Pydantic AI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from mnemic.errors import InvalidConfig, ModelEmpty
from mnemic.models.clients import ClientPerLoop, OpenModel
from mnemic.models.failures import call_failed
from mnemic.models.openai_client import CallFailed, FailureCause
from mnemic.models.openai_completer import SpokenOnce, ask_simplifying, model_error, plain_json
from mnemic.types import Completion, Deadline, Prompt

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

TIMEOUT_SECONDS = 60.0


class VendorCompleter:
    """Asks for one JSON object at temperature 0 and without thinking, with the prompt's schema if the model accepts
    one. `make` opens the client and is called once for each event loop.

    If a model refuses a schema or the temperature, the call is repeated without it at once, and the refusal is cached.
    One call takes at most `timeout` seconds and ends before its deadline. There are no retries here: see
    `mnemic.providers.retrying.RetryingCompleter`.

    Calls raise MissingExtra if the client is not installed, ModelTimeout, ModelUnavailable (`llm_unavailable:auth` for
    a refused key), or ModelEmpty. Requests and answers never appear in an error or a log.
    """

    reads_files = True

    def __init__(self, model: str, make: Callable[[], OpenModel[Model]], *, timeout: float = TIMEOUT_SECONDS) -> None:
        if not 0 < timeout < float("inf"):
            raise InvalidConfig("timeout", hint="seconds, more than 0")
        self._model, self._timeout = model, timeout
        self._clients: ClientPerLoop[Model] = ClientPerLoop(make)
        self._options = _Options()

    @property
    def model(self) -> str:
        """The model's name, without its vendor."""
        return self._model

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """One completion; see `mnemic.ports.Completer`."""
        if self._clients.closed:
            raise model_error(CallFailed(FailureCause.REFUSED, "closed"), calls=0)
        model = await self._clients.get()
        told = SpokenOnce(prompt)
        with told.guard():
            answer, self._options = await ask_simplifying(
                prompt, self._options, lambda one: self._ask(model, told.prompt, one, deadline)
            )
        return answer

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._clients.close()

    async def _ask(self, model: Model, prompt: Prompt, options: _Options, deadline: Deadline) -> Completion:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import (
            BinaryContent,
            CachePoint,
            ModelRequest,
            ModelResponse,
            SystemPromptPart,
            TextPart,
            UserPromptPart,
        )

        seconds = min(self._timeout, deadline.remaining())
        if seconds <= 0:
            raise CallFailed(FailureCause.TIMEOUT, "no time left for a call")
        turns: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(prompt.system)])]
        turns += [
            ModelRequest(parts=[UserPromptPart(text)]) if role == "user" else ModelResponse(parts=[TextPart(text)])
            for role, text in prompt.before
        ]
        # What was said before stays the same in the next turn, and the memories beside the message do not.
        said: list[str | BinaryContent | CachePoint] = [CachePoint()] if prompt.before else []
        said += [BinaryContent(file.content, media_type=file.media) for file in prompt.files]
        said.append(prompt.user)
        turns.append(ModelRequest(parts=[UserPromptPart(said)]))
        settings = _settings(model, prompt, temperature=options.temperature)
        parameters = _parameters(model, prompt, schema=options.schema)
        try:
            # The client's timeout bounds each read; a server that drips bytes would outlive it.
            async with asyncio.timeout(seconds):
                if prompt.tell is None:
                    answer = await model_request(
                        model, turns, model_settings=settings, model_request_parameters=parameters
                    )
                else:
                    answer = await _gather_pieces(model, turns, settings, parameters, prompt.tell)
        except Exception as error:  # noqa: BLE001 - the vendors' clients raise classes of many kinds
            raise call_failed(error) from None
        return _completion(answer, self._model)


async def _gather_pieces(
    model: Model,
    turns: list[ModelMessage],
    settings: ModelSettings,
    parameters: ModelRequestParameters,
    tell: Callable[[str], None],
) -> ModelResponse:
    """Give each piece of a streamed answer to `tell`, and return the whole."""
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    asked = model_request_stream(model, turns, model_settings=settings, model_request_parameters=parameters)
    async with asked as stream:
        async for event in stream:
            piece = ""
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                piece = event.part.content
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                piece = event.delta.content_delta
            if piece:
                tell(piece)
        return stream.get()


@dataclass(frozen=True, slots=True)
class _Options:
    """Options that a model understands: assumed at first, learnt from its refusals."""

    schema: bool = True
    temperature: bool = True

    def simplify_after(self, about: str, prompt: Prompt) -> _Options | None:
        """Return the next plainer options after an error that mentions `about`; None if nothing can be dropped."""
        if self.temperature and "temperature" in about:
            return replace(self, temperature=False)
        return replace(self, schema=False) if self.schema and prompt.schema is not None else None


def _settings(model: Model, prompt: Prompt, *, temperature: bool) -> ModelSettings:
    from pydantic_ai.settings import CacheConfig, ModelSettings

    # The instructions stay the same from call to call; Anthropic and Bedrock cache only what is marked.
    settings = ModelSettings(thinking=False, max_tokens=prompt.max_output_tokens, cache=CacheConfig(messages=False))
    fixed = model.profile.get("anthropic_disallows_sampling_settings", False) or (
        model.profile.get("openai_supports_reasoning", False)
        and not model.profile.get("openai_supports_reasoning_effort_none", False)
    )
    return cast("ModelSettings", {**settings, "temperature": 0.0}) if temperature and not fixed else settings


def _parameters(model: Model, prompt: Prompt, *, schema: bool) -> ModelRequestParameters:
    """Return the request's schema, if the model is known to accept one."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not schema or prompt.schema is None or not model.profile.get("supports_json_schema_output", False):
        return ModelRequestParameters()
    described = OutputObjectDefinition(json_schema=_one_type_each(plain_json(prompt.schema)), name=prompt.schema_name)
    return ModelRequestParameters(output_mode="native", output_object=described)


def _one_type_each(schema: Any) -> Any:
    """Return the schema with `anyOf` for each list of types, on which Anthropic's client fails."""
    if isinstance(schema, list):
        return [_one_type_each(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: _one_type_each(value) for name, value in schema.items()}
    if not isinstance(types := inner.get("type"), list):
        return inner
    rest = {name: value for name, value in inner.items() if name != "type"}
    return {"anyOf": [{"type": one} if one == "null" else {"type": one, **rest} for one in types]}


def _completion(answer: ModelResponse, model: str) -> Completion:
    from pydantic_ai.messages import TextPart

    tokens = {"input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens}
    text = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
    if not text.strip():
        error = ModelEmpty()
        error.paid = {**tokens, "calls": 1}
        error.permanent = answer.finish_reason == "content_filter"
        raise error
    truncated = answer.finish_reason == "length"
    return Completion(text=text, model=answer.model_name or model, truncated=truncated, **tokens)
