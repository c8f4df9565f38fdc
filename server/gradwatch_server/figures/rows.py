"""Rows stacked on one horizontal axis: heights in pixels, axes, domains. Knows nothing of what is drawn in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from gradwatch_server.figures.palette import Palette

__all__ = ["GAP_PX", "LOG_AXIS", "Row", "build_step_axis", "stack_rows", "title_rows"]

GAP_PX: Final = 14
LOG_AXIS: Final[dict[str, Any]] = {"type": "log", "exponentformat": "e", "minexponent": 2}


@dataclass(frozen=True)
class Row:
    """One row of a figure.

    Attributes:
        name: what it shows; the browser finds it by this.
        axis: the vertical axis as in a layout, e.g. "yaxis3".
        height_px: its height; where it may grow, its least height.
        options: further properties of the vertical axis.
    """

    name: str
    axis: str
    height_px: int
    options: dict[str, Any] = field(default_factory=dict)


def stack_rows(
    rows: list[Row], palette: Palette, *, top_px: int, bottom_px: int, gap_px: int = GAP_PX
) -> dict[str, Any]:
    """Places rows from top to bottom.

    Args:
        rows: the rows, topmost first.
        palette: the theme's colours.
        top_px: margin above.
        bottom_px: margin below, where the horizontal axis has its labels.
        gap_px: what stands between two rows.

    Returns:
        The vertical axes, ``height`` and ``meta`` (``rows`` and ``gap_px``) as keyword arguments of `go.Layout`.
    """
    inner_px = sum(row.height_px for row in rows) + gap_px * (len(rows) - 1)
    layout: dict[str, Any] = {}
    above_px = 0
    for row in rows:
        bottom = 1 - (above_px + row.height_px) / inner_px
        layout[row.axis] = {
            "domain": [max(0.0, bottom), 1 - above_px / inner_px],
            "gridcolor": palette.grid,
            "zeroline": False,
            "automargin": False,
            "fixedrange": True,
            "ticks": "",
            "nticks": 4,
            "exponentformat": "e",
            **row.options,
        }
        above_px += row.height_px + gap_px
    layout["height"] = inner_px + top_px + bottom_px
    layout["meta"] = {
        "rows": [{"name": row.name, "axis": row.axis, "height_px": row.height_px} for row in rows],
        "gap_px": gap_px,
    }
    return layout


def title_rows(titles: dict[str, str], palette: Palette, **place: Any) -> list[dict[str, Any]]:
    """Writes a row's title level, where it can be read without turning the head; it moves with its row.

    Args:
        titles: the words, by the row's axis id, e.g. "y2".
        palette: the theme's colours.
        **place: properties of the annotations, relative to the row.

    Returns:
        Annotations of a layout.
    """
    shared = {"showarrow": False, "xref": "paper", "font": {"size": 11, "color": palette.muted}, **place}
    return [
        {"text": text, "yref": f"{axis} domain", "name": f"title-{axis}", **shared} for axis, text in titles.items()
    ]


def build_step_axis(palette: Palette, *, anchor: str) -> dict[str, Any]:
    """Builds the shared horizontal axis, in steps.

    Args:
        palette: the theme's colours.
        anchor: the lowest row's axis id, e.g. "y4".

    Returns:
        The properties of ``xaxis``.
    """
    return {
        "anchor": anchor,
        "gridcolor": palette.grid,
        "zeroline": False,
        "ticks": "",
        "tickformat": ",d",
        "nticks": 11,
        "title": {"text": "step", "font": {"size": 11, "color": palette.muted}, "standoff": 4},
        "automargin": False,
    }
