"""Pairs of a question and a statement, labelled by whether the statement answers the question.

From frames of our own (frames.txt: attributes; other_words.txt: statements with questions in other words; words.toml),
and two public sets, git copies in the folder `DATA` names: `nqg` (github.com/xinyadu/nqg: SQuAD 1.1, CC BY-SA 4.0) and
`qamr` (github.com/uwnlp/qamr, MIT), of both the files `dev` and `test`.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
WORDS: Mapping[str, Any] = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))
NAMES = [*WORDS["female"], *WORDS["male"]]
MAX_WORDS = 30
"""Words of the longest public sentence."""
USUAL = frozenset(
    "the a an of is are do does did what who where when which how my i in on at to for me it be s was and or".split()
)


class Pair(NamedTuple):
    """A question and a statement; `kind` says in which way the statement does not answer it."""

    question: str
    statement: str
    answers: bool
    kind: str


@dataclass
class Attribute:
    """An attribute with values, sentences that state it and questions for it; `over`: those that it may answer too."""

    name: str
    values: list[str]
    stated: list[str]
    asked: list[str]
    over: set[str] = field(default_factory=set)

    def two_values(self, rng: random.Random) -> tuple[str, str]:
        value = rng.choice(self.values)
        return value, rng.choice([one for one in self.values if one != value] or [value])


@dataclass
class Subject:
    """One thing that is talked about, with the ways to mention it."""

    kind: str
    mentions: list[str]
    pronoun: str = "its"
    first_person: bool = False
    name: str | None = None

    def fill(self, text: str, rng: random.Random, value: str = "", other: str = "", mention: str | None = None) -> str:
        said = mention or rng.choice(self.mentions)
        text = re.sub(r"<([^|>]*)\|([^>]*)>", lambda found: found[1] if self.first_person else found[2], text)
        whose = "my" if self.first_person else said + ("'" if said.endswith("s") else "'s")
        for place, words in (("p2", self.pronoun), ("p", whose), ("f", rng.choice(WORDS["female"]))):
            text = text.replace(f"{{{place}}}", words)
        text = text.replace("{s}", said).replace("{v}", value).replace("{w}", other)
        return text[:1].upper() + text[1:]


def subject(kind: str, rng: random.Random) -> Subject:
    """Return something of this kind that a statement can be about."""
    if kind == "person":
        return _person(rng)
    if kind == "pet":
        animal, name = rng.choice(WORDS["pets"]), rng.choice(WORDS["pet_names"])
        return Subject(kind, [f"my {animal}", f"our {animal}", f"my {animal} {name}", name])
    if kind == "thing":
        thing = rng.choice(WORDS["things"])
        if rng.random() < 0.25:
            return Subject(kind, [f"{rng.choice(NAMES)}'s {thing}"])
        mentions = (
            [f"my {thing}"],
            [f"our {thing}", f"my {thing}"],
            [f"the {thing}", f"my {thing}"],
            [f"the new {thing}", f"the {thing}"],
        )
        return Subject(kind, rng.choice(mentions))
    return Subject(kind, [rng.choice(WORDS[f"{kind}s"])])


def _person(rng: random.Random) -> Subject:
    which = rng.random()
    if which < 0.38:
        return Subject("person", ["I"], "my", first_person=True)
    if which < 0.72:
        pool = rng.choice(("female_kin", "male_kin", "others"))
        kin = rng.choice(WORDS[pool])
        female = pool == "female_kin" or (pool == "others" and rng.random() < 0.5)
        name = rng.choice(WORDS["female" if female else "male"])
        return Subject("person", [f"my {kin} {name}", name, f"my {kin}", name], "her" if female else "his", name=name)
    if which < 0.86:
        name = rng.choice(NAMES)
        return Subject("person", [name], "her" if name in WORDS["female"] else "his", name=name)
    kin = rng.choice([*WORDS["female_kin"], *WORDS["male_kin"], *WORDS["others"]])
    return Subject("person", [f"my {kin}", f"our {kin}" if rng.random() < 0.3 else f"my {kin}"], "their")


def _as_user(who: Subject, share: float, rng: random.Random) -> Subject:
    """Return the one who says "I" as a program speaks of them, for this share of the calls."""
    return Subject(who.kind, ["the user"], "their") if who.first_person and rng.random() < share else who


def _with_pronoun(question: str, rng: random.Random) -> str:
    """Return a question about the user as an agent may ask it: about "she", "he" or "they"."""
    which = rng.choice(("the user", "the user", "she", "he"))
    if which == "the user":
        return question
    whose = {"she": "her", "he": "his"}[which]
    whom = {"she": "her", "he": "him"}[which]
    question = re.sub(r"\bthe user's\b", whose, question)
    question = re.sub(
        r"\b(does|is|was|has|did|can|could|should|will|must|may|would) the user\b", rf"\1 {which}", question
    )
    return re.sub(r"\bthe user\b", whom, question)


class Told:
    """Statements with questions that they answer in other words, and questions about the same that they do not."""

    def __init__(self, *, held_out: bool) -> None:
        lines = (line.strip() for line in (HERE / "other_words.txt").read_text(encoding="utf-8").splitlines())
        self.items: list[tuple[str, list[str], list[str]]] = []
        for line in lines:
            if line and not line.startswith("#") and (_number(line) % 6 == 0) == held_out:
                statement, answered, near = line.split(" | ")
                self.items.append((statement, answered.split("; "), near.split("; ")))

    def group(self, rng: random.Random) -> list[Pair]:
        """Return one statement with some of its questions."""
        told, answered, near = rng.choice(self.items)
        first, second, third = rng.sample(NAMES, 3)
        slots = {"n": first, "n2": second} | {name: rng.choice(words) for name, words in WORDS["slots"].items()}
        statement = as_statement(_put(told, slots), rng)

        def ask(question: str, answers: bool, kind: str, **others: str) -> Pair:
            return Pair(as_question(_put(question, slots | others), rng), statement, answers, kind)

        pairs = [ask(one, True, "answered") for one in rng.sample(answered, min(2, len(answered)))]
        pairs += [ask(one, False, "near") for one in rng.sample(near, min(2, len(near)))]
        if rng.random() < 0.4:
            question = rng.choice(answered)
            if "{n}" in question and "{n}" in told:
                pairs.append(ask(question, False, "whose", n=third))
        if rng.random() < 0.5:
            other = rng.choice(self.items)[0]
            if other is not told:
                pairs.append(Pair(pairs[0].question, as_statement(_put(other, slots), rng), False, "other"))
        return pairs


class Frames:
    """Statements and questions made of attributes, of a fifth of them if `held_out`, else of the others."""

    def __init__(self, *, held_out: bool) -> None:
        self.kinds = {
            kind: {name: one for name, one in attributes.items() if _is_held_out(kind, name) == held_out}
            for kind, attributes in _read_frames().items()
        }
        self.weights = [len(named) + (40 if kind == "person" else 5) for kind, named in self.kinds.items()]

    def group(self, rng: random.Random) -> list[Pair]:
        """Return one statement with a question that it answers and some that it does not."""
        kind = rng.choices(list(self.kinds), self.weights)[0]
        attributes, who = self.kinds[kind], subject(kind, rng)
        # What a program writes down about its user is asked by the user, and what users say is asked by programs.
        teller, asker = _as_user(who, 0.2, rng), _as_user(who, 0.3, rng)
        told = [rng.choice(list(attributes.values()))]
        values = [told[0].two_values(rng)]
        text = teller.fill(rng.choice(told[0].stated), rng, *values[0])
        if rng.random() < 0.22 and (second := rng.choice(list(attributes.values()))) is not told[0]:
            told.append(second)
            values.append(second.two_values(rng))
            mention = "I" if teller.first_person else None
            more = teller.fill(rng.choice(second.stated), rng, *values[1], mention=mention)
            text = rng.choice([f"{text}. {more}", f"{more}, and {_begun_small(text)}"])
        statement = as_statement(text, rng)
        others = [one for one in attributes.values() if not any(one is said or one.name in said.over for said in told)]
        if not others:
            return self.group(rng)
        asked = rng.randrange(len(told))
        pairs = [
            self._answered(told[asked], values[asked], asker, statement, rng),
            _near(others, asker, statement, rng),
        ]
        further = self._further(told[asked], values[asked], who, (pairs[0], others), rng)
        if asker.first_person == who.first_person:
            return [*pairs, *further]
        return [*(one._replace(question=_with_pronoun(one.question, rng)) for one in pairs), *further]

    @staticmethod
    def _answered(asked: Attribute, values: tuple[str, str], who: Subject, statement: str, rng: random.Random) -> Pair:
        questions = [who.fill(rng.choice(asked.asked), rng, *values) for _ in range(_tries(rng))]
        question = min(questions, key=lambda one: overlap(one, statement))
        return Pair(as_question(question, rng), statement, True, "answered")

    def _further(
        self,
        asked: Attribute,
        values: tuple[str, str],
        who: Subject,
        context: tuple[Pair, Sequence[Attribute]],
        rng: random.Random,
    ) -> list[Pair]:
        """Return a question of another's, of the value, of what is only mentioned, or another statement; or none."""
        (question, statement, *_), others = context
        which = rng.random()
        if which < 0.4:
            another = subject(who.kind, rng)
            if set(another.mentions) & set(who.mentions) or (another.name is not None and another.name == who.name):
                return []
            whose = _as_user(another, 0.4, rng).fill(rng.choice(asked.asked), rng, *values)
            return [Pair(as_question(whose, rng), statement, False, "whose")]
        if which < 0.6 and (kind := WORDS["values"].get(asked.name)) is not None:
            return self._of_value(kind, values[0], statement, rng)
        if which < 0.72 and not who.first_person:
            mentioned = as_statement(who.fill(rng.choice(WORDS["incidental"]), rng), rng)
            return [
                Pair(as_question(who.fill(rng.choice(asked.asked), rng, *values), rng), mentioned, False, "mentioned")
            ]
        other = rng.choice(others)
        if other.name in asked.over:
            return []
        told = as_statement(who.fill(rng.choice(other.stated), rng, *other.two_values(rng)), rng)
        return [Pair(question, told, False, "near")]

    def _of_value(self, kind: str, value: str, statement: str, rng: random.Random) -> list[Pair]:
        """Return a question about the statement's value, of which it says no more: "Where does my doctor live?"."""
        other = rng.choice(list(self.kinds[kind].values()))
        bare = re.sub(r"^(?:the|an?) ", "", value)
        mention = f"my {bare}" if kind == "thing" else bare if kind == "person" or rng.random() < 0.5 else f"the {bare}"
        question = Subject(kind, [mention], "their").fill(rng.choice(other.asked), rng, *other.two_values(rng))
        return [Pair(as_question(question, rng), statement, False, "value")] if other.name != "employer" else []


def as_statement(text: str, rng: random.Random) -> str:
    """Return the statement as people write it down."""
    if rng.random() < 0.2:
        text = rng.choice(WORDS["before_statements"]) + _begun_small(text)
    text += rng.choice(WORDS["after_statements"])
    return text.lower() if rng.random() < 0.1 else text


def as_question(text: str, rng: random.Random) -> str:
    """Return the question as people type it."""
    if rng.random() < 0.12:
        text = rng.choice(WORDS["before_questions"]) + text
    which = rng.random()
    if which < 0.2:
        text = text.lower()
    return text.rstrip("?") if which < 0.12 else text


def overlap(question: str, statement: str) -> float:
    """Return the share of the question's words that the statement has."""
    asked, told = (set(re.findall(r"\w+", text.lower())) - USUAL for text in (question, statement))
    return len(asked & told) / max(1, len(asked))


def squad(rng: random.Random) -> tuple[list[list[Pair]], list[list[Pair]]]:
    """Return groups for training and groups kept aside: a question, its sentence, and others near by."""
    train: list[list[Pair]] = []
    aside: list[list[Pair]] = []
    for part in ("dev", "test"):
        sentences, questions = (
            [_written(line) for line in _public("nqg", f"data/processed/{side}-{part}.txt").splitlines()]
            for side in ("src", "tgt")
        )
        for place, (sentence, question) in enumerate(zip(sentences, questions, strict=True)):
            around = slice(max(0, place - 40), place + 40)
            near = [one for one in dict.fromkeys(sentences[around]) if one != sentence and not _is_long(one)]
            paired = zip(sentences[around], questions[around], strict=True)
            again = any(asked == question and said != sentence for said, asked in paired)
            if _is_long(sentence) or not near or again:
                continue
            words = set(question.rstrip("?").split())
            near.sort(key=lambda one: -len(words & set(one.split())))
            group = [Pair(question, sentence, True, "answered"), Pair(question, near[0], False, "near")]
            if len(near) > 3:
                group.append(Pair(question, rng.choice(near[1:5]), False, "near"))
            (aside if place > len(sentences) * 0.93 else train).append(group)
    return train, aside


def qamr(rng: random.Random) -> tuple[list[list[Pair]], list[list[Pair]]]:
    """Return groups for training and groups kept aside: a question, its sentence, and one that resembles it."""
    lines = (line.split("\t") for line in _public("qamr", "data/wiki-sentences.tsv").splitlines())
    sentences = {name: _written(text) for name, text in lines}
    of_article, having = defaultdict(list), defaultdict(set)
    for name, text in sentences.items():
        of_article[_article(name)].append(name)
        for word in set(text.lower().split()):
            having[word].add(name)
    groups = []
    for part in ("dev", "test"):
        rows = (line.split("\t") for line in _public("qamr", f"data/filtered/{part}.tsv").splitlines())
        for name, question in dict.fromkeys((row[0], row[5]) for row in rows):
            if name not in sentences or _is_long(sentences[name]):
                continue
            shared: dict[str, float] = defaultdict(float)
            for word in set(question.lower().rstrip("?").split()):
                if len(having[word]) < 400:
                    for one in having[word]:
                        shared[one] += 1 / len(having[word])
            alike = sorted(shared, key=lambda one: (-shared[one], one))[:4]
            near = [
                one for one in (*of_article[_article(name)], *alike) if one != name and not _is_long(sentences[one])
            ]
            if near:
                said, other = sentences[name], sentences[rng.choice(near)]
                groups.append([Pair(question, said, True, "answered"), Pair(question, other, False, "near")])
    rng.shuffle(groups)
    return groups[400:], groups[:400]


def _read_frames() -> Mapping[str, dict[str, Attribute]]:
    kinds: dict[str, dict[str, Attribute]] = {}
    for line in (HERE / "frames.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = kinds.setdefault(line.strip()[1:-1], {})
        elif line.strip() and not line.startswith("#"):
            names, values, stated, asked = (part.strip() for part in line.split(" | "))
            name, *over = names.split()
            parts = (
                [one.strip() for one in part.split(mark)] for part, mark in ((values, ","), (stated, ";"), (asked, ";"))
            )
            kind[name] = Attribute(name, *parts, over={one.lstrip("~") for one in over})
    for named in kinds.values():
        for one in named.values():
            for other in one.over & named.keys():
                named[other].over.add(one.name)
    return kinds


def _near(others: Sequence[Attribute], who: Subject, statement: str, rng: random.Random) -> Pair:
    questions = []
    for _ in range(_tries(rng)):
        other = rng.choice(others)
        questions.append(who.fill(rng.choice(other.asked), rng, *other.two_values(rng)))
    return Pair(as_question(max(questions, key=lambda one: overlap(one, statement)), rng), statement, False, "near")


def _tries(rng: random.Random) -> int:
    """Return among how many questions the hardest is chosen."""
    return 3 if rng.random() < 0.6 else 1


def _begun_small(text: str) -> str:
    return text if text.startswith("I ") else text[0].lower() + text[1:]


def _put(text: str, slots: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: slots[found[1]], text)


def _number(text: str) -> int:
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), 16)


def _is_held_out(kind: str, name: str) -> bool:
    return _number(f"{kind}/{name}") % 5 == 0


def _public(repository: str, path: str) -> str:
    command = ["git", "-C", f"{os.environ['DATA']}/{repository}", "show", f"HEAD:{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


def _article(name: str) -> str:
    return ":".join(name.split(":")[:3])


def _is_long(text: str) -> bool:
    return len(text.split()) > MAX_WORDS


def _written(text: str) -> str:
    """Return a sentence as it was before it was cut into tokens."""
    for token, written in (
        ("-lrb- ", "("),
        (" -rrb-", ")"),
        ("-LRB- ", "("),
        (" -RRB-", ")"),
        ("`` ", '"'),
        (" ''", '"'),
    ):
        text = text.replace(token, written)
    text = re.sub(r" ([.,;:?!%)])", r"\1", text)
    return re.sub(r" ('s|n't|'re|'ve|'ll|'d|'m|s')\b", r"\1", text).strip()
