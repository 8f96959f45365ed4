"""A property that is computed when it is first read, without the lock of `functools.cached_property` in Python 3.11:
some fifty are read for every statement, and two threads that compute one at once get the same value.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

T_co = TypeVar("T_co", covariant=True)


class lazy_property(cached_property[T_co]):  # noqa: N801  (a decorator, like the one it replaces)
    """`functools.cached_property` without a lock; it needs an instance dictionary."""

    if not TYPE_CHECKING:  # its type is that of `cached_property`

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
