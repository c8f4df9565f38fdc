"""Figure specifications: what each chart looks like, without its data. Pure: a theme in, a `go.Figure` out.

The browser fetches a specification once for each theme, puts its data where ``meta.role`` says, and redraws. The same
specifications, filled, make reports and notebook plots. ``docs/contract.md`` ("Figures") lists the roles.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import plotly.graph_objects as go

from gradwatch_server.figures.compare import build_compare
from gradwatch_server.figures.lines import build_lines
from gradwatch_server.figures.palette import THEMES, Palette
from gradwatch_server.figures.run import build_run
from gradwatch_server.figures.sparkline import build_sparkline

__all__ = [
    "FIGURES",
    "THEMES",
    "Palette",
    "build_compare",
    "build_lines",
    "build_run",
    "build_sparkline",
    "specify",
]

FIGURES: Final[dict[str, Callable[[str], go.Figure]]] = {
    "run": build_run,
    "lines": build_lines,
    "sparkline": build_sparkline,
    "compare": build_compare,
}
"""Every figure by its name in the URL; each takes the theme, "light" or "dark"."""


def specify(name: str, theme: str) -> dict[str, Any]:
    """A figure as plain JSON values: ``data`` and ``layout``; ``name`` is one of `FIGURES`."""
    specification: dict[str, Any] = json.loads(FIGURES[name](theme).to_json())
    return {part: specification[part] for part in ("data", "layout")}
