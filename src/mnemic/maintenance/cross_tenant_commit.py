"""Acts of the service on a tenant, with marks in another tenant than their lines in the audit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from mnemic.ports import Reads, RecordStore
from mnemic.unit_of_work import Mutation, Unit, apply, commit

T = TypeVar("T")


async def commit_act(store: RecordStore, decide: Callable[[Reads], Awaitable[tuple[T, Sequence[Mutation]]]]) -> T:
    """Commit an act with lines of one tenant and marks of another (`Mutation.marks_of`).

    One transaction, if the store's may concern two tenants. Otherwise the lines are committed first and then the marks,
    after `decide` was asked once more: every act in force has its line. Cut short in between, the act is not in force;
    repeating it adds a second line.
    """
    whole = store.capabilities.spans_tenants

    async def made(unit: Unit) -> T:
        result, mutations = await decide(unit.reads)
        for mutation in mutations:
            await unit.apply(mutation if whole else replace(mutation, action=None))
        return result

    if whole:
        return await commit(store, made)
    _, mutations = await commit(store, lambda unit: decide(unit.reads))
    for mutation in mutations:
        if mutation.action is not None:
            await apply(store, replace(mutation, marks={}))
    return await commit(store, made)
