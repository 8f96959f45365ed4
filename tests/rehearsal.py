"""Rehearsal of a program without a key: `python -m tests.rehearsal program.py`.

The program runs with the variables of OpenAI's, Anthropic's and Ollama's clients pointed at a model on this machine,
which repeats the memories that it was shown. Nothing leaves the machine, and no key of the environment is used.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.scripted_model import ModelRequest, ScriptedModelServer

_BLOCK = re.compile(r'<memory fence="([^"\n]+)">\n(.*?)\nfence \1\n</memory>', re.DOTALL)
_ENTRY = re.compile(r"<entry [^>]*>(.*?)</entry>", re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    """Run the program named by the first argument with the remaining arguments."""
    if not arguments or not Path(arguments[0]).is_file():
        sys.stderr.write("usage: python -m tests.rehearsal PROGRAM.py [ARGUMENT ...]\n")
        return 2
    with ScriptedModelServer(answer, model="rehearsal") as server:
        os.environ.update(variables(server.base_url))
        sys.argv = list(arguments)
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


def variables(base_url: str) -> dict[str, str]:
    """Return the environment variables that point the vendors' clients at the server at `base_url`."""
    root = base_url.removesuffix("/v1")
    return {
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_KEY": "rehearsal",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": "rehearsal",
        "OLLAMA_HOST": root,
    }


def answer(request: ModelRequest) -> str | dict[str, Any]:
    """Return the reply of the model: the memories of the last block in the request, if there is one."""
    if request.response_format is not None:
        return {"items": []}
    blocks = [found[2] for text in _texts(request.body) for found in _BLOCK.finditer(text)]
    return f"I was shown this memory:\n{blocks[-1]}" if blocks else "I was shown no memory."


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
