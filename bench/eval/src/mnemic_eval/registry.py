"""Registry of the data sets, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mnemic_eval import (
    abstention,
    assistant_requests,
    beam,
    chat_capture,
    extraction,
    injection,
    languages,
    locomo,
    longmemeval,
    model_answers,
    pairs,
    pii,
    precision,
    preferences,
    realtalk,
    reliability,
    truth,
    unread,
)

Runner = Callable[..., dict[str, Any]]
"""`run(path, **options)`, with the fields of `mnemic_eval.options.EvalOptions`. A set uses those that apply to it and
ignores the rest.
"""

SETS: Mapping[str, Runner] = MappingProxyType(
    {
        "locomo": locomo.run,
        "longmemeval": longmemeval.run,
        "realtalk": realtalk.run,
        "beam": beam.run,
        "precision": precision.run,
        "pairs": pairs.run,
        "pii": pii.run,
        "extraction": extraction.run,
        "commands": assistant_requests.run,
        "truth": truth.run,
        "captured": chat_capture.run,
        "abstention": abstention.run,
        "injection": injection.run,
        "preferences": preferences.run,
        "languages": languages.run,
        "reliability": reliability.run,
        "answers": model_answers.run,
        "unread": unread.run,
    }
)
PACKAGED: Mapping[str, Path] = MappingProxyType({"unread": unread.PACKAGED, "answers": model_answers.PACKAGED})
"""Data of the sets that are in this package."""
