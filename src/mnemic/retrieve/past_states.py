"""Lists of a question about the past with the memories that were true at that time."""

from __future__ import annotations

from dataclasses import replace

from mnemic.ports import Snapshot
from mnemic.retrieve.candidate_lists import PART_LISTS
from mnemic.retrieve.events_of_period import PERIOD
from mnemic.retrieve.fusion import either, fuse, longer
from mnemic.retrieve.fusion_weights import Weights
from mnemic.retrieve.past_questions import LIFT
from mnemic.retrieve.search_state import Lists, ParsedSearch


async def with_past(
    search: ParsedSearch, lists: Lists, scores: dict[str, float], weights: Weights, snapshot: Snapshot
) -> tuple[Lists, dict[str, float], dict[str, float]]:
    """Return the lists and scores with the facts true then, for a question about the past, and the raise of each."""
    if search.past is None:
        return lists, scores, {}
    hidden = replace(search.past, hidden_keys=search.where.hidden_keys, live_at=search.where.live_at)
    found = await replace(search, where=hidden).make_lists(PART_LISTS, snapshot)
    then = fuse(found, weights)
    if PERIOD in lists:  # events of the time come before facts only true then
        return longer(lists, found), {**then, **scores}, {}
    scores = either(scores, {one: score + LIFT for one, score in then.items()})
    return longer(lists, found), scores, dict.fromkeys(then, LIFT)
