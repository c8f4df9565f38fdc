"""Runs laid over each other: loss, global gradient norm and one picked tensor, by step or by time since the start."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from gradwatch_server.figures.palette import Palette, find_palette, share_layout
from gradwatch_server.figures.rows import LOG_AXIS, Row, build_step_axis, stack_rows, title_rows

__all__ = ["build_compare"]

MARGIN_PX: Final = {"l": 56, "r": 16, "t": 24, "b": 40}
GAP_PX: Final = 32
"""Wide enough for a row's title above it."""
TITLES: Final = {"y": "loss", "y2": "global gradient norm", "y3": "gradient norm"}


def build_compare(theme: str) -> go.Figure:
    """Builds the specification of the comparison.

    Args:
        theme: "light" or "dark".

    Returns:
        One empty trace for each role, which is repeated for every run with the colours of ``layout.colorway``.

    Raises:
        ValueError: the theme is unknown.
    """
    palette = find_palette(theme)
    traces = [
        _build_line("loss", "loss %{y:.4g}", axis="y"),
        go.Scatter(
            meta={"role": "loss_nonfinite"}, x=[], y=[], yaxis="y4", mode="markers",
            marker={"color": palette.nonfinite, "symbol": "triangle-down", "size": 8},
            hovertemplate="loss is %{text}<extra>%{fullData.name}</extra>",
        ),
        _build_line("gradient_norm", "global norm %{y:.4g}", axis="y2"),
        _build_line("tensor", "norm %{y:.4g}", axis="y3"),
    ]  # fmt: skip
    return go.Figure(data=traces, layout=_build_layout(palette))


def _build_line(role: str, words: str, *, axis: str) -> go.Scatter:
    return go.Scatter(
        meta={"role": role}, x=[], y=[], yaxis=axis, mode="lines", line={"width": 1.5}, connectgaps=False,
        hovertemplate=f"{words}<extra>%{{fullData.name}}</extra>",
    )  # fmt: skip


def _build_layout(palette: Palette) -> go.Layout:
    rows = [
        Row("loss", "yaxis", 190, {"nticks": 6}),
        Row("gradient_norm", "yaxis2", 150, LOG_AXIS),
        Row("tensor", "yaxis3", 150, LOG_AXIS),
    ]
    stacked: dict[str, Any] = stack_rows(rows, palette, top_px=MARGIN_PX["t"], bottom_px=MARGIN_PX["b"], gap_px=GAP_PX)
    stacked["meta"]["by"] = {"step": "step", "time": "seconds since the start"}
    return go.Layout(
        **share_layout(palette),
        **stacked,
        margin=MARGIN_PX,
        colorway=palette.runs,
        xaxis=build_step_axis(palette, anchor="y3"),
        yaxis4={"overlaying": "y", "range": [0, 1], "fixedrange": True, "visible": False},
        annotations=title_rows(TITLES, palette, x=0, xanchor="left", y=1, yanchor="bottom", yshift=2),
        hovermode="x unified",
    )
