"""The lines of one picked tensor: its norm, the range of its elements, and how far each update moves its weight."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from gradwatch_server.figures.palette import Palette, find_palette, share_layout
from gradwatch_server.figures.rows import LOG_AXIS, Row, build_step_axis, stack_rows, title_rows

__all__ = ["USUAL_UPDATE_RATIO", "build_lines"]

USUAL_UPDATE_RATIO: Final = 1e-3
"""About where update norm / weight norm lies in training that goes well (A. Karpathy's lectures, 2022)."""
MARGIN_PX: Final = {"l": 48, "r": 10, "t": 22, "b": 36}
GAP_PX: Final = 26
"""Wide enough for a row's title above it."""
TITLES: Final = {"y": "norm", "y2": "elements: least, mean, largest", "y3": "update ÷ weight"}


def build_lines(theme: str) -> go.Figure:
    """Builds the specification of the picked tensor's lines.

    Args:
        theme: "light" or "dark".

    Returns:
        Empty traces with their roles, and the layout.

    Raises:
        ValueError: the theme is unknown.
    """
    palette = find_palette(theme)
    accent = {"color": palette.accent, "width": 1.3}
    traces = [
        *_build_band("norm_band_low", "norm_band", palette, axis="y"),
        _build_line("norm", accent, axis="y", template="norm %{y:.4g}<br>step %{x:,d}<extra></extra>"),
        *_build_band("value_low", "value_band", palette, axis="y2"),
        _build_line("value_mean", accent, axis="y2", template="mean %{customdata:.4g}<br>step %{x:,d}<extra></extra>"),
        _build_line(
            "update_ratio",
            {"color": palette.second, "width": 1.3},
            axis="y3",
            template="update ÷ weight %{y:.3g}<br>step %{x:,d}<extra></extra>",
        ),
        go.Scatter(
            meta={"role": "nonfinite"}, x=[], y=[], yaxis="y4", mode="markers",
            marker={"color": palette.nonfinite, "symbol": "triangle-down", "size": 8},
            hovertemplate="%{text} not finite<br>step %{x:,d}<extra></extra>",
        ),
    ]  # fmt: skip
    return go.Figure(data=traces, layout=_build_layout(palette))


def _build_line(role: str, line: dict[str, Any], *, axis: str, template: str) -> go.Scatter:
    return go.Scatter(
        meta={"role": role}, x=[], y=[], yaxis=axis, mode="lines", line=line, connectgaps=False, hovertemplate=template
    )


def _build_band(low: str, high: str, palette: Palette, *, axis: str) -> list[go.Scatter]:
    """Builds two invisible lines with a fill between them: the least and the largest value."""
    edge = {"width": 0, "color": palette.accent}
    shared: dict[str, Any] = {"mode": "lines", "line": edge, "yaxis": axis, "hoverinfo": "skip", "connectgaps": False}
    return [
        go.Scatter(meta={"role": low}, x=[], y=[], **shared),
        go.Scatter(meta={"role": high}, x=[], y=[], fill="tonexty", fillcolor=palette.band, **shared),
    ]


def _build_layout(palette: Palette) -> go.Layout:
    rows = [
        Row("norm", "yaxis", 120, LOG_AXIS),
        Row("value", "yaxis2", 84),
        Row("update_ratio", "yaxis3", 84, LOG_AXIS),
    ]
    return go.Layout(
        **share_layout(palette),
        **stack_rows(rows, palette, top_px=MARGIN_PX["t"], bottom_px=MARGIN_PX["b"], gap_px=GAP_PX),
        margin=MARGIN_PX,
        xaxis={**build_step_axis(palette, anchor="y3"), "nticks": 5},
        yaxis4={"overlaying": "y", "range": [0, 1], "fixedrange": True, "visible": False},
        annotations=title_rows(TITLES, palette, x=0, xanchor="left", y=1, yanchor="bottom", yshift=1),
        shapes=[
            {
                "type": "line", "layer": "below", "xref": "paper", "x0": 0, "x1": 1, "yref": "y3",
                "y0": USUAL_UPDATE_RATIO, "y1": USUAL_UPDATE_RATIO, "name": "usual-update-ratio",
                "line": {"color": palette.missing, "width": 1, "dash": "dot"},
            }
        ],
        hovermode="x",
    )  # fmt: skip
