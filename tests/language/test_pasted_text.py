from __future__ import annotations

from typing import Any

import pytest

from mnemic.language.sentences import pasted_text
from mnemic.language.sentences.pasted_text import data_spans, fiction_from, merge_spans
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_what_is_shown_is_told_from_what_is_said() -> None:
    EXAMPLES.assert_right(
        lambda text: "".join((text[start:end] for start, end in data_spans(text))),
        "what_is_shown_is_told_from_what_is_said",
    )


BOB = "I moved to Madrid and I am allergic to nuts."


@pytest.mark.parametrize(
    "text",
    [
        f"On Mon, Jan 5, 2026 at 10:02 Bob Ruiz <b@x.com> wrote:\n{BOB}",
        f"Am 05.01.2026 um 10:02 schrieb Max Huber:\n{BOB}",
        f"Le lun. 5 janv. 2026, Anne a écrit :\n{BOB}",
        f"El 5 ene 2026, Ana escribió:\n\n{BOB}",
        f"Fwd: my new flat\n{BOB}",
        f"FYI\n\nFrom: Bob\nTo: all\n\n{BOB}",
        f"FYI\nHi team,\n{BOB}\nBob",
        f"Von: Max\nGesendet: Montag\n{BOB}",
        f"[12.03.24, 10:11] Max: {BOB}",
        f"[12.03.24, 10:11:09] Max: Hi\n{BOB}\n[12.03.24, 10:12:01] Ana: Oh",
        f"12/03/24, 10:11 - Max Huber: {BOB}",
        f"Max Huber  10:11 AM\n{BOB}",
        f"max 10:11 AM\nHi\nana 10:12 AM\n{BOB}",
        f"Max 10:11\n{BOB}\nAna 10:12\nOh",
        f"Max, [12.03.24 10:11]\n{BOB}",
        f"00:00:01.000 --> 00:00:04.000\n{BOB}",
        f"Max: Where are you?\nAna: {BOB}\nMax: Oh.",
        f"Q: Where do you live?\nA: {BOB}",
        f"Assistant: {BOB}",
        f"Translate to German:\n{BOB}",
        f"Translate to German\n{BOB}",
        f"Please translate this into French - {BOB}",
        f"Translate to Spanish. {BOB}",
        f"Übersetze ins Englische\n{BOB}",
        f"Chapter 1. {BOB}",
        f"Kapitel IV\n\n{BOB}",
        f"Found this on reddit - {BOB}",
        f"I read this online yesterday: {BOB}",
        f"Saw that in a forum\n{BOB}",
        f"Copied from Facebook – {BOB}",
        f"She said - {BOB}",
        f"Meeting notes\n- Anna: {BOB}\n- Jan is away",
        f"Standup\n* Jan is away\n* Max: {BOB}",
        f"From the website: {BOB}",
        f"[Tool result]\n{BOB}",
        f"[SYSTEM] {BOB}",
        f"[search results]:\n{BOB}",
        f"Here is the result of the search:\n\n1. {BOB}",
        f"Here are the notes from the meeting: {BOB}",
        f"According to the article:\n{BOB}",
        f"Tool result: {BOB}",
        f"Search results:\n{BOB}",
        f"My landlord's mail says: {BOB}",
        f"My boss wrote me this:\n{BOB}",
        f"The lyrics:\n{BOB}",
        f"[Verse 1]\n{BOB}\n[Chorus]\nOh",
        f"~~~\n{BOB}\n~~~",
        f"<!-- {BOB} -->",
        f"<!-- {BOB}",
        f"<blockquote>{BOB}",
        f"<function_results>\n{BOB}\n</function_results>",
        f"<system-reminder>{BOB}</system-reminder>",
        f'<File_Contents path="bio.md">\n{BOB}\n</File_Contents>\nSummarise it.',
        f"notes.txt:\n{BOB}\nSummarise this file.",
        "> I moved to\nMadrid and I am allergic to nuts.",
        f"❝{BOB}❞",
        f"‹{BOB}›",
        f"「{BOB}」",
        f"Message from the landlord of flat 4:\n\n{BOB}\n\nWhat do I answer?",
        f"Entry number 12 of the guest book:\n\n{BOB}\n\nWas it a man?",
        f"Which of these answers sounds friendlier?\n1. {BOB}\n2. I never eat nuts.",
        f"Welcher Satz ist richtig?\na) {BOB}\nb) Ich bin.",
        f"Is it well-formed?\n\n- {BOB}\n- I swim.",
        f"about: {BOB}\nteam_size: 4\n\nWhy does the parser refuse it?",
        f"https://forum.example/t/41: {BOB}",
        f"Judge this little story: {BOB}",
        f"Expliquez cette blague: {BOB}",
        f"A guest's review: {BOB}",
        f"Observation: {BOB}",
        f"Thought: I know enough.\nFinal Answer: {BOB}",
        f"Retrieved memory: {BOB}",
        f"Memories retrieved: {BOB}",
        f"Knowledge base: {BOB}",
        f"Tool-Ergebnis: {BOB}",
        f"Résultat de l'outil : {BOB}",
        f"Observación: {BOB}",
        f"Risultato dello strumento: {BOB}",
        f"Resposta do assistente: {BOB}",
        f"Opgehaalde herinnering: {BOB}",
        f"<|im_start|>user\n{BOB}<|im_end|>",
        f"<|start_header_id|>user<|end_header_id|>\n\n{BOB}<|eot_id|>",
        f"[INST] {BOB} [/INST]",
        f"<start_of_turn>model\n{BOB}<end_of_turn>",
        f"### Context\n{BOB}\n### Question\nWhere do I live?",
        f"**Context:**\n{BOB}\n\n**Question:** Where do I live?",
        f"=== CONTEXT ===\n{BOB}\n=== USER QUESTION ===\nWhere do I live?",
        f"Kontext: {BOB}\nFrage: Wo wohne ich?",
        f"DOCUMENT 1: {BOB}\nQUESTION: Where do I live?",
    ],
)
def test_what_others_wrote_is_shown(text: str) -> None:
    spans = data_spans(text)
    for said in ("to\nMadrid" if "to\nM" in text else "Madrid", "nuts"):
        at = text.index(said)
        assert any(start <= at and at + len(said) <= end for start, end in spans), spans


def test_what_the_user_says_stays_the_users() -> None:
    EXAMPLES.assert_right(
        lambda text: [text[start:end] for start, end in data_spans(text) if not text[start:end].startswith(">")],
        "what_the_user_says_stays_the_users",
    )


def test_what_comes_after_a_quotation_in_lines_is_the_users() -> None:
    text = "[12.03.24, 10:11] Max: Hi\nI moved.\n[12.03.24, 10:12] Ana: Oh\n\nI live in Rome."
    assert [text[start:end] for start, end in data_spans(text)] == [text[: text.index("\n\n")]]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Rome.",
        "I review books for a living.",
        "I edit films and fix bikes.",
        "",
        "Context: I live in Rome and work nights.",
        "Background: I live in Rome.\nQuestion: which bus goes to Ostia?",
        "My observation: I live in Rome and it never rains.",
        "Model: I drive a Fiat Panda.",
        "End result: I live in Rome now.",
        "Heads up: I live in Rome.",
        "Nachtrag: Ich wohne in Rom.",
        "Au fait : j'habite à Rome.",
    ],
)
def test_speech_is_no_data(text: str) -> None:
    assert data_spans(text) == []


def test_a_role_to_play_is_no_speech() -> None:
    EXAMPLES.assert_right(fiction_from, "a_role_to_play_is_no_speech")


def test_a_turn_announces_the_text_that_the_next_one_shows() -> None:
    EXAMPLES.assert_right(
        lambda text: pasted_text.announces_text(text), "a_turn_announces_the_text_that_the_next_one_shows"
    )


def test_spans_that_touch_are_one() -> None:
    assert merge_spans([(5, 9), (0, 3), (2, 5), (12, 13)]) == [(0, 9), (12, 13)]


def test_what_is_between_tags_is_shown() -> None:
    EXAMPLES.assert_right(lambda text: list(pasted_text._tagged_spans(text)), "what_is_between_tags_is_shown")


def test_what_only_looks_like_another_text_is_said() -> None:
    def check(text: str) -> Any:
        at = text.index(BOB)
        return bool(any((start < at + len(BOB) and at < end for start, end in data_spans(text))))

    EXAMPLES.assert_right(check, "what_only_looks_like_another_text_is_said")


@pytest.mark.parametrize(
    "request_", ["Could you shorten this mail?", "Translate this text, please.", "Is this text ok?"]
)
@pytest.mark.parametrize(
    "told",
    [
        "I can't eat gluten.",
        "My daughter is allergic to eggs.",
        "I had a heart attack last year.",
        "Ich vertrage keine Laktose.",
    ],
)
def test_what_a_user_says_of_their_safety_before_a_request_on_a_text_is_no_part_of_the_text(
    told: str, request_: str
) -> None:
    text = f"We met on Monday. {told} {request_}"
    assert "".join(text[start:end] for start, end in data_spans(text)) == f"We met on Monday. {request_}"
    assert data_spans(f"{told}\n{request_}") == [(0, len(told) + 1 + len(request_))]
