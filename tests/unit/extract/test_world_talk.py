"""Statements about the world are left out, and statements about their speaker are kept beside them."""

from __future__ import annotations

import pytest

from mnemic.extract import Extraction
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.classify.general_knowledge import world
from mnemic.language.sentences.general_knowledge_messages import (
    CERTAIN,
    EXPOUNDS,
    LONG,
    expounds,
    is_about_the_world,
    is_singled_out,
    speaks_of_self,
)
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Deadline, Message
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


FRESH = Deadline(60.0, lambda: 0.0)
PLOT = (
    "That series is set in a harbour town around 1890. The detective loses his brother in the second season and has to "
    "leave the city. In the end his partner turns out to be the killer, which nobody expected. {} "
    "The soundtrack won two awards and the plot gets better with every episode."
)
RECIPE = (
    "Chop the onions and fry them in butter for ten minutes. Add 200 g flour and stir until it is golden. {} "
    "Let it simmer on low heat for half an hour. You should serve it with fresh bread and a green salad."
)


async def extract(text: str) -> Extraction:
    message = Message(role="user", content=text)
    reader = RuleExtractor(MiniLmEmbedder())
    return await reader.extract(message, policy=Policy(), budget=Budget(), deadline=FRESH)


async def kept(text: str) -> list[str]:
    return [one.content for one in (await extract(text)).candidates]


@pytest.mark.parametrize("story", [PLOT, RECIPE], ids=["plot", "recipe"])
async def test_a_long_text_about_the_world_leaves_nothing_behind(story: str) -> None:
    extraction = await extract(story.format(""))
    assert extraction.candidates == ()
    assert all(one.span is not None for one in extraction.skipped)


@pytest.mark.parametrize("story", [PLOT, RECIPE], ids=["plot", "recipe"])
async def test_what_its_writer_says_of_themself_is_kept(story: str) -> None:
    (said,) = await kept(story.format("I'm allergic to hazelnuts."))
    assert said == "I'm allergic to hazelnuts."


async def test_what_is_asked_to_be_remembered_is_kept_wherever_it_stands() -> None:
    assert await kept(RECIPE.format("Remember that Otto can't have garlic.")) == ["Otto can't have garlic."]


WORK = (
    "Elsa is the new head of support, Karl went to marketing. The staging server is refreshed every Sunday. The Berlin "
    "office has 23 people now. Contact at Norrland is Petra Holm."
)
FAMILY = (
    "Dad has a pacemaker. Mum moved to Elm Grove 12 in May, visiting hours are two to six. The twins start school in "
    "September, and Tom can't swim. Grandad turns 90 on 2 November."
)


@pytest.mark.parametrize("notes", [WORK, FAMILY], ids=["work", "family"])
async def test_notes_without_a_word_for_the_speaker_are_kept(notes: str) -> None:
    assert len(await kept(notes)) >= 4


def test_a_short_note_is_no_world_talk() -> None:
    assert not is_about_the_world("Staging is 600 per minute.", 1.0)
    assert is_about_the_world("The average match has eleven minutes of play.", CERTAIN)
    assert not is_about_the_world("The average match has eleven minutes of play.", CERTAIN - 0.1)


def test_a_message_says_which_part_of_it_matters() -> None:
    EXAMPLES.assert_right(is_singled_out, "a_message_says_which_part_of_it_matters")


def test_a_message_expounds_by_its_length_and_its_sentences() -> None:
    long, short = " ".join(["word"] * LONG), " ".join(["word"] * (LONG - 1))
    assert expounds(long, [EXPOUNDS + 0.1, EXPOUNDS])
    assert not expounds(long, [EXPOUNDS - 0.1, EXPOUNDS])
    assert not expounds(short, [1.0, 1.0])


def test_a_word_for_the_speaker_is_known_in_seven_languages() -> None:
    EXAMPLES.assert_right(speaks_of_self, "a_word_for_the_speaker_is_known_in_seven_languages")


def test_both_classifiers_are_trained_on_the_vectors_of_one_embedder() -> None:
    """The rules look at the space of one alone before they give both the vectors of a message."""
    assert world().space == weights().space
