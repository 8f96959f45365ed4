"""Any just-in-time text: folded as it is, for one call, and told when it is not."""

from __future__ import annotations

import asyncio
import copy
from datetime import timedelta
from typing import Any

import pytest

from mnemic.inject import InjectionContext, TextInjector
from tests.unit.inject.shapes import BEDROCK, SHAPES, texts

ASK, TOOL = BEDROCK["ask"], BEDROCK["tool"]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_the_text_is_in_one_call_only(shape: dict[str, Any]) -> None:
    before = copy.deepcopy(shape["ask"])
    injector = TextInjector(lambda context: f"<n>{len(context.messages)}</n>")
    done = await injector.inject(shape["ask"])
    assert f"<n>{len(before)}</n>" in texts(done.messages[-1])
    assert shape["ask"] == before
    assert injector.counts == {"injected": 1}


async def test_it_may_be_written_asynchronously_and_see_the_state() -> None:
    async def render(context: InjectionContext) -> str:
        return str(context.state)

    assert (await TextInjector(render, placement="append").inject(ASK, state="the state")).trailing == 1
    assert (await TextInjector(render).inject(ASK, state="the state")).text == "the state"


async def test_nothing_is_injected_where_there_is_nothing() -> None:
    for nothing in (None, "", " \n"):
        done = await TextInjector(lambda context, nothing=nothing: nothing).inject(ASK)
        assert (done.messages, done.injected, done.degraded, done.reason) == (ASK, False, False, "empty_block")
    assert (await TextInjector(lambda context: "x").inject(TOOL)).reason == "not_triggered"
    only: Any = [{"role": "assistant", "content": [{"text": "hi"}]}]
    assert (await TextInjector(lambda context: "x", trigger="everyTurn").inject(only)).reason == "no_user_message"


async def test_what_goes_wrong_is_told() -> None:
    async def never(context: InjectionContext) -> str:
        await asyncio.Event().wait()
        return ""

    broken: Any = [{"role": "user"}]
    wrong = TextInjector(lambda context: 1 / 0)  # type: ignore[arg-type,return-value]
    assert (await wrong.inject(ASK)).reason == "render:ZeroDivisionError"
    assert (await TextInjector(never, timeout=timedelta(milliseconds=10)).inject(ASK)).reason == "render:timeout"
    done = await TextInjector(lambda context: "x", trigger="everyTurn").inject(broken)
    assert (done.messages, done.degraded, done.reason) == (broken, True, "messages:invalid_input:message")
    assert wrong.counts == {"degraded:render:ZeroDivisionError": 1}
