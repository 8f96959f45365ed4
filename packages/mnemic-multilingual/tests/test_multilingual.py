"""Vectors of the multilingual model: its real weights, questions told from statements, languages beside each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic import Actor, MemoryEngine
from mnemic.bootstrap import build_embedder, build_store
from mnemic.config import Settings
from mnemic.errors import EmbedderFailed
from mnemic.ports import EmbedsQueries
from mnemic.runtime.clock import SystemClock
from mnemic.types import Candidate, Vector
from mnemic_multilingual import MultilingualEmbedder
from mnemic_multilingual import embedder as module


def numbers(vector: Vector) -> np.ndarray:
    return np.frombuffer(vector, np.float32)


async def vectors_of(*texts: str) -> list[np.ndarray]:
    embedder = MultilingualEmbedder()
    try:
        return [numbers(one) for one in await embedder.embed(texts)]
    finally:
        await embedder.close()


def test_one_line_of_settings_chooses_it() -> None:
    built = build_embedder(Settings(embedder="multilingual"), SystemClock())
    assert isinstance(built, MultilingualEmbedder)
    assert isinstance(built, EmbedsQueries)
    assert built.space.scale


async def test_a_text_has_one_vector_of_unit_length_whatever_stands_beside_it() -> None:
    (alone,) = await vectors_of("Meine Schwester wohnt in Lissabon.")
    together = await vectors_of("猫を飼っています。", "Meine Schwester wohnt in Lissabon.")
    assert alone.size == 384
    assert np.linalg.norm(alone) == pytest.approx(1.0, abs=1e-5)
    assert together[1] == pytest.approx(alone, abs=1e-6)


async def test_a_question_is_read_otherwise_than_a_statement() -> None:
    embedder = MultilingualEmbedder()
    (asked,), (told,) = await embedder.embed_queries(["Katze"]), await embedder.embed(["Katze"])
    await embedder.close()
    assert asked != told


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Where does my sister live?", 0), ("¿Qué mascota tengo?", 1), ("Was trinke ich morgens?", 2)],
)
async def test_a_question_is_nearest_to_its_answer_in_another_language(question: str, answer: int) -> None:
    embedder = MultilingualEmbedder()
    (asked,) = await embedder.embed_queries([question])
    told = await embedder.embed(
        ["妹はリスボンに住んでいます。", "J'ai un chat noir.", "I drink green tea every morning."]
    )
    await embedder.close()
    assert int(np.argmax([numbers(one) @ numbers(asked) for one in told])) == answer


async def test_a_long_text_and_odd_characters_have_vectors() -> None:
    long, cut, zero, surrogate, empty = await vectors_of("cat " * 900, "cat " * 500, "a\0b", "a\ud800b", "")
    assert np.isfinite(np.stack([long, zero, surrogate, empty])).all()
    assert long == pytest.approx(cut, abs=1e-5)


async def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbedderFailed, match="model_file"):
        await vectors_of("cat")


async def test_a_question_in_english_finds_a_memory_in_german(tmp_path: Path) -> None:
    store = build_store(str(tmp_path / "memories.db"), durability="fast")
    async with MemoryEngine(store=store, embedder=MultilingualEmbedder()) as engine:
        actor = Actor(user="ana")
        for text in (
            "Meine Schwester wohnt in Lissabon.",
            "Ich spiele jeden Sonntag Schach.",
            "Mein Hund heißt Bello.",
        ):
            await engine.add(text, actor=actor)
        found = await engine.search("Which game do I play at weekends?", actor=actor, top_k=1)
    assert [hit.memory.content for hit in found.hits] == ["Ich spiele jeden Sonntag Schach."]


GERMAN = """Meine Schwester wohnt in Lissabon.|Ich spiele jeden Sonntag Schach.|Mein Hund heißt Bello.
Die Heizung wurde im Mai gewartet.|Ich bin allergisch gegen Erdnüsse.|Mein Büro liegt im dritten Stock.
Zum Frühstück trinke ich schwarzen Tee.|Der Kellerschlüssel hängt hinter der Uhr.|Ich habe in Porto Chemie studiert.
Unser Auto ist ein alter Kombi.|Am Wochenende backe ich Brot.|Meine Großmutter züchtet Rosen.
Ich lese vor allem Kriminalromane.|Der Zahnarzt hat mittwochs geschlossen.|Wir fahren im Sommer an die Ostsee.
Mein Fahrrad wurde gestohlen.|Ich lerne seit einem Jahr Gitarre.|Die Miete ist am Ersten fällig.
Mein Bruder arbeitet als Koch.|Ich schlafe schlecht bei Vollmond.|Das Regal im Flur ist zu schmal.
Unsere Nachbarin gießt die Blumen.|Ich sammle Kompasse aus Messing.|Im Herbst laufe ich einen Halbmarathon.
Mein Lieblingsfilm ist ein Western.|Die Waschmaschine macht laute Geräusche.|Ich telefoniere ungern.
Der Mietvertrag läuft bis Dezember.|Ich trage eine Lesebrille.|Meine Tochter geht in die zweite Klasse.
Wir haben Solarzellen auf dem Dach.|Ich fahre mit dem Zug zur Arbeit.|Mein Vater war Tischler.
Ich mag keine Oliven.|Der Garten hat einen Apfelbaum.|Am Montag ist Chorprobe.""".replace("\n", "|").split("|")
KNOWN = {
    "Where does my sister live?": "Lissabon",
    "What is my dog called?": "Bello",
    "What am I allergic to?": "Erdnüsse",
    "What did I study?": "Chemie",
    "Which instrument am I learning?": "Gitarre",
    "What do I collect?": "Kompasse",
    "Wo wohnt meine Schwester?": "Lissabon",
    "¿Cómo se llama mi perro?": "Bello",
}
UNKNOWN = (
    "What is the boiling point of nitrogen?",
    "Who won the world cup in 1998?",
    "Explain quantum chromodynamics to a student.",
    "Fix this Python bug: IndexError: list index out of range",
    "Wie hoch ist der Eiffelturm?",
)


async def test_what_is_known_is_told_from_what_is_not_across_languages(tmp_path: Path) -> None:
    store = build_store(str(tmp_path / "memories.db"), durability="fast")
    async with MemoryEngine(store=store, embedder=MultilingualEmbedder()) as engine:
        actor = Actor(user="ana")
        await engine.add_many([Candidate(content=text) for text in GERMAN], actor=actor)
        known = {question: await engine.search(question, actor=actor, top_k=1) for question in KNOWN}
        unknown = {question: await engine.search(question, actor=actor, top_k=1) for question in UNKNOWN}
    assert {question for question, found in known.items() if found.abstains} == set()
    assert all(KNOWN[question] in found.hits[0].memory.content for question, found in known.items())
    assert {question for question, found in unknown.items() if not found.abstains} == set()
