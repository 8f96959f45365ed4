"""A server that speaks the rerank protocols of Cohere, Voyage and TEI over HTTP, and answers what a test scripts."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Score = Callable[[str, str], float]


@dataclass
class ScriptedReranker:
    """`score` gives the score of a query and a text; `answer`, where set, is sent instead, with `status`."""

    score: Score = lambda query, text: 1.0 if "harbour" in text else 0.25
    status: int = 200
    answer: Any = None
    hangs: bool = False
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def answered(self, request: dict[str, Any]) -> Any:
        """The answer in the protocol of the request."""
        if self.answer is not None:
            return self.answer
        texts = request.get("documents", request.get("texts"))
        scores = [self.score(request["query"], text) for text in texts]
        places = sorted(range(len(texts)), key=lambda place: -scores[place])
        if "texts" in request:
            return [{"index": place, "score": scores[place]} for place in places]
        name = "data" if "top_k" in request else "results"
        return {name: [{"index": place, "relevance_score": scores[place]} for place in places]}


@contextmanager
def reranking(**scripted: Any) -> Iterator[ScriptedReranker]:
    """A running server on a free port."""
    told = ScriptedReranker(**scripted)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
            if told.hangs:
                told.released.wait()
            answer = json.dumps(told.answered(body)).encode()
            self.send_response(told.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told.base_url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield told
        finally:
            told.released.set()
            server.shutdown()
            thread.join()
