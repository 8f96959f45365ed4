"""Configurations of mem0, as settings of mnemic."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from mnemic.config import Settings
from mnemic.errors import NotSupported

_LOG = logging.getLogger(__name__)
_LLM = {"model": "model", "openai_base_url": "model_url", "api_key": "api_key"}
_EMBEDDER = {
    "model": "embedder_model",
    "openai_base_url": "embedder_url",
    "api_key": "embedder_key",
    "embedding_dims": "embedder_dimension",
}


def settings_of(config: Any) -> Settings:
    """Return the settings that a configuration names: those of mnemic under `mnemic`, a language model and an embedder
    at an OpenAI-compatible server as mem0 names them, and the folder of a local vector store.
    """
    given = config if isinstance(config, Mapping) else {}
    named: dict[str, Any] = dict(given.get("mnemic") or {})
    for part, names in (("llm", _LLM), ("embedder", _EMBEDDER)):
        section = given.get(part) or {}
        if section and section.get("provider") not in ("openai", None):
            raise NotSupported(f"mem0:{part}", hint="an OpenAI-compatible server, or a setting under `mnemic`")
        asked = section.get("config") or {}
        named |= {ours: asked[theirs] for theirs, ours in names.items() if asked.get(theirs) is not None}
        if part == "embedder" and section:
            named.setdefault("embedder", "http")
    for ignored in given.keys() - {"mnemic", "llm", "embedder", "version"}:
        _LOG.info("the part %s of the configuration is mem0's own and is not used", ignored)
    return Settings.load(**named)
