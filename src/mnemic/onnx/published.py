"""Settings of a model, from the files that sentence-transformers publishes with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidConfig
from mnemic.onnx.folder import POOLINGS, ModelFolder, digest_of, require_files

POOLING, PROMPTS = "1_Pooling/config.json", "config_sentence_transformers.json"
_MODES = {
    "pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last",
}  # fmt: skip
_STATEMENTS = ("document", "passage")


def describe_model(
    path: Path,
    *,
    name: str | None,
    pooling: str | None,
    query_prefix: str | None,
    text_prefix: str | None,
    max_tokens: int,
) -> ModelFolder:
    """Return the model of the folder, its dimension and scale not yet known: as named, else as in the files beside it,
    else without prefixes and by the mean. Raises InvalidConfig (`invalid_config:model_folder:<file>`).
    """
    require_files(path)
    prompts = _read(path, PROMPTS).get("prompts") or {}
    passage = next((prompts[one] for one in _STATEMENTS if isinstance(prompts.get(one), str)), "")
    return ModelFolder(
        path=path,
        name=name or path.name,
        dimension=1,
        pooling=pooling or _pooling(_read(path, POOLING)),
        max_tokens=max_tokens,
        query_prefix=str(prompts.get("query") or "") if query_prefix is None else query_prefix,
        text_prefix=passage if text_prefix is None else text_prefix,
        digest=digest_of(path),
    )


def _pooling(config: dict[str, Any]) -> str:
    chosen = [short for mode, short in _MODES.items() if config.get(mode) is True]
    others = [mode for mode in config if mode.startswith("pooling_mode_") and config[mode] is True]
    if len(chosen) > 1 or len(others) > len(chosen):
        raise InvalidConfig(
            f"model_folder:{POOLING}", hint=f"one of {', '.join(POOLINGS)} is supported: name --pooling"
        )
    return chosen[0] if chosen else "mean"


def _read(path: Path, name: str) -> dict[str, Any]:
    file = path / name
    if not file.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return dict(found)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidConfig(f"model_folder:{name}", hint="not a JSON object") from error
