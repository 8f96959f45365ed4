"""Old import names of modules that moved within the package or into another; each is an alias for one release.

It is loaded when a module `mnemic.<name>` is imported that the package does not have (`mnemic._OldNames`).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object

_EXTRAS = {"mnemic_importers": "import", "mnemic_models": "openai"}
"""Extras with a name other than their package's."""

FOR_GOOD = frozenset({"mnemic.compat"})
"""Names that stay, without a warning."""


class _Package(ModuleType):
    """A package in which the old name of a module takes no function's place: the import system would put it there."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and callable(vars(self).get(name))):
            super().__setattr__(name, value)


class _Modules(Loader):
    """Finder of `<old>.<name>` that returns the module `<new>.<name>` itself, so that no class exists twice."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{self.old}."):
            return None
        # A module that was also renamed within its package has a separate entry.
        return spec_of(fullname) or ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # The import system writes the spec of the alias into the module; `exec_module` takes it out again.
        module = import_module(self.new + spec.name.removeprefix(self.old))
        self.spec = module.__spec__
        package, _, name = spec.name.rpartition(".")
        # A package that imports its functions with their first use has this one only if it is asked for it.
        function = getattr(sys.modules[package], name, None)
        if callable(function):
            setattr(sys.modules[package], name, function)
            sys.modules[package].__class__ = _Package
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


@cache
def old_names() -> dict[str, Any]:
    """Return the new names: under `modules` of each module that moved, under `classes` of the renamed classes of a
    module.
    """
    # Read when an old name is first used: hundreds of lines that no program needs otherwise.
    json = import_module("json")
    found: dict[str, Any] = json.loads((files("mnemic") / "module_aliases.json").read_bytes())
    return found


def spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of the module that has the old name `name`; None if it is no old name."""
    new = old_names()["modules"].get(name)
    return None if new is None else ModuleSpec(name, alias(name, new))


def renamed(module: str, name: str) -> Any:
    """Return the object formerly called `name` in `module`. Raises AttributeError for a name that never existed."""
    new = old_names()["classes"][module].get(name)
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{module}.{name} has become {new}", DeprecationWarning, stacklevel=3)
    return getattr(sys.modules[module], new)


def alias(old: str, new: str) -> _Modules:
    """Make `old` and its modules names of `new`, and return their finder. Raises MissingExtra (`missing_extra:<name>`)
    if the distribution of `new` is not installed.
    """
    package = new.partition(".")[0]
    try:
        import_module(new)
    except ModuleNotFoundError as missing:
        if missing.name not in (new, package):
            raise
        extras = import_module("mnemic.plugins.extras")
        distribution = package.replace("_", "-")
        extra = _EXTRAS.get(package, distribution.removeprefix("mnemic-"))
        raise extras.missing_extra(extra, install=distribution) from missing
    if old not in FOR_GOOD:
        of = "" if package in ("mnemic", old.partition(".")[0]) else f", of the package {package.replace('_', '-')}"
        warnings.warn(f"{old} has become {new}{of}", DeprecationWarning, stacklevel=3)
    finder = _Modules(old, new)
    # First: the usual finders would look for the old modules and fail.
    sys.meta_path.insert(0, finder)
    return finder
