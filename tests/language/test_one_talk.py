"""Rules for two statements of one talk: only what says that the earlier one is wrong or over changes it."""

import pytest

from mnemic.language.changes.changes_in_one_conversation import changes_earlier, corrects_slip
from mnemic.language.ended_facts.left_jobs import left
from mnemic.language.frames.statement_frame import Frame


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The kids have hamsters each, and we have a cat.", "We got really lucky with the hamsters, they sleep a lot."),
        ("I paint and practice calligraphy.", "I quit my job and started practicing calligraphy full time."),
        (
            "I know of no other firm that has cancelled so many.",
            "Since the strike, the studio has cancelled ten series!",
        ),
        ("I love reading everything, mostly thrillers.", "Lately, I've been reading thrillers from Norway."),
        ("I work as a clerk in an office.", "It's not the most thrilling job, but it's close to home."),
        ("I grew up in Ohio.", "I grew up near a lake."),
        ("We went to a market in Bath.", "From now on, I want to try a new market every week."),
        ("I like comics, mostly Batman.", "Yes that was one of my favorite Spiderman issues actually."),
    ],
)
def test_a_remark_on_the_same_topic_changes_nothing(old: str, new: str) -> None:
    assert not changes_earlier(Frame(old), Frame(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Bremen.", "I moved to Kiel last week."),
        ("We fly out of Turku in the spring.", "I mixed that up. Malmo, not Turku."),
        ("I play the cello in a band.", "I don't play the cello any more."),
        ("My car is a Fiat.", "We sold the Fiat yesterday, and cycle now."),
        ("My brother's birthday is on the 4th of March.", "Sorry, the 14th of March!"),
        ("I'm vegetarian.", "I'm not vegetarian any more, I eat fish."),
        ("I like my summaries in tables.", "From now on, write my summaries as a letter."),
        ("Ich mag meine Listen kurz.", "Ab jetzt schreib meine Listen ausführlich."),
    ],
)
def test_a_change_that_is_told_counts(old: str, new: str) -> None:
    assert changes_earlier(Frame(old), Frame(new))


@pytest.mark.parametrize(
    "known", ["I lost my job at the mill.", "I'm working on my online store.", "Our shop is small."]
)
def test_a_lost_job_told_again_ends_no_business(known: str) -> None:
    assert not left(Frame(known), Frame("Since I lost my job, things have been tough."))


def test_a_slip_is_corrected_in_few_words() -> None:
    assert corrects_slip(Frame("Not Thursday, Friday."))
    assert not corrects_slip(Frame("But again, ten degrees with sun isn't bad but ten degrees with rain is really bad"))
