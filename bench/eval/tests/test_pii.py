"""Texts of our own in both known formats, redacted as a write redacts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic_eval import pii
from mnemic_eval.tables import set_table


def labelled(template: int, text: str, **spans: str) -> dict[str, Any]:
    places = [
        {"entity_type": entity, "start_position": text.index(value), "end_position": text.index(value) + len(value)}
        for entity, value in spans.items()
    ]
    return {"full_text": text, "template_id": template, "spans": places}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    texts = [
        labelled(2, "Write to jane@acme.com or call 555-123-4567", EMAIL_ADDRESS="jane@acme.com", PERSON="jane"),
        labelled(2, "My mail is nobody at home", EMAIL_ADDRESS="nobody at home"),
        labelled(3, "Pay with 4111 1111 1111 1111 please", CREDIT_CARD="4111 1111 1111 1111"),
        labelled(4, "I like tea"),
    ]
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    rows = [
        "Example ID,Category,Point,Type,Subtype,Example,Explanation",
        "1,Auth,Passwords: Logins.,Positive,Direct,My password is Hunter22,x",
        "2,Auth,Passwords: Logins.,Positive,Typo,My psswrd is H u n,x",
        '3,Auth,Passwords: Logins.,Negative,Direct,"Where, please, is my bag?",x',
        "4,Net,MAC Addresses: Media.,Positive,Direct,The MAC is 00:1A:2B:3C:4D:5E,x",
        "5,Net,Full Names: x,Positive,Direct,I am Ann,x",
        "6,Auth,PINs: x,Negative,Direct,call 555-123-4567,x",
    ]
    (tmp_path / "lines.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_what_is_hidden_and_what_for_no_reason(data: Path) -> None:
    result = pii.run(data)
    dev, test = result["dev"], result["test"]
    assert (dev["recall"], dev["precision"]) == (0.5, 0.5)
    assert (dev["secrets_recall"], dev["typo_recall"], dev["by_entity"]["SECRET"]["n"]) == (1.0, 0.0, 1)
    assert (dev["benign_changed"], dev["benign"]) == (0.5, 2)
    assert (test["recall"], test["precision"], test["secrets_recall"]) == (1.0, 1.0, None)
    assert test["by_entity"] == {"CARD": {"share": 1.0, "n": 1}, "MAC": {"share": 1.0, "n": 1}}
    assert "by_entity: CARD" in set_table(result)


def test_a_span_is_recalled_whole_or_not_at_all(tmp_path: Path) -> None:
    text = labelled(2, "a jane@acme.com!", EMAIL_ADDRESS="a jane@acme.com!")
    (tmp_path / "one.json").write_text(json.dumps([text]))
    assert pii.run(tmp_path)["dev"]["recall"] == 0.0
