"""Same, opposite or superseding: frames and what a later statement does to an earlier one."""

from __future__ import annotations

import pytest

from mnemic.providers.minilm import MiniLmEmbedder
from mnemic_language.changes.change_classifier import cosine_of, frame_of, framed, judge, likelihood, required
from mnemic_language.changes.change_features import NAMES, apart, features
from mnemic_language.frames.statement_frame import Frame, stem
from mnemic_testing.record_store.fixtures import memory


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


CHANGES = [
    ("My office is in Turin.", "We relocated to Genoa, the Turin office is closed."),
    ("I take the bus to work.", "I cycle to work now, no more buses for me."),
    ("I'm a member of the chess club.", "I quit the chess club."),
    ("My rabbit is called Flocke.", "Flocke died on Tuesday."),
    ("The launch is on 4 April.", "We had to postpone the launch to 11 May."),
    ("I prefer trains.", "I'd rather fly from now on, no more trains."),
    ("My aunt lives in Ghent.", "My aunt moved to Bruges."),
    ("Ich wohne in Erfurt.", "Ich bin nach Weimar umgezogen."),
    ("J'habite à Dijon.", "Nous avons déménagé à Tours."),
    ("Vivo en Soria.", "Me he mudado a Burgos."),
    ("I have lived in Turin since 2019.", "I moved to Genoa in April 2024."),
    ("I've lived in Turin for six years.", "I live in Genoa now."),
    ("Our band has 12 members.", "We're 15 members in the band already."),
]
KEPT = [
    ("I live in Turin.", "My sister moved to Genoa."),
    ("My brother lives in Rome.", "My sister lives in Rome."),
    ("My left knee hurts.", "My right knee is fine."),
    ("I speak Polish.", "I also speak Dutch."),
    ("I live in Turin.", "If I ever moved, it would be to Genoa."),
    ("I live in Turin.", 'My boss wrote "I live in Genoa now and I love it there".'),
    ("I live in Turin.", "Do many people live in Genoa now?"),
    ("I drink coffee in the morning.", "I drink tea in the evening."),
    ("Locker 12 is mine.", "Locker 13 is mine."),
    ("Parcel 23 goes to a town.", "Parcel 24 goes to a town."),
    ("Invoice 17 waits for Jo.", "Invoice 18 waits for Jo."),
    ("The boat number 3 has 3 oars.", "The boat number 4 has 4 oars."),
    ("My aunt has 3 cats.", "My uncle has 4 cats."),
    ("I have 3 cats.", "I also have 2 cats at my mother's."),
    ("I like tea.", "The meeting was moved to Monday."),
    ("My passport expires in May 2031.", "I moved to Genoa in April 2024."),
    ("My lease ends in May 2031.", "We moved to Genoa in April 2024."),
]


async def _judged(embedder: MiniLmEmbedder, known: str, said: str) -> str | None:
    one, other = await embedder.embed([known, said])
    found = judge(Frame(known), Frame(said), cosine_of(one, other), among=2)
    return None if found is None else found.how


@pytest.mark.parametrize(("known", "said"), CHANGES)
async def test_a_change_takes_the_place_of_what_was_known(embedder: MiniLmEmbedder, known: str, said: str) -> None:
    assert await _judged(embedder, known, said) in ("changed", "ended", "corrected")


@pytest.mark.parametrize(("known", "said"), KEPT)
async def test_what_is_about_something_else_lets_it_be(embedder: MiniLmEmbedder, known: str, said: str) -> None:
    assert await _judged(embedder, known, said) is None


async def test_it_says_what_becomes_of_it(embedder: MiniLmEmbedder) -> None:
    assert await _judged(embedder, "I'm a member of the chess club.", "I quit the chess club.") == "ended"
    assert await _judged(embedder, "My order number is 4711.", "Typo, my order number is 4171.") == "corrected"


def test_more_is_asked_among_many() -> None:
    assert required(1) == pytest.approx(0.5)
    assert required(1) == required(6) < required(8) < required(32) < 0.97


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("The ferry leaves at noon.", "The ferry does not leave at noon."),
        ("The office is open on Sundays.", "The office is not open on Sundays."),
    ],
)
def test_a_plain_denial_is_certain_among_many(known: str, said: str) -> None:
    change = judge(Frame(known), Frame(said), 0.9, among=40, opposed=True)
    assert change is not None
    assert change.probability == 1.0


def test_a_denial_about_the_other_side_is_not() -> None:
    known, said = Frame("My left knee hurts."), Frame("My right knee does not hurt.")
    assert judge(known, said, 0.9, opposed=True) is None


def test_the_same_again_is_no_change() -> None:
    assert likelihood(Frame("I live in Turin now."), Frame("I live in Turin now."), 1.0) == 0.0
    assert likelihood(Frame("I live in Turin."), Frame("I moved to Genoa."), 0.0) == 0.0


def test_a_negation_is_no_ending() -> None:
    assert "end" in Frame("I gave up the piano.").cues
    assert "end" not in Frame("I never give up the piano.").cues


def test_a_wish_put_as_a_question_states_it() -> None:
    assert Frame("Can you switch me to window seats?").said
    assert not Frame("Can you find me a hotel?").said
    assert Frame("We moved to Genoa, where do people buy plants?").said == ("We moved to Genoa",)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("My sister lives in Rome.", "other:sister"),
        ("I told my sister.", "self"),
        ("Kofi just moved.", "name:kof"),
        ("She likes it.", "other:"),
        ("Rain again.", ""),
        ("The car of my choice.", "self"),
    ],
)
def test_a_subject_is_read(text: str, subject: str) -> None:
    assert Frame(text).subject == subject


def test_two_persons_and_two_sides_are_apart() -> None:
    assert apart(Frame("My brother is 30."), Frame("My sister is 31."))
    assert apart(Frame("The left door."), Frame("The right door."))
    assert not apart(Frame("My brother is 30."), Frame("My brother is 31."))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The north gate is open.", "The south gate is closed."),
        ("Monday's class is at 9.", "Tuesday's class is at 10."),
        ("The class on Monday is at 9.", "The class on Tuesday is at 10."),
        ("Der Kurs am Montag beginnt um 9.", "Der Kurs am Dienstag beginnt um 10."),
        ("The summer course is full.", "The winter course is empty."),
    ],
)
def test_two_of_a_sort_are_apart(old: str, new: str) -> None:
    assert apart(Frame(old), Frame(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The north gate is open.", "The north gate is closed."),
        ("Gym is on Monday.", "Gym is on Tuesday."),
        ("Monday's class is at 9.", "Actually, Tuesday's class is at 9."),
        ("Monday's class is at 9.", "Tuesday's class is what it was on Monday."),
        ("I live in North London.", "I live in South London."),
        ("Monday's class is at 9.", "The class is at 10."),
    ],
)
def test_the_same_thing_told_otherwise_is_not_apart(old: str, new: str) -> None:
    assert not apart(Frame(old), Frame(new))


def test_every_feature_has_a_name() -> None:
    assert len(features(Frame("I'm 30."), Frame("I'm 31 now."), 0.5)) == len(NAMES)


def test_numbers_are_read_in_words_and_digits() -> None:
    assert Frame("two cats and 1,200 fish").numbers == {"2", "1200"}
    assert stem("smoking") == stem("smokes")


def test_a_value_is_read_in_the_words_that_told_it() -> None:
    assert frame_of(memory("Turin", key="home_city")).text == "home city: Turin"
    assert framed("Turin", "home_city", "I live in Turin.").text == "I live in Turin."
    assert framed("I live in Turin.").text == "I live in Turin."


def test_vectors_of_two_models_have_no_cosine() -> None:
    assert cosine_of(None, b"") == 0.0
    assert cosine_of(b"\0" * 4, b"\0" * 8) == 0.0


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("The ferry leaves from Bari.", "sorry, Brindisi, not Bari"),
        ("Our vet is called Johanna Persson.", "typo: it's Johana Person"),
        ("My ticket is 440912.", "oh, misread it, 440921"),
        ("I like camping.", "I hate camping."),
        ("Ich mag Oliven.", "Ich hasse Oliven."),
        ("No meat for me.", "I eat meat again now, a good burger would be nice."),
        ("Ik woon in Hoorn met mijn vriend.", "We zijn verhuisd naar Goes."),
        ("Vivo en Jaca con mis padres.", "Me he mudado a Huesca."),
    ],
)
async def test_a_correction_or_a_turned_liking_takes_the_place(embedder: MiniLmEmbedder, known: str, said: str) -> None:
    one, other = await embedder.embed([known, said])
    assert judge(Frame(known), Frame(said), cosine_of(one, other)) is not None


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I like camping.", "I hate camping in the rain."),
        ("I like camping.", "My wife hates camping."),
        ("I like yoga on Mondays.", "I hate yoga on Fridays."),
        ("Our vet is called Johanna Persson.", "Johan Pehrsson called today."),
    ],
)
async def test_another_thing_or_person_is_let_be(embedder: MiniLmEmbedder, known: str, said: str) -> None:
    one, other = await embedder.embed([known, said])
    assert judge(Frame(known), Frame(said), cosine_of(one, other)) is None


def test_a_word_is_past_only_where_it_is_a_verb_of_the_past() -> None:
    assert not Frame("Ik ga altijd met de trein.").event
    assert not Frame("I need a lift.").event
    assert not Frame("The knees won't last.").event
    assert Frame("We walked to the lake.").event


def test_plural_and_singular_share_a_stem() -> None:
    assert stem("emojis") == stem("emoji")
    assert stem("prices") == stem("price")


def test_a_relation_after_a_preposition_is_not_the_subject() -> None:
    assert Frame("I live with my sister.").subject == "self"
    assert Frame("Vivo con mis padres.").subject == "self"
    assert Frame("My sister lives alone.").subject == "other:sister"


def test_numbers_in_words_are_numbers() -> None:
    assert Frame("I turned thirty.").numbers == {"30"}
