"""Reasons are one visible line, whatever is put into them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import BudgetSpent, InvalidInput, KeyNotAllowed, MnemicError, SpaceMismatch, escape_detail


def test_reason_is_code_and_detail() -> None:
    assert MnemicError().reason == "mnemic_error"
    assert KeyNotAllowed("tier").reason == "memory_key_not_allowed_policy:tier"
    assert BudgetSpent("max_seconds").reason == "max_seconds"
    assert SpaceMismatch().reason == "embedding_space_mismatch"
    assert str(InvalidInput("content:empty", hint="say something")) == "invalid_input:content:empty - say something"


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[31mb", "a\u200bb", "a\u202eb", "\ud800", "x" * 500])
def test_control_and_invisible_characters_are_spelled_out(text: str) -> None:
    escaped = escape_detail(text)
    assert escaped.isprintable()
    assert len(escaped) <= 64
    escaped.encode("utf-8")


@given(st.text(st.characters(), max_size=200))
def test_any_text_gives_one_printable_line(text: str) -> None:
    reason = KeyNotAllowed(text).reason
    assert reason.isprintable()
    assert len(reason) <= len("memory_key_not_allowed_policy:") + 64


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_travels_between_processes(again: Callable[[MnemicError], MnemicError]) -> None:
    error = InvalidInput("content:empty", hint="say something")
    error.retry_after = timedelta(seconds=3)
    spent = again(BudgetSpent("max_seconds"))
    same = again(error)

    assert type(same) is InvalidInput
    assert (str(same), same.reason, same.hint) == (str(error), error.reason, error.hint)
    assert same.retry_after == timedelta(seconds=3)
    assert (str(spent), spent.reason) == ("max_seconds", "max_seconds")
