"""The sparkline of a run in the list: loss and global gradient norm, no axes."""

from __future__ import annotations

from typing import Final

import plotly.graph_objects as go

from gradwatch_server.figures.palette import find_palette, share_layout

__all__ = ["build_sparkline"]

HEIGHT_PX: Final = 30
WIDTH_PX: Final = 132


def build_sparkline(theme: str) -> go.Figure:
    """Builds the sparkline's specification.

    Args:
        theme: "light" or "dark".

    Returns:
        Empty traces with their roles; the vertical axis of the norm is logarithmic.

    Raises:
        ValueError: the theme is unknown.
    """
    palette = find_palette(theme)
    hidden = {"visible": False, "fixedrange": True}
    return go.Figure(
        data=[
            go.Scatter(
                meta={"role": "loss"}, x=[], y=[], mode="lines", line={"color": palette.text, "width": 1.4},
                hoverinfo="skip",
            ),
            go.Scatter(
                meta={"role": "loss_nonfinite"}, x=[], y=[], mode="markers", hoverinfo="skip",
                marker={"color": palette.nonfinite, "size": 4},
            ),
            go.Scatter(
                meta={"role": "gradient_norm"}, x=[], y=[], yaxis="y2", mode="lines",
                line={"color": palette.accent, "width": 1.4}, hoverinfo="skip",
            ),
        ],
        layout=go.Layout(
            **share_layout(palette),
            height=HEIGHT_PX,
            width=WIDTH_PX,
            margin={"l": 2, "r": 4, "t": 3, "b": 3},
            xaxis=hidden,
            yaxis=hidden,
            yaxis2={**hidden, "overlaying": "y", "type": "log"},
        ),
    )  # fmt: skip
