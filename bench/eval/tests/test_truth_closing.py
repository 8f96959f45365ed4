"""What ends known statements: the measure itself, on lines whose outcome is beyond doubt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic_eval.generated_statements import chats, everyday_statements, families, tell_people
from mnemic_eval.truth import run
from mnemic_eval.truth_closing import Closing

SETS = Path(__file__).parents[1] / "src" / "mnemic_eval" / "data"


def written(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.small.{'json' if name == 'streams' else 'tsv'}").write_text(text, encoding="utf-8")
    return folder


def test_closed_changes_and_remarks_are_counted_by_way_and_session(tmp_path: Path) -> None:
    lines = "# known\tlater\tends\nI drive a Saab.\tI sold the Saab.\tyes\nI have gout.\tThe sun shines on Crete.\tno\n"
    result = run(written(tmp_path, closing=lines))
    assert result["closing"].keys() == {
        f"{way}, {place} session" for way in ("add", "capture") for place in ("same", "other")
    }
    one = result["closing"]["add, other session"]
    assert one == {"changes": 1, "changes_closed": 1, "remarks": 1, "remarks_closed": 0, "others_ended": 0}


def test_a_series_counts_what_is_not_in_force_at_its_end(tmp_path: Path) -> None:
    # The second family says the same twice, which is one memory.
    families = [["My {} is red.", ["kite", "boat"]], ["I like {}.", ["figs", "figs"]]]
    result = run(written(tmp_path, streams=json.dumps({"families": families})))
    assert result["series"]["add"] == {"statements": 4, "lost": 1}
    assert result["series"].keys() == {"add", "add_many", "a session each"}


def test_a_second_mention_is_searched_for_and_safety_is_captured(tmp_path: Path) -> None:
    second = "The boat is in Kiel.\tThe boat is in Bremen now.\tWhere is the boat?\tBremen\tKiel\n"
    safety = "en\tI am allergic to peanuts.\tpeanut\nde\thallo\tErdnuss\n"
    detail = tmp_path / "lines.jsonl"
    result = run(written(tmp_path, second=second, safety=safety), per_question=detail)
    assert result["second"]["other session"]["right_in_three"] == {"share": 1.0, "n": 1}
    assert result["safety"]["en"] == {"share": 1.0, "n": 1}
    assert result["safety"]["all"] == {"share": 0.5, "n": 2}
    rows = [json.loads(line) for line in detail.read_text(encoding="utf-8").splitlines()]
    assert [row["set"] for row in rows] == ["second", "second", "safety", "safety"]


def test_others_are_told_first_and_counted_if_they_end(tmp_path: Path) -> None:
    lines = "I drive a Saab.\tI sold the Saab.\tyes\n"
    result = run(written(tmp_path, closing=lines), others=True)
    assert result["settings"]["others"] == 110
    assert result["closing"]["add, other session"]["others_ended"] == 0


def test_conversations_of_a_language_are_those_of_one_person_if_others_are_told(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"u{number}",
            "lang": "en",
            "kind": "keep_both",
            "sessions": [{"at": f"2026-03-0{number}T10:00:00+00:00", "messages": [{"role": "user", "content": said}]}],
            "asks": [{"q": asked, "at": "2026-03-09T10:00:00+00:00", "must": [must], "must_not": []}],
            "now_true": [],
            "no_longer": [],
            "never_store": [],
            "not_users_word": [],
        }
        for number, said, asked, must in (
            (1, "We have a tortoise called Shelly.", "What is the tortoise called?", "Shelly"),
            (2, "My sister Ann is a pilot.", "What does my sister do?", "pilot"),
        )
    ]
    file = tmp_path / "updates.small.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    updates = run(tmp_path, others=True)["updates"]
    assert updates["score_ok"] == 1.0
    assert updates["stored_memories"] == 2
    assert updates["others_ended"] == 0


@pytest.mark.parametrize("line", ["one\ttwo\n", "one\ttwo\tperhaps\n"])
def test_a_line_of_another_shape_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(InvalidInput):
        run(written(tmp_path, closing=line))


def _texts(given: Closing) -> set[str]:
    seconds = {text for one in given.seconds for text in (one.known, one.said, one.question)}
    pairs = {text for one in given.pairs for text in (one.known, one.later)}
    return seconds | pairs | {one.said for one in given.safety} | {one.form for one in given.families}


def test_the_set_that_decides_shares_no_sentence_with_the_set_to_work_with() -> None:
    work, judge = (Closing.read(SETS / f"truth_{name}") for name in ("work", "judge"))
    assert not _texts(work) & _texts(judge)
    for one in (work, judge):
        assert sum(not pair.ends for pair in one.pairs) >= 60
        assert sum(pair.ends for pair in one.pairs) >= 50
        assert len(one.seconds) >= 40
        assert len(one.safety) >= 40
        assert len(one.families) >= 30


def test_generated_statements_are_all_about_different_things_but_for_marked_changes() -> None:
    people = list(tell_people(2_000, 5))
    every = [(user, one) for user, statements in people for one in statements]
    assert len({one.text for _, one in every}) == len(every) == 2_000
    assert len(families()) >= 40
    earlier: dict[str, set[str]] = {}
    changes = 0
    for user, one in every:
        if one.changes is not None:
            changes += 1
            assert one.changes in earlier[user]
            assert "now" in one.text
        earlier.setdefault(user, set()).add(one.text)
    assert 0 < changes < 40
    assert people == list(tell_people(2_000, 5))


def test_everyday_statements_are_different() -> None:
    assert len(set(everyday_statements(110))) == 110


def test_turns_of_chats_are_told_by_session(tmp_path: Path) -> None:
    sample: dict[str, Any] = {
        "sample_id": "s",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kite."}],
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Nice."}],
        },
    }
    file = tmp_path / "chats.json"
    file.write_text(json.dumps([sample]), encoding="utf-8")
    ((_, turns),) = chats(file)
    assert [one.text for one in turns] == ["I bought a kite.", "Nice."]
    assert len({one.session for one in turns}) == 2
