"""Old import names of what became a package beside the core; each is an alias for one release."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from mnemic.errors import MissingExtra


class _Alias(MetaPathFinder, Loader):
    """Finder of `<old>.<name>` that returns the module `<new>.<name>` itself, so that no class exists twice."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.startswith(f"{self.old}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # The import system writes the spec of the alias into the module; `exec_module` takes it out again.
        module = import_module(self.new + spec.name.removeprefix(self.old))
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def alias(old: str, new: str, distribution: str, *, for_good: bool = False) -> None:
    """Make `old` and its modules names of `new`. Raises MissingExtra (`missing_extra:<name>`) where the distribution
    is not installed.
    """
    try:
        module = import_module(new)
    except ModuleNotFoundError as missing:
        if missing.name not in (new, new.partition(".")[0]):
            raise
        raise MissingExtra(distribution.removeprefix("mnemic-"), hint=f"pip install {distribution}") from missing
    if not for_good:
        warnings.warn(f"{old} has become {new}, of the package {distribution}", DeprecationWarning, stacklevel=3)
    sys.meta_path.insert(0, _Alias(old, new))
    sys.modules[old] = module
