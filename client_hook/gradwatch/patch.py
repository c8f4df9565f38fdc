"""Wraps methods of classes while something is watched, and restores them exactly. Owns the list of wrapped methods.

The user's models and optimizers are never touched: what is saved, cloned or pickled holds nothing of the hook. A
wrapped method asks whether anybody watches this object and otherwise is the original.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["MethodPatch", "defining_classes"]

Around = Callable[..., Any]


class MethodPatch:
    """One method name of some classes, wrapped while it is in use; one thread at a time changes that.

    Args:
        name: the method's name.
        around: called as ``around(original, self, *args, **kwargs)`` in place of the method.
    """

    def __init__(self, name: str, around: Around) -> None:
        self._name = name
        self._around = around
        self._originals: dict[type, Any] = {}

    def install(self, classes: Iterable[type]) -> None:
        """Wraps the method in each class whose own body defines it; a class already wrapped stays so."""
        for cls in classes:
            if cls not in self._originals and self._name in cls.__dict__:
                original = cls.__dict__[self._name]
                self._originals[cls] = original
                setattr(cls, self._name, self._wrap(original))

    def restore(self) -> None:
        """Puts every original back, unless somebody else has wrapped it since."""
        while self._originals:
            cls, original = self._originals.popitem()
            if getattr(cls.__dict__.get(self._name), "__gradwatch__", None) is self:
                setattr(cls, self._name, original)

    def _wrap(self, original: Any) -> Any:
        around = self._around

        @functools.wraps(original)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            return around(original, self, *args, **kwargs)

        wrapper.__gradwatch__ = self  # type: ignore[attr-defined]
        return wrapper


def defining_classes(cls: type, name: str) -> set[type]:
    """The classes among ``cls``, its bases and all its subclasses whose own body defines ``name``."""
    found = {base for base in cls.__mro__ if name in base.__dict__}
    pending = [cls]
    while pending:
        current = pending.pop()
        if name in current.__dict__:
            found.add(current)
        pending.extend(current.__subclasses__())
    return found
