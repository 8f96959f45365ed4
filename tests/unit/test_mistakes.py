"""What a program is told that makes a newcomer's mistake: the call, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic import Actor, AsyncMemoryManager, MemoryManager, Settings, build_engine
from mnemic.errors import (
    InvalidInput,
    MemoryNotFound,
    MnemicError,
    NotSupported,
    ScopeNotAllowed,
    ServiceRefused,
    StoreUnavailable,
    UnknownArgument,
    UnknownVerb,
)

MISTAKES: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "data under another name": (lambda m: m.add("I like tea", metadata={"a": 1}), TypeError, "add:.*mean data?"),
    "number under another name": (lambda m: m.search("tea", limit=3), TypeError, "search:.*mean top_k?"),
    "filter under another name": (lambda m: m.search("tea", filters={"a": 1}), TypeError, "search:.*mean where?"),
    "misspelt": (lambda m: m.add("I like tea", confidance=1), TypeError, "add:.*mean confidence?"),
    "another user": (lambda m: m.add("I like tea", user_id="ben"), TypeError, "add:.*where you open it"),
    "messages": (
        lambda m: m.add([{"role": "user", "content": "I like tea"}]),
        MnemicError,
        "`remember` takes messages",
    ),
    "number as text": (lambda m: m.search("tea", top_k="3"), InvalidInput, "a whole number from 1 to 100"),
    "too sure": (lambda m: m.add("I like tea", confidence=7), InvalidInput, "confidence - a number from 0 to 1"),
    "sure in words": (
        lambda m: m.add("I like tea", confidence="0.9"),
        InvalidInput,
        "confidence - a number from 0 to 1",
    ),
    "unknown level": (lambda m: m.add("I like tea", level="team"), ScopeNotAllowed, "of .*user"),
    "result of another library": (lambda m: m.search("tea")["results"], TypeError, "sequence of hits"),
    "unknown operator": (lambda m: m.search("tea", where={"a": {"$foo": 1}}), InvalidInput, "$foo; there are .*$in, "),
    "unknown id": (lambda m: m.get("nope"), MemoryNotFound, "`list` show ids"),
    "verb of another library": (lambda m: m.delete("x"), AttributeError, "unknown_verb:delete - .*mean forget?"),
    "reading of another library": (lambda m: m.get_all(), AttributeError, "unknown_verb:get_all - .*mean list?"),
    "misspelt verb": (lambda m: m.serach("x"), AttributeError, "unknown_verb:serach - .*mean search?"),
    "unknown id to forget": (lambda m: m.forget("nope"), MemoryNotFound, "`list` show ids"),
}


def test_a_memory_that_is_opened_with_an_argument_of_another_name_says_which_is_meant() -> None:
    for face in (MemoryManager, AsyncMemoryManager):
        with pytest.raises(UnknownArgument, match=r"unknown_argument:open:path - did you mean store\?"):
            face("ana", path="m.db")  # type: ignore[call-arg]
        with pytest.raises(UnknownArgument, match=r"open:user_id - its first value is the user_id already.*`store`"):
            face("m.db", user_id="ana")  # type: ignore[misc]


PLACES = ("m.db", "./data/m.sqlite", "sqlite:///m.db", "postgresql://host/x", "https://memory.example.com", "memory:")


@pytest.mark.parametrize("face", [MemoryManager, AsyncMemoryManager])
def test_the_place_of_a_memory_that_is_given_as_its_user_is_not_taken_for_one(face: Any, tmp_path: Path) -> None:
    for place in PLACES:
        with pytest.raises(InvalidInput, match=r"user:place - the first value is a user; .*`store='"):
            face(place)
    with MemoryManager("m.db", store=tmp_path / "m.db") as memory:
        assert memory.count() == 0
    for user in ("https://id.example.com/users/7", "auth0|7", "ana@example.com", "ana.b", "spiffe://example.com/ana"):
        with MemoryManager(user, settings=Settings(store="memory:")) as memory:
            assert memory.count() == 0


def test_a_hit_and_a_receipt_say_what_they_have(tmp_path: Path) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        receipt = memory.add("The cat is called Miso.")
        assert receipt.id == receipt.memory_id
        with pytest.raises(AttributeError, match="its text is `content`"):
            _ = memory.search("cat")[0].text  # type: ignore[attr-defined]


@pytest.mark.parametrize("alone", ["actor", "pinned", "named", "deadline"])
def test_a_memory_takes_nothing_that_only_its_engine_takes(alone: str) -> None:
    with MemoryManager("ana", store=":memory:") as memory:
        with pytest.raises(UnknownArgument, match=f"unknown_argument:search:{alone}"):
            memory.search("tea", **{alone: None})
        with pytest.raises(TypeError, match=r"search\(\) missing 1 required positional argument: 'query'"):
            memory.search()  # type: ignore[call-arg]


def test_a_memory_to_await_that_is_opened_without_async_says_so(tmp_path: Path) -> None:
    with (
        pytest.raises(NotSupported, match="use `async with`"),
        AsyncMemoryManager("ana", store=tmp_path / "m.db"),  # type: ignore[attr-defined]
    ):
        pass


@pytest.mark.parametrize(("call", "kind", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_with_what_to_do(
    tmp_path: Path, call: Callable[[Any], Any], kind: type[Exception], told: str
) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        with pytest.raises(
            kind, match=told.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?").replace("$", r"\$")
        ):
            call(memory)
        assert memory.count() == 0


async def test_a_mistake_is_answered_before_anything_is_awaited(tmp_path: Path) -> None:
    async with AsyncMemoryManager("ana", store=tmp_path / "m.db") as memory:
        with pytest.raises(UnknownArgument, match=r"unknown_argument:search:limit - did you mean top_k\?"):
            await memory.search("tea", limit=3)  # type: ignore[call-arg]
        assert not hasattr(memory, "delete")
        with pytest.raises(UnknownVerb, match="did you mean forget"):
            await memory.delete("x")  # type: ignore[attr-defined]


def test_a_number_is_no_name_of_a_user(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a name is a text"):
        MemoryManager(42, store=tmp_path / "m.db")  # type: ignore[arg-type]


async def test_an_engine_that_is_not_open_says_how_it_is_opened(tmp_path: Path) -> None:
    engine = build_engine(Settings.load(store=str(tmp_path / "m.db")))
    with pytest.raises(StoreUnavailable, match=r"closed - .*`async with`"):
        await engine.add("I like tea", actor=Actor(user="ana"))


async def test_a_name_in_the_place_of_an_actor_says_what_an_actor_is(tmp_path: Path) -> None:
    async with build_engine(Settings.load(store=str(tmp_path / "m.db"))) as engine:
        for call in (engine.add("I like tea", actor="ana"), engine.list(actor="ana")):  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match=r'invalid_input:actor - .*Actor\(user="ana"\)'):
                await call


def test_a_missing_folder_and_a_service_that_does_not_answer_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"the folder .*nowhere does not exist"):
        MemoryManager("ana", store=tmp_path / "nowhere" / "m.db")
    with pytest.raises(StoreUnavailable, match="is a folder"):
        MemoryManager("ana", store=tmp_path)
    with pytest.raises(StoreUnavailable, match=r"nothing answers at 127\.0\.0\.1:9: ") as refused:
        MemoryManager("ana", store="postgresql://ana:secret@127.0.0.1:9/memories")
    assert "secret" not in str(refused.value)
    with pytest.raises(ServiceRefused, match=r"nothing answers at http://127\.0\.0\.1:9 .*mnemic serve"):
        MemoryManager("ana", store="http://127.0.0.1:9", api_key="x")


def test_a_correction_surer_than_sure_is_refused() -> None:
    with MemoryManager("ana", store="memory:") as memory:
        made = memory.add("I like tea").memory_id or ""
        with pytest.raises(InvalidInput, match="confidence - a number from 0 to 1"):
            memory.update(made, confidence=7)
        assert memory.get(made).version == 1
