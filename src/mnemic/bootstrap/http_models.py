"""Models over HTTP, with the clients of mnemic.models, and a stand-in if that is not installed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import NoReturn

from mnemic.plugins.extras import missing_extra
from mnemic.types import Deadline, Prompt


def over_http(module: str) -> ModuleType:
    """Return the module of mnemic.models. Raises MissingExtra (`invalid_config:openai`) if it is not installed."""
    # By name and not by entry point: the keys of the settings go to a package of this repository, and to no other.
    name = f"mnemic.models.{module}"
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("mnemic.models", name):
            raise
        raise missing_extra("openai", setting="openai") from missing


class AbsentCompleter:
    """A language model that raises MissingExtra (`invalid_config:openai`)."""

    def __init__(self, model: str) -> None:
        self.model = model

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> NoReturn:
        """Refuse the call."""
        raise missing_extra("openai", setting="openai")

    async def close(self) -> None:
        """Close nothing."""
