"""Language model over OpenAI's chat protocol: OpenAI itself, or Ollama, vLLM, a llama.cpp server by `base_url`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from mnemic.errors import ModelEmpty, ModelFailed, ModelTimeout, ModelUnavailable
from mnemic.models.openai_client import CallFailed, FailureCause, OpenAIClient
from mnemic.types import AttachedFile, Completion, Deadline, JsonValue, Prompt

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TIMEOUT_SECONDS = 60.0
_BOUNDS = ("maxItems", "minItems", "maxLength", "minimum", "maximum")
"""Keywords of a schema that some servers reject, naming them in the error."""

_AUDIO_FORMS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav"}
"""The protocol's names for media types of sound."""

Taken = TypeVar("Taken", bound="Options")


class OpenAICompleter:
    """Requests one JSON object at temperature 0, with the prompt's schema if the server accepts one.

    If a server refuses a schema's bounds (of texts, lists and numbers), a schema, a JSON mode, the temperature or the
    name of the token limit with status 400 or 422, the request is repeated without it at once, and the accepted options
    are remembered. One call takes at most `timeout` seconds and ends before its deadline. There are no retries here:
    see `RetryingCompleter`.

    Calls raise InvalidConfig (`invalid_config:openai`) if the `openai` package is absent, ModelTimeout,
    ModelUnavailable (`llm_unavailable:auth` for a refused key), or ModelEmpty for no choice, no content or a content
    filter. Requests and responses never appear in errors or logs.
    """

    reads_files = True

    def __init__(
        self, model: str, base_url: str | None = None, api_key: str | None = None, *, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self._model = model
        self._client = OpenAIClient(base_url=base_url, api_key=api_key, timeout=timeout)
        self._dialect = _Dialect()

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return the answer of the server; see `mnemic.ports.Completer`."""
        told = SpokenOnce(prompt)
        with told.guard():
            answer, self._dialect = await ask_simplifying(
                prompt, self._dialect, lambda one: self._ask(told.prompt, one, deadline)
            )
        return answer

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._client.close()

    async def _ask(self, prompt: Prompt, dialect: _Dialect, deadline: Deadline) -> Completion:
        turns = (("system", prompt.system), *prompt.before, ("user", prompt.user))
        messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in turns]
        if prompt.files:
            messages[-1]["content"] = [*map(_part_of, prompt.files), {"type": "text", "text": prompt.user}]
        options = dialect.options(prompt)

        async def request(client: AsyncOpenAI, seconds: float) -> object:
            create: Any = client.chat.completions.create  # its overloads do not take options made at run time
            answer = await create(model=self._model, messages=messages, timeout=seconds, **options)
            return await _gather_pieces(answer, prompt.tell) if prompt.tell and dialect.streams else answer

        return _completion(await self._client.call(request, deadline), self._model)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dialect:
    """Options that a server understands: assumed at first, learnt from its refusals."""

    bounds: bool = True
    schema: bool = True
    json_mode: bool = True
    temperature: bool = True
    streams: bool = True
    limit_name: str = "max_tokens"

    def options(self, prompt: Prompt) -> dict[str, object]:
        options: dict[str, object] = {self.limit_name: prompt.max_output_tokens}
        if self.temperature:
            options["temperature"] = 0
        if self.streams and prompt.tell is not None:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.schema and prompt.schema is not None:
            schema = plain_json(prompt.schema)
            schema = schema if self.bounds else _drop_bounds(schema)
            described = {"name": prompt.schema_name, "schema": schema, "strict": _is_strict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif self.json_mode and not (prompt.may_be_prose and prompt.schema is None):
            options["response_format"] = {"type": "json_object"}
        return options

    def simplify_after(self, about: str, prompt: Prompt) -> _Dialect | None:
        """Return the next simpler dialect after an error that mentions `about`; None if nothing can be dropped."""
        if self.limit_name in about and self.limit_name == "max_tokens":
            return replace(self, limit_name="max_completion_tokens")
        if self.temperature and "temperature" in about:
            return replace(self, temperature=False)
        if self.streams and prompt.tell is not None and "stream" in about:
            return replace(self, streams=False)
        if self.schema and prompt.schema is not None:
            if self.bounds and any(bound in about for bound in _BOUNDS):
                return replace(self, bounds=False)
            return replace(self, schema=False)
        return replace(self, json_mode=False) if self.json_mode else None


def _part_of(file: AttachedFile) -> dict[str, Any]:
    """Return a file as a part of a message in OpenAI's protocol."""
    data = f"data:{file.media};base64,{file.base64}"
    family, _, form = file.media.partition("/")
    if family == "image":
        return {"type": "image_url", "image_url": {"url": data}}
    if family == "audio":
        form = _AUDIO_FORMS.get(form, form)
        return {"type": "input_audio", "input_audio": {"data": file.base64, "format": form}}
    return {"type": "file", "file": {"filename": file.name or "file", "file_data": data}}


def plain_json(value: JsonValue | Mapping[str, JsonValue] | None) -> Any:
    """Return JSON data as the dicts and lists that a serialiser takes."""
    if isinstance(value, Mapping):
        return {key: plain_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_json(item) for item in value]
    return value


def _drop_bounds(schema: Any) -> Any:
    """Return the schema without bounds of texts, lists and numbers."""
    if isinstance(schema, list):
        return [_drop_bounds(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _drop_bounds(value) for name, value in schema.items() if name not in _BOUNDS}


def _is_strict(schema: object) -> bool:
    """Return True if OpenAI's strict mode takes the schema: every object closed, all of its properties required."""
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties or ()):
            return False
    return all(map(_is_strict, schema.values()))


async def _gather_pieces(stream: Any, tell: Callable[[str], None]) -> object:
    """Give each piece of a streamed answer to `tell`, and return the whole as an answer; also one that a server gives
    in one piece though it was asked for a stream.
    """
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion

    if "event-stream" not in stream.response.headers.get("content-type", "event-stream"):
        body = json.loads(await stream.response.aread())
        return ChatCompletion.construct(**body) if isinstance(body, dict) else None
    parts: list[str] = []
    usage: CompletionUsage | None = None
    ended, named = "stop", ""
    async for chunk in stream:
        usage, named = chunk.usage or usage, chunk.model or named
        for choice in chunk.choices[:1]:
            ended = choice.finish_reason or ended
            if choice.delta is not None and choice.delta.content:
                parts.append(choice.delta.content)
                tell(choice.delta.content)
    message = {"role": "assistant", "content": "".join(parts)}
    choices: Any = [{"index": 0, "finish_reason": ended, "message": message}]
    fields: dict[str, Any] = {"id": "", "object": "chat.completion", "created": 0, "model": named, "usage": usage}
    return ChatCompletion.model_validate({**fields, "choices": choices})


class SpokenOnce:
    """A prompt whose answer is not asked for again once a part of it was told: it cannot be unsaid."""

    def __init__(self, prompt: Prompt) -> None:
        self._tell, self._begun = prompt.tell, False
        self.prompt = prompt if prompt.tell is None else replace(prompt, tell=self._pass_on)

    def _pass_on(self, piece: str) -> None:
        self._begun = True
        if self._tell is not None:
            self._tell(piece)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Make a failure inside the block permanent if a part was told."""
        try:
            yield
        except ModelFailed as failure:
            failure.permanent = failure.permanent or self._begun
            raise


def _completion(answer: object, model: str) -> Completion:
    from openai.types.chat import ChatCompletion

    if not isinstance(answer, ChatCompletion):
        raise model_error(CallFailed(FailureCause.RESPONSE, "not an answer in OpenAI's format"))
    usage = answer.usage
    tokens = {
        "input_tokens": getattr(usage, "prompt_tokens", None) or 0,
        "output_tokens": getattr(usage, "completion_tokens", None) or 0,
    }
    choice = answer.choices[0] if answer.choices else None
    message = getattr(choice, "message", None)
    text = _text_of(message)
    if not text.strip():
        error = ModelEmpty()
        error.paid = tokens
        error.permanent = getattr(choice, "finish_reason", None) == "content_filter" or bool(
            getattr(message, "refusal", None)
        )
        raise error
    truncated = getattr(choice, "finish_reason", None) == "length"
    return Completion(text=text, model=answer.model or model, truncated=truncated, **tokens)


def _text_of(message: object) -> str:
    """Return the text of an answer: its content, also in parts, else the arguments of a call, else the reasoning that
    some servers put it into.
    """
    content = getattr(message, "content", None)
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if isinstance(content, str) and content.strip():
        return content
    for call in getattr(message, "tool_calls", None) or ():
        arguments = getattr(getattr(call, "function", None), "arguments", None)
        if isinstance(arguments, str) and arguments.strip():
            return arguments
    reasoning = getattr(message, "reasoning_content", None)
    return reasoning if isinstance(reasoning, str) else ""


class Options(Protocol):
    """Options of a request that some servers refuse."""

    def simplify_after(self, about: str, prompt: Prompt) -> Self | None:
        """Return the next simpler options after an error that mentions `about`; None if nothing can be dropped."""


async def ask_simplifying(
    prompt: Prompt, options: Taken, ask: Callable[[Taken], Awaitable[Completion]]
) -> tuple[Completion, Taken]:
    """Ask with `options`, after each refusal with the next simpler ones; return the answer and the accepted options.
    Only these are remembered, as a refusal may concern the prompt. Raises ModelFailed with the number of requests.
    """
    refused = 0
    while True:
        try:
            answer = await ask(options)
        except CallFailed as failure:
            simpler = options.simplify_after(failure.about, prompt) if failure.trouble is FailureCause.REFUSED else None
            if simpler is None:
                raise model_error(failure, calls=refused + failure.sent) from None
            options, refused = simpler, refused + 1
        except ModelFailed as failure:
            failure.paid = {**failure.paid, "calls": refused + 1}
            raise
        else:
            return replace(answer, calls=refused + 1), options


def model_error(failure: CallFailed, *, calls: int = 1) -> ModelFailed:
    """Return the error of a language model for a call that failed."""
    error: ModelFailed
    if failure.trouble is FailureCause.TIMEOUT:
        error = ModelTimeout(hint=failure.hint)
    else:
        error = ModelUnavailable("auth" if failure.trouble is FailureCause.AUTH else None, hint=failure.hint)
    error.paid = {"calls": calls}
    error.permanent = failure.permanent
    error.retry_after = failure.retry_after
    return error
