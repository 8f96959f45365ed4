"""One answer of a scripted model in each protocol: OpenAI's two, and Anthropic's, Gemini's, Bedrock's, Ollama's."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Vectors = Sequence[Sequence[float]]


def _openai(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": _base64(vector) if packed else list(vector)}
        for place, vector in enumerate(vectors)
    ]
    return {"object": "list", "model": model, "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _gemini(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"embeddings": [{"values": list(vector)} for vector in vectors]}


def _cohere(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    made = [list(vector) for vector in vectors]
    return {
        "id": "emb",
        "embeddings": {"float": made},
        "texts": body["texts"],
        "meta": {"api_version": {"version": "2"}},
    }


def _titan(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"embedding": list(vectors[0]) if vectors else [], "inputTextTokenCount": 1}


EMBEDDINGS: Mapping[str, Callable[[Vectors, str, Mapping[str, Any]], dict[str, Any]]] = MappingProxyType(
    {"/embeddings": _openai, ":batchEmbedContents": _gemini, "/embed": _cohere, "/invoke": _titan}
)
"""The body of an answer, by the end of the requested path."""


def texts_of(body: Mapping[str, Any]) -> list[str]:
    """Return the texts to embed of a request."""
    if "requests" in body:
        return ["".join(part["text"] for part in one["content"]["parts"]) for one in body["requests"]]
    given = body.get("input", body.get("texts", body.get("inputText", [])))
    return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Answer of the model to its request `number`: text (`cut_off`: up to its limit of tokens), the call of a `tool`,
    or (`silent`) no answer at all. `tokens` are those of input and output.
    """

    number: int
    model: str
    content: str | None
    filtered: bool = False
    silent: bool = False
    cut_off: bool = False
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tokens: tuple[int, int] = (7, 5)

    @property
    def call_id(self) -> str:
        """The name of the call that a tool's result refers to."""
        return f"call_{self.number}"


def chat_completion(said: Said) -> dict[str, Any]:
    """Return the body of `/v1/chat/completions`."""
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    finish = "content_filter" if said.filtered else "length" if said.cut_off else "stop"
    if said.tool is not None:
        function = {"name": said.tool, "arguments": json.dumps(dict(said.arguments))}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": said.call_id, "type": "function", "function": function}],
        }
        finish = "tool_calls"
    spent, made = said.tokens
    return {
        "id": f"chatcmpl-{said.number}",
        "object": "chat.completion",
        "created": 0,
        "model": said.model,
        "choices": [] if said.silent else [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": spent, "completion_tokens": made, "total_tokens": spent + made},
    }


def response(said: Said) -> dict[str, Any]:
    """Return the body of `/v1/responses`."""
    text = {"type": "output_text", "text": said.content or "", "annotations": []}
    item: dict[str, Any] = {"type": "message", "role": "assistant", "status": "completed", "content": [text]}
    if said.tool is not None:
        arguments = json.dumps(dict(said.arguments))
        item = {"type": "function_call", "call_id": said.call_id, "name": said.tool, "arguments": arguments}
    spent, made = said.tokens
    return {
        "id": f"resp_{said.number}",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if said.cut_off else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if said.cut_off else None,
        "model": said.model,
        "output": [] if said.silent else [{"id": f"item_{said.number}", **item}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": spent + made,
        },
    }


def message(said: Said) -> dict[str, Any]:
    """Return the body of `/v1/messages`."""
    block: dict[str, Any] = {"type": "text", "text": said.content or ""}
    if said.tool is not None:
        block = {"type": "tool_use", "id": said.call_id, "name": said.tool, "input": dict(said.arguments)}
    spent, made = said.tokens
    return {
        "id": f"msg_{said.number}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [] if said.silent else [block],
        "stop_reason": "tool_use" if said.tool else "max_tokens" if said.cut_off else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": spent, "output_tokens": made},
    }


def generated_content(said: Said) -> dict[str, Any]:
    """Return the body of Gemini's `:generateContent`."""
    part: dict[str, Any] = {"text": said.content or ""}
    if said.tool is not None:
        part = {"functionCall": {"name": said.tool, "args": dict(said.arguments)}}
    spent, made = said.tokens
    finish = "SAFETY" if said.filtered else "MAX_TOKENS" if said.cut_off else "STOP"
    parts = [] if said.filtered else [part]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": finish}
    return {
        "candidates": [] if said.silent else [candidate],
        "modelVersion": said.model,
        "responseId": f"gen_{said.number}",
        "usageMetadata": {"promptTokenCount": spent, "candidatesTokenCount": made, "totalTokenCount": spent + made},
    }


def bedrock_answer(said: Said) -> dict[str, Any]:
    """Return the body of Bedrock's `/converse`."""
    block: dict[str, Any] = {"text": said.content or ""}
    if said.tool is not None:
        block = {"toolUse": {"toolUseId": said.call_id, "name": said.tool, "input": dict(said.arguments)}}
    spent, made = said.tokens
    stop = "content_filtered" if said.filtered else "max_tokens" if said.cut_off else "end_turn"
    stop = stop if said.tool is None else "tool_use"
    return {
        "output": {"message": {"role": "assistant", "content": [] if said.silent or said.filtered else [block]}},
        "stopReason": stop,
        "usage": {"inputTokens": spent, "outputTokens": made, "totalTokens": spent + made},
        "metrics": {"latencyMs": 1},
    }


def ollama_chat(said: Said) -> dict[str, Any]:
    """Return the body of Ollama's `/api/chat`."""
    message: dict[str, Any] = {"role": "assistant", "content": said.content or ""}
    if said.tool is not None:
        message = {"role": "assistant", "content": ""}
        message["tool_calls"] = [{"function": {"name": said.tool, "arguments": dict(said.arguments)}}]
    spent, made = said.tokens
    counts = {"prompt_eval_count": spent, "eval_count": made}
    head = {"model": said.model, "created_at": "2026-01-01T00:00:00Z", "done": True}
    head["done_reason"] = "length" if said.cut_off else "stop"
    return {**head, "message": {} if said.silent else message, **counts}


PROTOCOLS: Mapping[str, Callable[[Said], dict[str, Any]]] = MappingProxyType(
    {
        "/chat/completions": chat_completion,
        "/responses": response,
        "/messages": message,
        ":generateContent": generated_content,
        "/converse": bedrock_answer,
        "/api/chat": ollama_chat,
    }
)
"""The body of an answer, by the end of the requested path."""


def said_by(role: str, body: Mapping[str, Any]) -> str:
    """Return the text of the last message of `role` in a request, or nothing."""
    if role == "system" and (apart := body.get("system", body.get("systemInstruction"))) is not None:
        return _text(apart)
    messages = body.get("messages", body.get("contents", []))
    return next((_text(one) for one in reversed(messages) if one.get("role") == role), "")


def _text(said: Any) -> str:
    """Return the text of a message, or of a part of one, in any of the protocols."""
    if isinstance(said, str):
        return said
    if isinstance(said, list):
        return "".join(map(_text, said))
    return _text(said.get("content", said.get("parts", said.get("text", "")))) if isinstance(said, Mapping) else ""


def streamed_answer(body: Mapping[str, Any]) -> bytes:
    """Return a chat completion as server-sent events: all of it in one chunk, the reason why it ended, and the end
    marker. Bodies of `/v1/messages` and `/v1/responses` are sent as the events of these protocols.
    """
    own = {"message": message_events, "response": response_events}.get(body.get("type") or body["object"])
    if own is not None:
        return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in own(body))
    head = {**body, "object": "chat.completion.chunk"}
    spent = head.pop("usage")
    chunks = []
    for choice in body["choices"]:
        delta = dict(choice["message"])
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(delta.pop("tool_calls", []))] or None
        chunks.append({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append({**head, "choices": [], "usage": spent})
    return b"".join(f"data: {line}\n\n".encode() for line in [*map(json.dumps, chunks), "[DONE]"])


def message_events(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a streamed `/v1/messages`, each block in one piece."""
    spent = body["usage"]
    begun = {**body, "content": [], "stop_reason": None, "usage": {**spent, "output_tokens": 0}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": spent["output_tokens"]}}
    yield {"type": "message_stop"}


def response_events(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a streamed `/v1/responses`: each text in two pieces."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**body, "output": []}}]
    for at, item in enumerate(body["output"]):
        events.append({"type": "response.output_item.added", "output_index": at, "item": {**item, "content": []}})
        for place, part in enumerate(item.get("content", [])):
            where = {"item_id": item["id"], "output_index": at, "content_index": place}
            half = len(part["text"]) // 2
            events.append({"type": "response.content_part.added", **where, "part": {**part, "text": ""}})
            pieces = (part["text"][:half], part["text"][half:])
            delta: dict[str, Any] = {"type": "response.output_text.delta", **where, "logprobs": []}
            events += [{**delta, "delta": piece} for piece in pieces]
            events.append({"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []})
            events.append({"type": "response.content_part.done", **where, "part": part})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": "response.completed", "response": body})
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}
