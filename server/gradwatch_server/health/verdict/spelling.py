"""The spelling of numbers and names in verdicts."""

from __future__ import annotations

import math

__all__ = ["list_names", "say_count", "say_more_layers", "say_number", "say_step"]


def say_number(value: float) -> str:
    """A number for people: three digits, ``0.0123``, ``4,200``, ``3.4e+12``."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinite"
    if value == 0:
        return "0"
    if 1_000 <= abs(value) < 1e6:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def say_count(n: float, noun: str) -> str:
    """``1 tensor``, ``3 tensors``."""
    return f"{int(n):,} {noun}" + ("" if int(n) == 1 else "s")


def say_more_layers(n: int) -> str:
    """`` (and of 2 more layers)``, to follow the name of a layer; nothing for 0."""
    return f" (and of {say_count(n, 'more layer')})" if n else ""


def say_step(step: int) -> str:
    """``step 12,345``."""
    return f"step {step:,}"


def list_names(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and 3 more``."""
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]}, {names[1]} and {len(names) - 2} more"
