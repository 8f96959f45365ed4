"""What the frameworks' own tests run on: `MNEMIC_CONFORMANCE` is sqlite (the default) or postgres, and with
`MNEMIC_CONFORMANCE_MODEL` a language model reads along, which quotes whatever the user says.
"""

from __future__ import annotations

import atexit
import json
import os
from functools import cache
from typing import Any

from tests.scripted_model import ModelRequest, ScriptedModelServer
from tests.servers import PostgresServer

ON_POSTGRES = os.environ.get("MNEMIC_CONFORMANCE", "sqlite") == "postgres"


@cache
def server() -> PostgresServer:
    """A server of this process's own, until it ends. Whoever wants an empty store takes a tenant of its own."""
    server = PostgresServer("fsync=off", "max_connections=200")
    atexit.register(server.stop)
    server.start()
    return server


def _quote_all(request: ModelRequest) -> dict[str, Any]:
    asked = json.loads(request.user) if request.user.startswith("{") else {}
    turns = asked.get("turns") or [{"number": 0, "content": asked.get("user_message", "")}]
    read = [one for one in turns if one["number"] in asked.get("readable", [0])]
    common = {"op": "add", "id": None, "subject": "me", "holds": "now", "category": "fact", "key": None}
    return {
        "items": [{**common, "turn": one["number"], "quote": one["content"], "value": one["content"]} for one in read]
    }


@cache
def read_along() -> None:
    """Set a language model for whatever is opened from now on, if the tests are to have one."""
    if os.environ.get("MNEMIC_CONFORMANCE_MODEL"):
        model = ScriptedModelServer(_quote_all).start()
        atexit.register(model.close)
        os.environ.update(MNEMIC_MODEL="scripted", MNEMIC_MODEL_URL=model.base_url, MNEMIC_API_KEY="scripted")
