"""Vocabulary of a language model by its name, from tiktoken.

tiktoken downloads a vocabulary at its first use, and caches it in `TIKTOKEN_CACHE_DIR`. It is loaded when an engine is
built, so that a missing one is reported then.
"""

from __future__ import annotations

from mnemic.errors import InvalidConfig
from mnemic.plugins.extras import brought_by

with brought_by("tokens"):
    import tiktoken

OF_THE_MODEL = "model"


def tokenizer_named(name: str, model: str) -> tiktoken.Encoding:
    """Return the encoding called `name`, or that of `model` for the name "model". Raises InvalidConfig
    (`invalid_config:tokenizer`) for one that tiktoken does not know or cannot fetch.
    """
    try:
        return tiktoken.encoding_for_model(model) if name == OF_THE_MODEL else tiktoken.get_encoding(name)
    except (KeyError, ValueError) as unknown:
        raise InvalidConfig("tokenizer", hint="an encoding that tiktoken knows, or model") from unknown
    except Exception as failure:  # its HTTP client may raise any exception
        raise InvalidConfig("tokenizer", hint=f"cannot be fetched: {type(failure).__name__}") from failure
