"""Training of `mnemic_language.changes.change_classifier` on generated sentences.

Run it by `python -m mnemic_eval.train_change_classifier`.

`data/statements.json` has, by language and topic, what may be known, what changes it when said later, and what lets it
be; and the same of other persons. Every pair that this gives is one example. Half of the topics can be held out, to
measure the weights on topics they were not fitted to.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.ports import Embedder
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic_language.changes.change_classifier import cosine_of
from mnemic_language.changes.change_features import NAMES, features
from mnemic_language.frames.statement_frame import Frame

Floats = NDArray[np.float64]
_STRANGERS = 25
"""Number of sentences of other topics that each sentence is paired with."""
_PULL = 1.0
"""Ridge penalty that keeps the weights small."""


class Example(NamedTuple):
    """Known statement, later statement, and the label: True if the later one replaces the known one."""

    topic: str
    known: str
    said: str
    changes: bool


def examples() -> list[Example]:
    """Return every example that the sentences give, always the same ones."""
    text = files(__package__).joinpath("data", "statements.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    chance = random.Random(0)  # noqa: S311
    found: list[Example] = []
    for language, topics in data["topics"].items():
        found += _of_topics(language, topics, chance)
    found += _of_persons(data["persons"], chance)
    found += _of_chatter(data, chance)
    found += _of_corrections(data["corrections"], data["persons"]["relations"], chance)
    for number, (known, said) in enumerate(data["one_value"]):
        found += [Example(f"one:{number}", known, said, changes=True)] * 2
    for number, (one, other) in enumerate(data["side_by_side"]):
        place = f"beside:{number}"
        found += [Example(place, one, other, changes=False), Example(place, other, one, changes=False)] * 2
    return found


def _of_topics(language: str, topics: Mapping[str, Any], chance: random.Random) -> Iterator[Example]:
    for name, topic in topics.items():
        place = f"{language}:{name}"
        yield from (Example(place, a, b, changes=True) for a in topic["known"] for b in topic["changes"])
        yield from (Example(place, a, b, changes=False) for a in topic["known"] for b in topic["lets_be"])
        for beside in topic["lets_be"][:3]:
            if not beside.endswith("?"):
                sample = chance.sample(topic["changes"], min(2, len(topic["changes"])))
                yield from (Example(place, beside, one, changes=False) for one in sample)
        others = [topics[one] for one in topics if one != name]
        for _ in range(_STRANGERS):
            stranger = chance.choice(others)
            said = chance.choice([*stranger["changes"], *stranger["lets_be"], *stranger["known"]])
            yield Example(place, chance.choice(topic["known"]), said, changes=False)


def _of_persons(fields: Mapping[str, Any], chance: random.Random) -> Iterator[Example]:
    for number, (other, oneself) in enumerate(zip(fields["others"], fields["oneself"], strict=True)):
        place = f"persons:{number}"
        for said in other["changes"]:
            for _ in range(4):
                who, whom = chance.sample(fields["relations"], 2)
                known = other["known"].format(r=who)
                yield Example(place, known, said.format(r=who), changes=True)
                yield Example(place, known, said.format(r=whom), changes=False)
                yield Example(place, known, other["known"].format(r=whom), changes=False)
                yield Example(place, oneself["known"], said.format(r=who), changes=False)
                yield Example(place, known, chance.choice(oneself["changes"]), changes=False)
        yield from (Example(place, oneself["known"], said, changes=True) for said in oneself["changes"])


def _of_corrections(fields: Mapping[str, Any], relations: list[str], chance: random.Random) -> Iterator[Example]:
    """Yield corrections of names and numbers that do not repeat what the name or number is of."""
    for values, frames in (("names", "known"), ("numbers", "known_numbers")):
        for number, pair in enumerate(fields[values]):
            place = f"corrections:{values}:{number}"
            for known in fields[frames]:
                a, b = chance.sample(pair, 2)
                first = known.format(a=a, r=chance.choice(relations))
                said = chance.sample(fields["corrections"], 5)
                yield from (Example(place, first, one.format(a=a, b=b), changes=True) for one in said)
                other, also = chance.choice([one for one in fields[values] if one is not pair])
                yield from (Example(place, first, one.format(a=other, b=also), changes=False) for one in said[:3])
                yield from (Example(place, first, one.format(a=a, b=b), changes=False) for one in fields["none"])


def _of_chatter(fields: Mapping[str, Any], chance: random.Random) -> Iterator[Example]:
    """Yield remarks of small talk, which change no known statement."""
    topics = list(fields["topics"]["en"].values())
    for number, talk in enumerate(fields["chatter"]):
        place = f"chatter:{number}"
        yield from (Example(place, a, b, changes=False) for a in talk for b in talk if a != b)
        for said in talk:
            for topic in chance.sample(topics, 4):
                yield Example(place, chance.choice(topic["known"]), said, changes=False)
                yield Example(place, said, chance.choice(topic["changes"]), changes=False)


async def measured(found: list[Example], embedder: Embedder) -> Floats:
    """One row of features for each example."""
    texts = sorted({text for one in found for text in (one.known, one.said)})
    vectors = dict(zip(texts, await embedder.embed(texts), strict=True))
    rows = [
        features(Frame(one.known), Frame(one.said), cosine_of(vectors[one.known], vectors[one.said])) for one in found
    ]
    return np.array(rows)


def fitted(rows: Floats, labels: Floats) -> Floats:
    """Return the weights of a logistic regression, the bias last: Newton's method. Examples of a change count twice."""
    given = np.hstack([rows, np.ones((len(rows), 1))])
    weights, counts = np.zeros(given.shape[1]), np.where(labels > 0, 2.0, 1.0)
    for _ in range(100):
        chance = 1 / (1 + np.exp(-given @ weights))
        slope = given.T @ (counts * (chance - labels)) + _PULL * np.r_[weights[:-1], 0]
        bend = (given * (counts * chance * (1 - chance))[:, None]).T @ given + _PULL * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights -= step
        if abs(step).max() < 1e-6:
            break
    return weights


def probabilities(weights: Floats, rows: Floats) -> Floats:
    """Return the probability of a change, for each row."""
    odds: Floats = 1 / (1 + np.exp(-(rows @ weights[:-1] + weights[-1])))
    return odds


def held_out(found: list[Example], rows: Floats) -> dict[str, float]:
    """Return the accuracy of weights learnt from one half of the topics on the other half, in both directions."""
    topics = sorted({one.topic for one in found})
    halves = np.array([topics.index(one.topic) % 2 for one in found])
    labels = np.array([float(one.changes) for one in found])
    chance = np.zeros(len(found))
    for half in (0, 1):
        chance[halves != half] = probabilities(
            fitted(rows[halves == half], labels[halves == half]), rows[halves != half]
        )
    said = chance >= 0.5
    return {
        "examples": float(len(found)),
        "found": float(said[labels > 0].mean()),
        "false": float(said[labels == 0].mean()),
    }


def main() -> None:
    """Fit the weights on every example, and write the file with the results of the cross-validation on halves."""
    found = examples()
    rows = asyncio.run(measured(found, MiniLmEmbedder()))
    weights = fitted(rows, np.array([float(one.changes) for one in found]))
    named = {name: round(float(weight), 4) for name, weight in zip((*NAMES, "bias"), weights, strict=True)}
    said: dict[str, Any] = {
        "about": "The weights of mnemic_language.changes.change_classifier, made by "
        "mnemic_eval.train_change_classifier."
    } | {
        "held_out": {name: round(figure, 4) for name, figure in held_out(found, rows).items()},
        "weights": named,
    }
    target = Path(str(files("mnemic_language.compare").joinpath("data", "weights.json")))
    target.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
