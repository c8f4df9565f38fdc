"""Enters the scripts of a set in the catalogue, from the folders ``broken`` and ``healthy`` beside its list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.health.catalogue.broken import broken
from tests.health.catalogue.healthy import healthy
from tests.health.catalogue.play import script

__all__ = ["enter_healthy", "entering"]


def entering(here: Path, study: str) -> Callable[..., None]:
    """What enters one broken script of a set: ``(name, family, *kinds, **more)``, as `broken` takes them."""

    def enter(name: str, family: str, *kinds: str, **more: Any) -> None:
        broken(family, study, *kinds, **more)(script(here / "broken" / f"{name}.py"))

    return enter


def enter_healthy(folder: Path) -> None:
    """Enters all scripts of a folder as healthy ones."""
    for path in sorted(folder.glob("*.py")):
        healthy(script(path))
