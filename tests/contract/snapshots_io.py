"""Reading, comparing and renewing the snapshots that Python and the page's tests share."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

__all__ = ["DIRECTORY", "check", "read"]

DIRECTORY = Path(__file__).parent / "snapshots"
TOLERANCE = 1e-5
"""Relative. Exponentials differ in the last bits between processors."""


def read(name: str) -> Any:
    """A snapshot's value."""
    return json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))


def check(name: str, value: Any) -> None:
    """Holds a value against its snapshot; with RENEW_SNAPSHOTS=1 it is written anew."""
    plain = json.loads(json.dumps(value, allow_nan=False))
    file = DIRECTORY / f"{name}.json"
    if os.environ.get("RENEW_SNAPSHOTS") == "1":
        file.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert file.is_file(), f"no snapshot {name}; write it with: RENEW_SNAPSHOTS=1 pytest tests/contract"
    difference = _difference(read(name), plain, name)
    assert difference is None, f"{difference}\nIf that is meant: RENEW_SNAPSHOTS=1 pytest tests/contract"


def _difference(expected: Any, found: Any, where: str) -> str | None:
    """The first place where two JSON values differ, None if they do not."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if expected.keys() != found.keys():
            return f"{where}: fields {sorted(expected.keys() ^ found.keys())} are on one side only"
        pairs = [(expected[key], found[key], f"{where}.{key}") for key in expected]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{where}: {len(expected)} items expected, {len(found)} found"
        pairs = [(one, other, f"{where}[{i}]") for i, (one, other) in enumerate(zip(expected, found, strict=True))]
    else:
        return None if _is_same(expected, found) else f"{where}: {expected!r} expected, {found!r} found"
    return next((text for one in pairs if (text := _difference(*one))), None)


def _is_same(expected: Any, found: Any) -> bool:
    are_numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (expected, found))
    if are_numbers:
        return math.isclose(expected, found, rel_tol=TOLERANCE, abs_tol=1e-12)
    return type(expected) is type(found) and bool(expected == found)
