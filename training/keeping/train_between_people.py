"""Train the weights of `classify/between_people.py` on statements of talks that a person has judged.

    python training/keeping/train_between_people.py training/talk/judged.jsonl [MORE.jsonl] [--held-out]

Each line of a file is one statement that was kept: `chat`, `message`, what the `other` said before it, the `content`,
and its `use` (1: of use to somebody who meets the speaker again, 0.5: on the border, 0: of none). `judged.jsonl` has
the statements of the chats beside it and plain facts. The weights of the release were also trained on 296 statements of
telephone calls (Switchboard), whose text is not part of the project. With `--held-out` each chat is judged by weights
that have not seen it, and the shares from several thresholds on are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from datetime import timedelta
from pathlib import Path
from time import monotonic

import numpy as np

from mnemic.extract import conversation_context
from mnemic.extract.conversation_context import Talk
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.language.sentences.classify import between_people
from mnemic.language.sentences.classify.between_people import Said, measure_features
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Deadline, Message
from mnemic_eval.options import EvalOptions

WEIGHTS = Path(between_people.__file__).with_suffix(".json")
RIDGE = 20.0
BORDER = 0.4
"""The share at which a statement on the border counts as one of use."""
STEPS = 30
FROM = (0.5, 0.55, 0.6, 0.65, 0.7)


async def features_of(lines: list[dict[str, object]]) -> list[dict[str, float] | None]:
    """Return the features of each judged statement; None where it is not proposed any more."""
    seen: list[Said] = []
    judge = conversation_context.is_worth_telling
    conversation_context.is_worth_telling = lambda said: bool(seen.append(said)) or True  # type: ignore[func-returns-value]
    extractor = RuleExtractor(EvalOptions().chosen_embedder())
    found: list[dict[str, float] | None] = []
    try:
        for line in lines:
            seen.clear()
            within = Deadline.after(timedelta(minutes=1), monotonic)
            heard = Talk(other=str(line["other"]), people=True)
            message = Message(role="user", content=str(line["message"]), session="s")
            await extractor.extract(message, policy=Policy(), budget=Budget(), deadline=within, talk=heard)
            said = next((one for one in seen if one.content == line["content"]), seen[0] if seen else None)
            found.append(None if said is None else measure_features(said))
    finally:
        conversation_context.is_worth_telling = judge
    return found


def fitted(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic model with a ridge, the bias last, by Newton's steps."""
    with_bias = np.c_[rows, np.ones(len(rows))]
    ridge = np.eye(with_bias.shape[1]) * RIDGE
    ridge[-1, -1] = 1e-6
    weights = np.zeros(with_bias.shape[1])
    for _ in range(STEPS):
        share = 1 / (1 + np.exp(-with_bias @ weights))
        slope = with_bias.T @ (share - wanted) + ridge @ weights
        weights -= np.linalg.solve(with_bias.T @ (with_bias * (share * (1 - share))[:, None]) + ridge, slope)
    return weights


def held_out(rows: np.ndarray, use: np.ndarray, wanted: np.ndarray, chats: list[str]) -> None:
    """Print the shares of use, and what of it stays, of chats that the weights have not seen."""
    shares = np.zeros(len(use))
    of_chat = np.array(chats)
    for chat in dict.fromkeys(chats):
        inside = of_chat == chat
        weights = fitted(rows[~inside], wanted[~inside])
        shares[inside] = 1 / (1 + np.exp(-(np.c_[rows[inside], np.ones(inside.sum())] @ weights)))
    for least in FROM:
        kept = use[shares >= least]
        print(f"{least}: {len(kept)} kept, {np.mean(kept == 1):.2f} of use, {np.mean(kept == 0.5):.2f} on the border, "
              f"{np.sum(kept == 1) / np.sum(use == 1):.2f} of those of use")  # fmt: skip


def main() -> None:
    """Train on the files given and write the weights, or print what they would do with chats held out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--held-out", action="store_true")
    given = parser.parse_args()
    lines = [json.loads(line) for file in given.files for line in file.read_text(encoding="utf-8").splitlines()]
    pairs = [(line, one) for line, one in zip(lines, asyncio.run(features_of(lines)), strict=True) if one is not None]
    names = list(pairs[0][1])
    rows = np.array([[one[name] for name in names] for _, one in pairs])
    use = np.array([float(line["use"]) for line, _ in pairs])
    centre, width = rows.mean(0), rows.std(0) + 1e-6
    scaled, wanted = (rows - centre) / width, np.where(use == 0.5, BORDER, use)
    if given.held_out:
        held_out(scaled, use, wanted, [str(line["chat"]) for line, _ in pairs])
        return
    weights = fitted(scaled, wanted)
    slopes = weights[:-1] / width
    bias = float(weights[-1] - centre @ slopes)
    made = {"bias": round(bias, 4), **{name: round(float(one), 4) for name, one in zip(names, slopes, strict=True)}}
    WEIGHTS.write_text(json.dumps({"weights": made}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
