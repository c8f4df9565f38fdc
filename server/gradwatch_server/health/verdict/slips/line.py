"""The user's line in the words for a slip. Owns no state."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import say_change

__all__ = ["Words", "as_diff", "line_of", "say_line_or_layer"]

Words = Mapping[SlipKind, Callable[[Misshaped], tuple[str, str, Hypothesis]]]
"""What each kind of slip tells: a title, what was seen, and the cause."""


def line_of(lead: Misshaped) -> str:
    """The user's line; "" where it is not known."""
    return str((lead.slip.get("source") or {}).get("code", ""))


def as_diff(lead: Misshaped, line: str | None) -> str | None:
    """The user's line and what it becomes, as a diff; None where that is not known."""
    return None if line is None else say_change(line_of(lead), line)


def say_line_or_layer(lead: Misshaped, scope: str) -> str:
    """The user's line, or else the layer that a slip is in."""
    return say_line(lead.slip.get("source")) or (f" ({scope})" if scope else "")
