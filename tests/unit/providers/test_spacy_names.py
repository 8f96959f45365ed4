"""Names are asked for and nothing is there that could find them. What it finds is tested in tests/ner."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from mnemic.bootstrap import with_names
from mnemic.errors import InvalidConfig
from mnemic.policy.redaction_policy import RedactionRules


def test_names_without_the_extra_are_refused_and_not_silently_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "mnemic.providers.spacy_names", raising=False)
    with pytest.raises(InvalidConfig, match=r"invalid_config:redaction\.names") as refused:
        with_names(RedactionRules(names=frozenset({"PERSON"})))
    assert "mnemic[ner]" in (refused.value.hint or "")


def test_without_names_nothing_is_needed() -> None:
    rules = RedactionRules(actions={"EMAIL": "allow"})
    assert with_names(rules) is rules
