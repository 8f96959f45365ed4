"""Verbs of a class that are loaded with the first of them that is used."""

from __future__ import annotations

from importlib import import_module
from inspect import getattr_static
from typing import Any


class _Late:
    """An attribute of a class that another module defines."""

    def __init__(self, module: str, defined_by: str, name: str) -> None:
        self._place = module, defined_by, name

    def __get__(self, instance: Any, owner: type) -> Any:
        module, defined_by, name = self._place
        found = getattr_static(getattr(import_module(module), defined_by), name)
        return found.__get__(instance, owner)


def late(base: type, module: str, defined_by: str, names: str) -> type:
    """Return a subclass of `base` with the attributes `names` of the class `defined_by` in `module`, which is imported
    when one of them is first used.
    """
    return type(defined_by, (base,), {name: _Late(module, defined_by, name) for name in names.split()})
