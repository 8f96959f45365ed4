"""What people say second is kept: a new value or an end, in few words, of something that they told before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.types import Candidate, Message, Origin, Source
from mnemic.types.trace import RunReport

_FILE = Path(__file__).parent / "data" / "said_second.tsv"


def _second(memory: MemoryManager, known: str, said: str, *, session: str = "two") -> RunReport:
    memory.capture(Message(role="user", content=known, session="one"))
    return memory.capture(Message(role="user", content=said, session=session))


def _contents(memory: MemoryManager, report: RunReport) -> list[str]:
    return [memory.get(one.memory_id).content for one in report.receipts if one.memory_id]


def test_most_later_words_are_kept_and_hardly_any_filler(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in _FILE.read_text("utf-8").splitlines() if line and line[0] != "#"]
    kept = {"1": 0, "0": 0}
    for number, (known, said, wanted) in enumerate(rows):
        with MemoryManager(f"u{number}", store=tmp_path / "m.db") as memory:
            memory.add(known)
            kept[wanted] += bool(_contents(memory, memory.capture(Message(role="user", content=said))))
    assert len(rows) == 86
    assert kept["1"] >= 36
    assert kept["0"] <= 3


def test_later_words_are_found_by_the_subject_of_what_was_said_before(tmp_path: Path) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        report = _second(memory, "My rent is 840 a month.", "they put it up AGAIN. 920 from january")
        assert any("920" in one and "rent" in one for one in _contents(memory, report))
        found = memory.search("What is my rent?", top_k=3).hits
        assert any("920" in hit.memory.content for hit in found)
        assert memory.get(report.receipts[-1].memory_id or "").source.quote == "they put it up AGAIN. 920 from january"


@pytest.mark.parametrize(
    ("known", "said", "now"),
    [
        ("The party is on the 12th.", "sorry, the 14th", "The party is on the 14th."),
        ("My sister has five cats.", "make that six", "My sister has six cats."),
        ("My new manager is called Bart.", "I meant Bram, not Bart", "My new manager is called Bram."),
    ],
)
def test_a_correction_of_what_was_just_said_takes_its_place(tmp_path: Path, known: str, said: str, now: str) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        _second(memory, known, said, session="one")
        current = [one.content for one in memory.list()]
        assert now in current


def test_a_correction_in_another_conversation_replaces_nothing(tmp_path: Path) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        memory.add("The choir meets at 8.")
        memory.capture(Message(role="user", content="sorry, the number 9 bus", session="two"))
        assert "The choir meets at 8." in [one.content for one in memory.list()]


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_words_of_others_are_not_kept_beside_what_is_known(tmp_path: Path, role: str) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        memory.add("My rent is 840 a month.")
        memory.capture(Message(role=role, content="920 from january then", session="two"))
        assert [one.content for one in memory.list()] == ["My rent is 840 a month."]


def test_a_value_that_a_graph_stored_is_corrected_by_the_sentence_that_it_was_read_from(tmp_path: Path) -> None:
    read = Source(origin=Origin.USER_STATED, session="s", quote="I live in Bergen.")
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        memory.add_many([Candidate(content="Bergen", key="home_city", source=read)])
        memory.capture(Message(role="user", content="Sorry, I meant Stavanger.", session="s"))
        assert [(one.key, one.content) for one in memory.list()] == [("home_city", "Stavanger")]


CHANGES = [
    (
        "My accordion teacher is Signor Baldi.",
        "Signora Rizzo gives me the lessons these days. Can you find sheet music for beginners?",
    ),
    (
        "We keep the canoe in the boathouse at Lindow.",
        "The canoe found a home in Piet's barn. What paint is good for wood?",
    ),
    ("I take the tram to work.", "my bike gets me to work now. which lock is safest?"),
    (
        "Our choir rehearses in St Barnabas church.",
        "the choir sings in the school gym since they closed the church. any tips for bad acoustics?",
    ),
    ("The museum's chairwoman is Dr Thandi.", "Mr Osei took over the museum's chair. Draft a welcome note please"),
    ("We buy our flour from the Holm mill.", "flour comes from the Sande mill since spring. how long does rye keep?"),
    ("I use Vim for everything.", "finally gave in and everything is in Helix. how do I split a window?"),
    (
        "My physiotherapist is Nadja.",
        "Nadja's practice closed, Ilse treats my knee. which stretches are good for runners?",
    ),
    ("Our bins go out on Tuesdays.", "the bin lorry comes Thursdays. is cardboard paper or recycling?"),
    ("I drink my coffee black.", "these days a splash of oat milk goes in. how do I froth it?"),
]
REMARKS = [
    (
        "My accordion teacher is Signor Baldi.",
        "Signor Baldi was late because of the strike. Can you find sheet music for beginners?",
    ),
    ("We keep the canoe in the boathouse at Lindow.", "saw a heron by the boathouse. What do herons eat?"),
    ("I take the tram to work.", "the tram was packed with football fans today. who won?"),
    ("Our choir rehearses in St Barnabas church.", "St Barnabas got a new organ. how many pipes has an organ?"),
    ("The museum's chairwoman is Dr Thandi.", "Dr Thandi gave a lovely speech at the opening. Write a thank-you note"),
    ("We buy our flour from the Holm mill.", "the flour dust is everywhere again. how do I clean a mixer?"),
    ("I use Vim for everything.", "Vim hung twice this morning. how do I read a swap file?"),
    (
        "My physiotherapist is Nadja.",
        "Nadja made me do squats until I cried, lol. which stretches are good for runners?",
    ),
    ("Our bins go out on Tuesdays.", "a fox got into the bins. what keeps foxes away?"),
    ("I drink my coffee black.", "spilled coffee on the keyboard, great start. how do I clean it?"),
]


def test_a_change_without_a_value_is_kept_beside_a_question_and_an_everyday_remark_is_not(tmp_path: Path) -> None:
    kept = []
    for number, (known, said) in enumerate(CHANGES + REMARKS):
        with MemoryManager(f"u{number}", store=tmp_path / "m.db") as memory:
            kept.append(bool(_contents(memory, _second(memory, known, said))))
    assert sum(kept[: len(CHANGES)]) >= 7
    assert sum(kept[len(CHANGES) :]) <= 2


def test_left_out_words_without_a_value_cost_no_vector_where_no_model_reads_changes(tmp_path: Path) -> None:
    asked: list[str] = []

    def embedder(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0, float(len(text))] for text in texts]

    with MemoryManager("ana", store=tmp_path / "m.db", embedder=embedder) as memory:
        memory.add("My accordion teacher is Signor Baldi.")
        asked.clear()
        assert not memory.capture("saw a heron by the boathouse.").receipts
    assert asked == []


@pytest.mark.parametrize(
    ("known", "said", "value"),
    [
        ("My dentist is on Tuesday.", "receptionist says friday", "friday"),
        ("My dose of ramipril is 5 mg.", "doctor says 10 now", "10"),
        ("My reading goal is 20 books.", "let's make it 30 books", "30"),
        ("I see the speech therapist three times a week.", "only twice a week with him now", "twice"),
    ],
)
def test_a_new_value_is_kept_though_it_is_a_report_or_a_request(
    tmp_path: Path, known: str, said: str, value: str
) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        contents = _contents(memory, _second(memory, known, said))
    assert len(contents) == 1
    assert value in contents[0]


@pytest.mark.parametrize(
    "said",
    ['The page says: "Dentists are open on Fridays."', "remind me to call at 5", "is friday better?", "see you friday"],
)
def test_a_displayed_value_a_reminder_and_a_question_are_not_kept(tmp_path: Path, said: str) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        assert _contents(memory, _second(memory, "My dentist is on Tuesday.", said)) == []
