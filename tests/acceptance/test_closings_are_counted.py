"""The scripts that count and train on closings run as they are documented."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

TRAINING = Path(__file__).parents[2] / "training" / "changes"


def _script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TRAINING))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__(name)


async def test_closings_of_talk_are_counted_with_what_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _script("closings_in_talk", monkeypatch)
    said = ("I live in Bonn.", " ", "My sister plays chess.", "I moved to Kiel.")
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps({"user": "a", "session": "s", "text": text}) + "\n" for text in said))

    found = await script.closings(script.talk(file))

    assert [(one.old, one.new) for one in found] == [("I live in Bonn.", "I moved to Kiel.")]


async def test_the_training_sees_what_the_guards_would_keep_from_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    script = _script("train_evidence", monkeypatch)

    pairs = await script.pairs(islice(script.told(), 40))

    assert any(one.closes for one in pairs)
    assert all(len(one.row) == len(script.NAMES) for one in pairs)
