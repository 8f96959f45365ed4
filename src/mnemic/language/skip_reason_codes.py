"""Reason codes for not storing a sentence. Programs branch on codes, so none is renamed."""

from __future__ import annotations

TRANSIENT = "transient"
HYPOTHETICAL = "hypothetical"
QUOTED = "quoted"
SARCASM = "sarcasm"
JOKE = "joke"
OPINION = "opinion"
THIRD_PARTY = "third_party"
NOT_DURABLE = "not_durable"
NOT_UNDERSTOOD = "not_understood"
