"""Personal data and secrets out of text, by rules, in time linear in its length (docs/redaction.md).

    from mnemic.redact import redact

    result = redact("Mail jane@acme.com or call +44 20 7946 0958.")
    print(result.text)
    print(result.kinds)

Names load when they are first used, so that `import mnemic.redact` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemic.redact.redactor import Redactor, redact
    from mnemic.redact.search_primitives import Finder, pattern
    from mnemic.redact.types import Action, Detector, Found, InvalidRules, RedactError, Redaction, Span, Unredactable

_HOMES = {
    "Action": "types",
    "Detector": "types",
    "Finder": "search_primitives",
    "Found": "types",
    "InvalidRules": "types",
    "RedactError": "types",
    "Redaction": "types",
    "Redactor": "redactor",
    "Span": "types",
    "Unredactable": "types",
    "pattern": "search_primitives",
    "redact": "redactor",
}

__all__ = [
    "Action",
    "Detector",
    "Finder",
    "Found",
    "InvalidRules",
    "RedactError",
    "Redaction",
    "Redactor",
    "Span",
    "Unredactable",
    "pattern",
    "redact",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
