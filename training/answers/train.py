"""Train the judge of answers: python train.py STEPS OUT [START [TOP]]; 32 pairs a step, START: weights to go on from,
of which only the TOP last layers are trained.

Needs torch, safetensors, and the float weights of all-MiniLM-L6-v2 in minilm/model.safetensors. The packaged weights:
about 30,000 pairs without other_words.txt, then 92,000 with it (to its line 579), then 3,100 with a sixth about the
names of kin; then, with its later lines and questions about "the user", 6,300 pairs three times for the last layer, and
6,800 with an eighth about the places of things twice for the last two, both without the public sets. Only what is added
to the embedder's first layers is trained: matrices of rank 16, biases, norms and the last two layers.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from pairs import HERE, Frames, Pair, Told, qamr, squad
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from mnemic.providers.pair_judge import ANSWER_LIMITS, Limits
from mnemic.providers.wordpiece import WordPiece, bundled_vocabulary

LAYERS, HEADS, WIDTH, RANK = 4, 12, 384, 16
BATCH, RATE, WARMING = 32, 6e-4, 60
DROPPED = 0.1
"""Share of the states that are left out in training: with it the judge learns less of it by heart."""
OF_OTHER_WORDS, OF_FRAMES = 0.42, 0.26
"""Shares of the groups of pairs of our own; the others are public."""
PRODUCTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
_TOKENISER = WordPiece(bundled_vocabulary(), max_tokens=512)


class Adapted(nn.Module):
    """A product with fixed weights, and a trained one of low rank beside it."""

    def __init__(self, weights: Tensor, bias: Tensor) -> None:
        super().__init__()
        outputs, inputs = weights.shape
        self.register_buffer("w", weights.to(torch.bfloat16))
        self.register_buffer("b", bias)
        self.a = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
        self.u = nn.Parameter(torch.zeros(outputs, RANK))
        self.db = nn.Parameter(torch.zeros(outputs))

    def forward(self, states: Tensor) -> Tensor:
        states = states.to(torch.bfloat16)
        added = functional.linear(functional.linear(states, self.a.to(states.dtype)), self.u.to(states.dtype))
        return functional.linear(states, self.w) + added + (self.b + self.db).to(states.dtype)


class Judge(nn.Module):
    """The first layers of the embedder, and the odds that the second text answers the first."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        for name in ("word", "position", "token_type"):
            self.register_buffer(name, weights[f"embeddings.{name}_embeddings.weight"].float())
        self.seg = nn.Parameter(torch.zeros(2, WIDTH))
        self.lin = nn.ModuleList()
        norms = ["embeddings.LayerNorm"]
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            for name in PRODUCTS:
                self.lin.append(Adapted(weights[f"{at}{name}.weight"].float(), weights[f"{at}{name}.bias"].float()))
            norms += [f"{at}attention.output.LayerNorm", f"{at}output.LayerNorm"]
        self.norms = nn.ParameterList(
            nn.Parameter(weights[f"{name}.{part}"].float()) for name in norms for part in ("weight", "bias")
        )
        self.h1, self.h2 = nn.Linear(2 * WIDTH, 64), nn.Linear(64, 1)

    def forward(self, ids: Tensor, sides: Tensor, mask: Tensor) -> Tensor:
        states = self.word[ids] + self.position[: ids.shape[1]] + self.token_type[0] + self.seg[sides]
        states = self._thinned(self._norm(states, 0))
        padding = (1 - mask[:, None, None, :].float()) * -1e4
        for layer in range(LAYERS):
            query, key, value, out, up, down = self.lin[6 * layer : 6 * layer + 6]
            likeness = _heads(query(states)).float() @ _heads(key(states)).float().transpose(2, 3)
            shares = torch.softmax(likeness * (WIDTH // HEADS) ** -0.5 + padding, -1)
            heard = (shares @ _heads(value(states)).float()).transpose(1, 2).reshape(states.shape)
            states = self._norm(states + self._thinned(out(heard).float()), 2 + 4 * layer)
            raised = functional.gelu(up(states), approximate="tanh")
            states = self._norm(states + self._thinned(down(raised).float()), 4 + 4 * layer)
        shown = mask[:, :, None].float()
        mean = (states * shown).sum(1) / shown.sum(1)
        odds: Tensor = self.h2(functional.gelu(self.h1(self._thinned(torch.cat([states[:, 0], mean], 1)))))[:, 0]
        return odds

    def _thinned(self, states: Tensor) -> Tensor:
        return functional.dropout(states, DROPPED, self.training)

    def _norm(self, states: Tensor, place: int) -> Tensor:
        return functional.layer_norm(states, (WIDTH,), self.norms[place], self.norms[place + 1], 1e-12)


def batch(pairs: Sequence[Pair], limits: Limits = ANSWER_LIMITS) -> tuple[Tensor, Tensor, Tensor]:
    """Return pieces, sides and mask of pairs, as the judge reads them."""
    read = [limits.cut(_TOKENISER, pair.question, pair.statement) for pair in pairs]
    ids = torch.zeros(len(read), max(len(pieces) for _, pieces in read), dtype=torch.long)
    sides, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, (asked_pieces, pieces) in enumerate(read):
        ids[row, : len(pieces)] = torch.tensor(pieces)
        sides[row, asked_pieces : len(pieces)] = 1
        mask[row, : len(pieces)] = 1
    return ids, sides, mask


def draw(count: int, public: Sequence[Sequence[Pair]], rng: random.Random) -> list[Pair]:
    """Return about `count` pairs, among them questions about nothing that their statement says."""
    frames, told, pairs = Frames(held_out=False), Told(held_out=False), []
    while len(pairs) < count * 5 / 6:
        which = rng.random()
        if which < OF_OTHER_WORDS:
            pairs += told.group(rng)
        elif which < OF_OTHER_WORDS + OF_FRAMES:
            pairs += frames.group(rng)
        else:
            group = rng.choice(public)
            small = rng.random() < 0.5
            pairs += (
                [one._replace(question=one.question.lower(), statement=one.statement.lower()) for one in group]
                if (small)
                else group
            )
    far = [Pair(rng.choice(pairs).question, rng.choice(pairs).statement, False, "far") for _ in range(len(pairs) // 5)]
    return [*pairs, *far]


def score(model: Judge, pairs: Sequence[Pair], limits: Limits = ANSWER_LIMITS) -> np.ndarray:
    """Return the odds of the pairs."""
    order = sorted(range(len(pairs)), key=lambda one: len(pairs[one].question) + len(pairs[one].statement))
    odds = np.zeros(len(pairs))
    model.eval()
    with torch.no_grad():
        for first in range(0, len(order), 128):
            chosen = order[first : first + 128]
            odds[chosen] = model(*batch([pairs[one] for one in chosen], limits)).float().numpy()
    model.train()
    return odds


def auc(higher: np.ndarray, lower: np.ndarray) -> float:
    """Return how often one of the first is above one of the second."""
    return float((np.sign(higher[:, None] - lower[None, :]) + 1).mean() / 2)


def report(model: Judge, aside: Mapping[str, Sequence[Pair]]) -> None:
    """Print for each set and each way not to answer how often an answer has the higher odds."""
    for name, pairs in aside.items():
        odds = score(model, pairs)
        answers = odds[[one.answers for one in pairs]]
        kinds = sorted({one.kind for one in pairs if not one.answers})
        print(name, {kind: round(auc(answers, odds[[one.kind == kind for one in pairs]]), 3) for kind in kinds})


def fit(
    model: Judge,
    epochs: Iterable[list[Pair]],
    steps: int,
    limits: Limits,
    rate: float,
    warming: int,
    rng: random.Random,
) -> Iterator[float]:
    """Train on the pairs of each epoch, about `steps` batches in all, and yield the mean loss of each."""
    trained = [one for one in model.parameters() if one.requires_grad]
    decayed, free = ([one for one in trained if (one.dim() > 1) == is_matrix] for is_matrix in (True, False))
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.02}, {"params": free, "weight_decay": 0.0}], lr=rate
    )
    step = 0
    for pairs in epochs:
        # Neighbours in length share a batch.
        pairs.sort(key=lambda one: len(one.question) + len(one.statement) + 12 * rng.random())
        batches = [pairs[first : first + BATCH] for first in range(0, len(pairs), BATCH)]
        rng.shuffle(batches)
        losses = []
        for rows in batches:
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1.0, (step + 1) / warming) * max(0.03, 1 - step / steps)
            wanted = torch.tensor([float(one.answers) for one in rows])
            found = model(*batch(rows, limits)).float()
            loss = functional.binary_cross_entropy_with_logits(found, wanted * 0.94 + 0.03)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            losses.append(loss.item())
            step += 1
        yield float(np.mean(losses))


def begin(start: str | None) -> Judge:
    """Return a judge with the embedder's weights and those of `start`."""
    weights = load_file(HERE / "minilm/model.safetensors")
    model = Judge({name.removeprefix("bert."): values for name, values in weights.items()})
    if start is not None:
        model.load_state_dict(torch.load(start))
    return model


def main(steps: int, out: str, start: str | None = None, top: str = str(LAYERS)) -> None:
    torch.manual_seed(0)
    rng, asking = random.Random(0), random.Random(5)
    sets = [squad(rng), qamr(rng)]
    aside = {
        "other words": [one for _ in range(150) for one in Told(held_out=True).group(asking)],
        "other attributes": [one for _ in range(260) for one in Frames(held_out=True).group(asking)],
        **{
            name: [one for group in kept[:160] for one in group]
            for name, (_, kept) in zip(("squad", "qamr"), sets, strict=True)
        },
    }
    model = begin(start)
    for name, one in model.named_parameters():
        one.requires_grad_(_layer_of(name) >= LAYERS - int(top))
    trained = [one for one in model.parameters() if one.requires_grad]
    decayed, free = ([one for one in trained if (one.dim() > 1) == is_matrix] for is_matrix in (True, False))
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": free, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=RATE)
    pairs = draw(BATCH * steps, [group for train, _ in sets for group in train], rng)
    # Neighbours in length share a batch.
    pairs.sort(key=lambda one: len(one.question) + len(one.statement) + 12 * rng.random())
    batches = [pairs[first : first + BATCH] for first in range(0, len(pairs) - BATCH + 1, BATCH)]
    rng.shuffle(batches)
    for step, rows in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARMING) * max(0.02, 1 - step / len(batches))
        wanted = torch.tensor([float(one.answers) for one in rows])
        loss = functional.binary_cross_entropy_with_logits(
            model(*batch(rows)).float(), wanted * 0.96 + 0.02, weight=1 + 0.5 * wanted
        )
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        if step % 50 == 49:
            print(step + 1, round(loss.item(), 4), flush=True)
    report(model, aside)
    torch.save(model.state_dict(), Path(out))


def _layer_of(parameter: str) -> int:
    """Return the layer that a parameter is in; those before the first count to it, those after the last are above."""
    part, *places = parameter.split(".")
    if part == "lin":
        return int(places[0]) // len(PRODUCTS)
    if part == "norms":
        return max(0, int(places[0]) - 2) // 4
    return 0 if part == "seg" else LAYERS


def _heads(states: Tensor) -> Tensor:
    return states.view(*states.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
