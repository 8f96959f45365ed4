"""Model server for tests: real HTTP on 127.0.0.1 in the protocols of OpenAI, Anthropic, Gemini, Bedrock, Ollama, Cohere
and Voyage, with scripted responses and faults.

with ScriptedModelServer([{"items": []}, Reply.status(429, retry_after="1"), "not JSON"]) as server:
    completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
    ...
    assert server.requests[0].user == "Write updates in English."
"""

from __future__ import annotations

import hashlib
import json
import math
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.model_protocols import EMBEDDINGS, PROTOCOLS, Said, said_by, streamed_answer, texts_of


class Fault(StrEnum):
    """Fault that can occur between a model and its client."""

    HANG = "hang"
    """The request is read and never answered, until the server closes."""
    RESET = "reset"
    """The connection is reset (TCP RST) before any response."""
    BAD_JSON = "bad_json"
    """Status 200 and a body that is not JSON."""
    TRUNCATED = "truncated"
    """The connection ends in the middle of the body."""
    WRONG_TYPE = "wrong_type"
    """A web page instead of JSON, as from a proxy."""
    NO_CHOICES = "no_choices"
    """A well-formed answer with an empty list of choices (or of embeddings)."""
    EMPTY = "empty"
    """A choice without content."""
    CONTENT_FILTER = "content_filter"
    """A choice with content removed by the provider's filter."""
    CUT_OFF = "cut_off"
    """A choice whose content ends at the limit of its tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request as the server received it. `headers` have lower-case names."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)

    @property
    def system(self) -> str:
        """Text of the system message, or nothing."""
        return said_by("system", self.body)

    @property
    def user(self) -> str:
        """Text of the last user message, or nothing."""
        return said_by("user", self.body)

    @property
    def response_format(self) -> str | None:
        """`json_schema`, `json_object`, or None if the request asks for no format."""
        asked = self.body.get("response_format")
        return asked.get("type") if isinstance(asked, dict) else None

    @property
    def texts(self) -> list[str]:
        """Return the texts to embed."""
        return texts_of(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: `content` is the model's text, unless `code` is no 2xx status or a `fault` occurs.

    `body` is the whole body of the response, as JSON or (bytes) as it stands, in the place of one made of the rest.
    With `tool` the model returns no text and calls that tool with `arguments`. `vectors` answer an embedding request;
    None lets the server make them. The answer is sent after `delay`.
    """

    content: str = "{}"
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    code: int = 200
    retry_after: str | None = None
    fault: Fault | None = None
    delay: timedelta = timedelta(0)
    vectors: Sequence[Sequence[float]] | None = None
    input_tokens: int = 7
    output_tokens: int = 5
    error: str = "scripted"
    param: str | None = None
    location: str | None = None
    body: Mapping[str, Any] | bytes | None = None

    @classmethod
    def status(cls, code: int, *, retry_after: str | None = None, param: str | None = None) -> Reply:
        """Return an HTTP error; `param` is the request's parameter that it names as the cause."""
        return cls(code=code, retry_after=retry_after, param=param)

    @classmethod
    def elsewhere(cls, address: str) -> Reply:
        """Return a redirection (307) to the same path at another server, `http://127.0.0.1:41234`."""
        return cls(code=307, location=address)

    @classmethod
    def call(cls, tool: str, **arguments: Any) -> Reply:
        """Return a call of one of the tools that the request offered."""
        return cls(tool=tool, arguments=arguments)

    @classmethod
    def broken(cls, fault: Fault) -> Reply:
        """Return an answer that fails in this way."""
        return cls(fault=fault)


Scripted = Reply | Fault | str | Mapping[str, Any]
"""A reply, a fault, the model's text, or the JSON object the model's text is to be."""

Script = Iterable[Scripted] | Callable[[ModelRequest], Scripted]


class ScriptedModelServer:
    """Speaks `/v1/chat/completions` and `/v1/messages` (both streamed, too), `/v1/responses`, `/v1/embeddings`,
    `/v1/models`, Ollama's `/api/chat`, Gemini's and Bedrock's models and embedders, and Cohere's embedder. Every
    request is recorded in `requests`, in order.

    `chat` (for every way to ask a model) and `embeddings` are played one reply to a request, or are functions of the
    request. A chat script that has ended answers with status 500 (`script_ended`), so that a test notices a call too
    many; without scripted embeddings, each text gets a vector of `dimension` numbers that depends on the text alone.
    Use as a context manager, or call `start` and `close`. Safe to use from several threads; which of two simultaneous
    requests gets the next reply is open.
    """

    def __init__(
        self, chat: Script = (), *, embeddings: Script = (), dimension: int = 384, model: str = "scripted"
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.model = model
        self._chat = _player(chat, Reply(code=500, error="script_ended"))
        self._embeddings = _player(embeddings, Reply())
        self._dimension = dimension
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """Base URL for a client, for example `http://127.0.0.1:41234/v1`."""
        if self._http is None:
            raise RuntimeError("the scripted model server is not running")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def start(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        self._http = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": self}))
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.01,), name="scripted-model", daemon=True
        )
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening and release hanging requests. May be called twice."""
        self._closing.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pause(self, duration: timedelta | None) -> None:
        """Delay a request by `duration`, or for ever (None), until `close` at the latest."""
        self._closing.wait(None if duration is None else duration.total_seconds())

    def next_reply(self, request: ModelRequest) -> Reply:
        """Record `request` and return its scripted response."""
        with self._lock:
            self.requests.append(request)
            player = self._embeddings if request.path.endswith(tuple(EMBEDDINGS)) else self._chat
            return _as_reply(player(request))

    def answer(self, request: ModelRequest, reply: Reply) -> dict[str, Any]:
        """Return the JSON body of a successful answer."""
        if request.path.endswith(tuple(EMBEDDINGS)):
            return self._embedding_answer(request, reply)
        protocol = next(body for path, body in PROTOCOLS.items() if request.path.endswith(path))
        said = Said(
            number=len(self.requests),
            model=self.model,
            content=None if reply.fault in (Fault.EMPTY, Fault.CONTENT_FILTER) else reply.content,
            filtered=reply.fault is Fault.CONTENT_FILTER,
            silent=reply.fault is Fault.NO_CHOICES,
            cut_off=reply.fault is Fault.CUT_OFF,
            tool=reply.tool,
            arguments=reply.arguments,
            tokens=(reply.input_tokens, reply.output_tokens),
        )
        return protocol(said)

    def _embedding_answer(self, request: ModelRequest, reply: Reply) -> dict[str, Any]:
        vectors = reply.vectors
        if vectors is None:
            vectors = [_vector(text, self._dimension) for text in request.texts]
        if reply.fault is Fault.NO_CHOICES:
            vectors = []
        protocol = next(body for path, body in EMBEDDINGS.items() if request.path.endswith(path))
        return protocol(vectors, self.model, request.body)


def _player(script: Script, ended: Reply) -> Callable[[ModelRequest], Scripted]:
    if callable(script):
        return script
    replies = iter(script)
    return lambda _: next(replies, ended)


def _as_reply(scripted: Scripted) -> Reply:
    match scripted:
        case Reply():
            return scripted
        case Fault():
            return Reply(fault=scripted)
        case str():
            return Reply(content=scripted)
        case _:
            return Reply(content=json.dumps(scripted, ensure_ascii=False))


def _vector(text: str, dimension: int) -> list[float]:
    digest = hashlib.shake_128(text.encode("utf-8", "surrogatepass")).digest(2 * dimension)
    values = [number / 32_768 for number in struct.unpack(f"<{dimension}h", digest)]
    length = math.hypot(*values) or 1.0
    return [value / length for value in values]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print no traceback: disconnected clients are expected in these tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: ScriptedModelServer

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._send(
                200, {"object": "list", "data": [{"id": self.script.model, "object": "model", "owned_by": "test"}]}
            )
        else:
            self._send(404, {"error": {"message": "unknown path", "type": "invalid_request_error"}})

    def do_POST(self) -> None:
        request = self._request()
        if request is None or not request.path.endswith((*EMBEDDINGS, *PROTOCOLS)):
            self._send(404, {"error": {"message": "unknown path", "type": "invalid_request_error"}})
            return
        reply = self.script.next_reply(request)
        if reply.delay:
            self.script.pause(reply.delay)
        match reply.fault:
            case Fault.HANG:
                self.script.pause(None)
                self.close_connection = True
            case Fault.RESET:
                self._reset()
            case Fault.BAD_JSON:
                self._send_bytes(200, b'{"choices": [', "application/json")
            case Fault.WRONG_TYPE:
                self._send_bytes(200, b"<html>It works!</html>", "text/html")
            case Fault.TRUNCATED:
                self._truncate(self.script.answer(request, reply))
            case _:
                self._send_reply(request, reply)

    def _request(self) -> ModelRequest | None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            body = json.loads(raw)
        except ValueError:
            return None
        headers = {name.lower(): value for name, value in self.headers.items()}
        return (
            ModelRequest(path=self.path.partition("?")[0], headers=headers, body=body)
            if isinstance(body, dict)
            else None
        )

    def _send_reply(self, request: ModelRequest, reply: Reply) -> None:
        if isinstance(reply.body, bytes):
            self._send_bytes(reply.code, reply.body, "text/event-stream")
        elif reply.body is not None:
            self._send(reply.code, reply.body)
        elif 200 <= reply.code < 300 and request.body.get("stream") is True:
            self._send_bytes(reply.code, streamed_answer(self.script.answer(request, reply)), "text/event-stream")
        elif 200 <= reply.code < 300:
            self._send(reply.code, self.script.answer(request, reply))
        else:
            error = {"message": reply.error, "type": "scripted_error", "param": reply.param, "code": None}
            location = None if reply.location is None else reply.location + self.path
            headers = {"Retry-After": reply.retry_after, "Location": location}
            self._send(reply.code, {"error": error}, {name: value for name, value in headers.items() if value})

    def _send(self, code: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(code, json.dumps(body).encode(), "application/json", headers)

    def _send_bytes(self, code: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _truncate(self, body: object) -> None:
        whole = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        self.wfile.write(whole[: len(whole) // 2])
        self.close_connection = True

    def _reset(self) -> None:
        # A linger time of zero makes close() send RST instead of FIN.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.wfile.close()
        self.rfile.close()
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
        """Print nothing: requests are recorded."""
