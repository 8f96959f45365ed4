"""Personal data and secrets out of text, by rules, in time linear in its length (docs/redaction.md).

    from mnemic.redact import redact

    result = redact("Mail jane@acme.com or call +44 20 7946 0958.")
    print(result.text)
    print(result.kinds)

No other room of mnemic is imported.
"""

from __future__ import annotations

from mnemic.redact.redactor import Redactor, redact
from mnemic.redact.search_primitives import Finder, pattern
from mnemic.redact.types import Action, Detector, Found, InvalidRules, RedactError, Redaction, Span, Unredactable

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
