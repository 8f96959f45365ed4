"""A search service for tests: the parts of Azure AI Search's REST contract that the index uses, on the loopback.

It reads filters with a parser of its own: a filter that says something else than was meant finds something else.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "a-key-for-tests"
_DOCUMENT_KEY = re.compile(r"[A-Za-z0-9_\-=]{1,1024}")
_PLACE = ("id", "memory_id", "tenant", "level", "owner", "kind", "status")
_FIELDS = frozenset(
    {*_PLACE, "key", "category", "content", "context", "happened_at", "expires_at", "version", "vector"}
)
_TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+)|(?P<word>[A-Za-z_]\w*)|(?P<mark>[()]))")

Test = Callable[[dict[str, Any]], bool]


class BadFilter(ValueError):
    pass


class Filter:
    """`or` binds weaker than `and`, `and` than `not`; a comparison is `field op literal`, op eq, ge, gt or lt."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._place = 0
        self.test = self._either()
        if self._place != len(self._tokens):
            raise BadFilter

    def _next(self) -> tuple[str, str]:
        if self._place == len(self._tokens):
            raise BadFilter
        self._place += 1
        return self._tokens[self._place - 1]

    def _take(self, value: str) -> bool:
        if self._place < len(self._tokens) and self._tokens[self._place][1] == value:
            self._place += 1
            return True
        return False

    def _either(self) -> Test:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return lambda document: any(part(document) for part in parts)

    def _both(self) -> Test:
        parts = [self._single()]
        while self._take("and"):
            parts.append(self._single())
        return lambda document: all(part(document) for part in parts)

    def _single(self) -> Test:
        if self._take("not"):
            inner = self._single()
            return lambda document: not inner(document)
        if self._take("("):
            inside = self._either()
            if not self._take(")"):
                raise BadFilter
            return inside
        if self._take("false"):
            return lambda document: False
        return self._comparison()

    def _comparison(self) -> Test:
        (sort, field), (_, operator), literal = self._next(), self._next(), self._next()
        if sort != "word" or field not in _FIELDS:
            raise BadFilter
        value = _literal(*literal)
        tests: dict[str, Test] = {
            "eq": lambda document: document[field] == value,
            "ge": lambda document: document[field] is not None and document[field] >= value,
            "gt": lambda document: document[field] is not None and document[field] > value,
            "lt": lambda document: document[field] is not None and document[field] < value,
        }
        if operator not in tests:
            raise BadFilter
        return tests[operator]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if found is None:
            raise BadFilter
        place = found.end()
        assert found.lastgroup is not None
        yield found.lastgroup, found[found.lastgroup]


def _literal(sort: str, told: str) -> Any:
    if sort == "text":
        return told[1:-1].replace("''", "'")
    if sort == "number":
        return int(told)
    if told == "null":
        return None
    raise BadFilter


class AzureSearchServer:
    """`start`, then `endpoint`, and in the end `stop`. `status` answers everything with that code; documents of the
    memories in `refused` are refused one by one.
    """

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.refused: set[str] = set()
        self.status: int | None = None
        self.indexes: dict[str, dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def index(self, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self._indexed(action) for action in actions]

    def _indexed(self, action: dict[str, Any]) -> dict[str, Any]:
        key, what = action["id"], action.pop("@search.action")
        known = self.documents.get(key)
        code = 200
        if not _DOCUMENT_KEY.fullmatch(key) or action.get("memory_id") in self.refused:
            code = 422
        elif what == "delete":
            self.documents.pop(key, None)
        elif what == "upload" and action.keys() == _FIELDS:
            self.documents[key] = action
            code = 200 if known else 201
        else:
            code = 400
        done = code < 300
        return {"key": key, "status": done, "errorMessage": None if done else "refused", "statusCode": code}

    def search(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        self.asked.append(asked)
        test = Filter(asked["filter"]).test
        accepted = [document for document in self.documents.values() if test(document)]
        words, vectors = asked.get("search"), asked.get("vectorQueries") or []
        if words == "*" or (words is None and not vectors):
            return [document | {"@search.score": 1.0} for document in accepted][: asked["top"]]
        rankings = [] if words is None else [_by_words(accepted, words)]
        rankings += [_by_vector(accepted, query["vector"], query["k"]) for query in vectors]
        scores: dict[str, float] = {}
        for ranking in rankings:
            for place, key in enumerate(ranking):
                scores[key] = scores.get(key, 0.0) + 1 / (60 + place)
        best = sorted(scores, key=lambda key: scores[key], reverse=True)[: asked["top"]]
        return [self.documents[key] | {"@search.score": scores[key]} for key in best]

    def answer(self, path: str, key: str | None, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.status is not None:
            return self.status, {"error": {"code": "down", "message": "as the test wants it"}}
        if key != KEY:
            return 403, {"error": {"code": "denied", "message": "no such key"}}
        if path == "/indexes":
            self.indexes[body["name"]] = body
            return 201, body
        if path.startswith("/indexes('") and path.endswith("')"):
            known = self.indexes.get(path[10:-2])
            return (200, known) if known else (404, {"error": {"code": "missing", "message": "no such index"}})
        if path.startswith("/indexes('") and path[10:].partition("')")[0] not in self.indexes:
            return 404, {"error": {"code": "missing", "message": "no such index"}}
        if path.endswith("/docs/search.index"):
            results = self.index(body["value"])
            return (200 if all(each["status"] for each in results) else 207), {"value": results}
        if path.endswith("/docs/search.post.search"):
            try:
                return 200, {"value": self.search(body)}
            except BadFilter:
                return 400, {"error": {"code": "InvalidFilter", "message": "it cannot be read"}}
        return 404, {"error": {"code": "missing", "message": path}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def do_GET(self) -> None:
                self._answer({})

            def _answer(self, body: dict[str, Any]) -> None:
                code, told = service.answer(self.path.partition("?")[0], self.headers.get("api-key"), body)
                data = json.dumps(told).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        return Handler


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _by_words(documents: list[dict[str, Any]], query: str) -> list[str]:
    shared = {each["id"]: len(_words(query) & _words(f"{each['content']} {each['context']}")) for each in documents}
    return sorted((key for key, count in shared.items() if count), key=lambda key: -shared[key])


def _by_vector(documents: list[dict[str, Any]], vector: list[float], count: int) -> list[str]:
    near = {each["id"]: _dot(each["vector"], vector) for each in documents if each["vector"]}
    return sorted(near, key=lambda key: -near[key])[:count]


def _dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
