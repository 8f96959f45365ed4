"""Write the words of topics: `python training/topics/write_words.py FOLDER`.

FOLDER has WordNet 3.0's database (`index.noun`, `data.noun`, `cntlist.rev`). A topic is a few of its nouns with all
that is said to be a kind of them; of their words those are kept that mostly mean that, by WordNet's own counts of
tagged texts over all parts of speech. What comes out is part of the program, under WordNet's licence (NOTICE).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mnemic.language.text.analyse import terms

OUT = Path(__file__).parents[2] / "src/mnemic/language/questions/topic_words.json"
MAX_OFTEN, SHORTEST, LONGEST_ENDING, EVERYDAY = 0.4, 3, 2, 0.5
"""The part of a word's uses that has to be of the topic; letters at least; letters of its ending at most; uses that an
untagged sense counts for.
"""
ROOTS = {
    "food": "food.1 food.2 beverage.1 edible_fruit.1 vegetable.1 seasoning.1 cooking.1 meal.1 seafood.1 nut.1 herb.2",
    "look": "clothing.1 footwear.1 footwear.2 fabric.1 chromatic_color.1 achromatic_color.1 leather.1 jewelry.1",
    "home": "furniture.1 home_appliance.1 kitchen_utensil.1 floor_cover.1 lamp.1 lamp.2 bedclothes.1 curtain.1",
    "animals": "domestic_animal.1 domestic_cat.1 dog.1 horse.1",
    "music": "music_genre.1 musical_instrument.1 musical_composition.1 musician.1 singing.1",
    "sport": "sport.1 exercise.1 sports_equipment.1 athlete.1",
    "leisure": "game.1 game.3 toy.1 pastime.1 festival.1 museum.1 board_game.1 card_game.1 puzzle.1",
    "screen": "movie.1 television_program.1",
    "reading": "novel.1 book.1 fiction.1 poem.1",
    "car": "motor_vehicle.1 bicycle.1",
    "travel": "public_transport.1 vacation.1 journey.1",
    "lodging": "hotel.1 hostel.1 housing.1",
    "health": "disease.1 illness.1 drug.1 medicine.2 symptom.1 disability.1 allergy.1 injury.1 pregnancy.1",
    "code": "programming_language.1 computer_program.1",
    "garden": "flower.1 garden_plant.1 herb.1 tree.1 shrub.1 vine.1 fertilizer.1 pesticide.1 garden_tool.1",
    "faith": "religious_holiday.1 fast.1 religious_service.1 jewish_holy_day.1",
    "money": "investment.2 tax.1 loan.1 financial_gain.1 currency.1",
}
Senses = dict[str, list[str]]


def read(folder: Path) -> tuple[Senses, dict[str, list[tuple[str, str]]]]:
    """Return the senses of each word, most frequent first, and the words and more special synsets of each synset."""
    senses: Senses = {}
    for line in (folder / "index.noun").read_text(encoding="latin-1").splitlines():
        if not line.startswith(" "):
            fields = line.split()
            senses[fields[0]] = fields[-int(fields[2]) :]
    below: dict[str, list[tuple[str, str]]] = {}
    for line in (folder / "data.noun").read_text(encoding="latin-1").splitlines():
        if not line.startswith(" "):
            fields = line.partition(" |")[0].split()
            pointers = fields[4 + 2 * int(fields[3], 16) + 1 :]
            below[fields[0]] = [
                (kind, offset) for kind, offset in zip(pointers[::4], pointers[1::4], strict=False) if kind == "~"
            ]
    return senses, below


def counts(folder: Path) -> dict[str, dict[tuple[str, int], int]]:
    """Return how often each sense of each word was tagged: by part of speech (`1` is a noun) and number."""
    found: dict[str, dict[tuple[str, int], int]] = defaultdict(dict)
    for line in (folder / "cntlist.rev").read_text(encoding="latin-1").splitlines():
        key, number, count = line.split()
        word, _, rest = key.partition("%")
        found[word][rest[0], int(number)] = int(count)
    return found


def under(root: str, senses: Senses, below: dict[str, list[tuple[str, str]]]) -> set[str]:
    """Return the synset of `root` ("food.1") and all that are a kind of it."""
    word, _, number = root.partition(".")
    if len(senses.get(word, ())) < int(number):
        raise SystemExit(f"no such sense: {root}")
    waiting, found = [senses[word][int(number) - 1]], set()
    while waiting:
        synset = waiting.pop()
        if synset not in found:
            found.add(synset)
            waiting += [other for _, other in below[synset]]
    return found


def words(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each topic with its words."""
    senses, below = read(folder)
    tagged = counts(folder)
    for topic, roots in ROOTS.items():
        meant = set().union(*(under(root, senses, below) for root in roots.split()))
        yield topic, sorted(word for word, of in senses.items() if _is_of(word, of, meant, tagged.get(word, {})))


def _is_of(word: str, of: list[str], meant: set[str], tagged: dict[tuple[str, int], int]) -> bool:
    if len(word) < SHORTEST or not word.isalpha() or word.endswith("s") or meant.isdisjoint(of):
        return False
    if any(len(word) - len(stem) > LONGEST_ENDING for stem in terms(word)):
        return False  # "Guinness" has the stem of a name
    uses = {number: tagged.get(("1", number), 0) + EVERYDAY for number in range(1, len(of) + 1)}
    others = sum(count for (part, _), count in tagged.items() if part != "1")
    right = sum(uses[number] for number, synset in enumerate(of, start=1) if synset in meant)
    return right >= MAX_OFTEN * (sum(uses.values()) + others)


def main(folder: Path) -> None:
    """Write the table."""
    found = {topic: " ".join(of) for topic, of in words(folder)}
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
