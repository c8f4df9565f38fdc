"""The run figure: loss, learning rate, findings, heatmap and non-finite lanes share one step axis to the pixel."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from gradwatch_server.figures.palette import CALM_SHARE, Palette, find_palette, share_layout
from gradwatch_server.figures.rows import Row, build_step_axis, stack_rows, title_rows

__all__ = ["LANES", "build_run"]

LANES: Final = ("loss", "gradient", "update", "weight")
"""Top to bottom in the order in which a number travels through a step: the first lane to light up came first."""
LABEL_SPACING_PX: Final = 12
"""Least distance between two layer names, a little over their height."""
ROW_HEIGHT_PX: Final = 13
TRACK_HEIGHT_PX: Final = 13
"""Of one track of the findings' row; findings that overlap stand in tracks of their own."""
ROW_HEIGHT_MOST_PX: Final = 40
MARGIN_PX: Final = {"l": 172, "r": 62, "t": 6, "b": 40}


def build_run(theme: str) -> go.Figure:
    """Builds the run figure's specification.

    Args:
        theme: "light" or "dark".

    Returns:
        Empty traces with their roles, and the layout.

    Raises:
        ValueError: the theme is unknown.
    """
    palette = find_palette(theme)
    traces = [*_build_scalars(palette), _build_findings(palette), *_build_heatmap(palette), _build_lane(palette)]
    return go.Figure(data=traces, layout=_build_layout(palette))


def _build_scalars(palette: Palette) -> list[go.Scatter]:
    return [
        go.Scatter(
            meta={"role": "loss"}, x=[], y=[], mode="lines", connectgaps=False,
            line={"color": palette.text, "width": 1.3},
            hovertemplate="loss %{y:.4g}<br>step %{x:,d}<extra></extra>",
        ),
        go.Scatter(
            meta={"role": "validation_loss"}, x=[], y=[], mode="lines+markers+text", connectgaps=True,
            line={"color": palette.accent, "width": 1.3}, marker={"size": 4}, cliponaxis=False,
            textposition="top left", textfont={"color": palette.accent, "size": 11},
            hovertemplate="validation loss %{y:.4g}<br>step %{x:,d}<extra></extra>",
        ),
        go.Scatter(
            meta={"role": "loss_nonfinite"}, x=[], y=[], yaxis="y5", mode="markers",
            marker={"color": palette.nonfinite, "symbol": "triangle-down", "size": 8},
            hovertemplate="loss is %{text}<br>step %{x:,d}<extra></extra>",
        ),
        go.Scatter(
            meta={"role": "learning_rate"}, x=[], y=[], yaxis="y2", mode="lines", connectgaps=False,
            line={"color": palette.muted, "width": 1.2, "shape": "hv"},
            hovertemplate="learning rate %{y:.3g}<br>step %{x:,d}<extra></extra>",
        ),
        go.Scatter(
            meta={"role": "correlation"}, x=[], y=[], yaxis="y7", mode="lines+text", connectgaps=True,
            line={"color": palette.accent, "width": 1.3}, cliponaxis=False,
            textposition="middle right", textfont={"color": palette.accent, "size": 10},
            hovertemplate="correlation with the target %{y:.3f}<br>step %{x:,d}<extra></extra>",
        ),
    ]  # fmt: skip


def _build_findings(palette: Palette) -> go.Scatter:
    """Builds the marks of findings at their first steps; each gets its own colour of ``layout.meta.onset``."""
    return go.Scatter(
        meta={"role": "finding"}, x=[], y=[], yaxis="y6", mode="markers", cliponaxis=False,
        marker={"symbol": "diamond", "size": 9, "line": {"color": palette.surface, "width": 1}},
        hovertemplate="%{text}<br>step %{x:,d}<extra></extra>",
    )  # fmt: skip


def _build_heatmap(palette: Palette) -> list[Any]:
    shared: dict[str, Any] = {"x": [], "y": [], "z": [], "yaxis": "y3", "zsmooth": False, "hoverongaps": False}
    words = "%{y}<br>step %{x:,d}<br>"
    return [
        go.Heatmap(
            meta={"role": "heatmap"}, **shared, colorscale=palette.scale,
            hovertemplate=f"{words}10^%{{z:.2f}}<extra></extra>",
            colorbar={
                "thickness": 9, "lenmode": "pixels", "len": 180, "x": 1.0, "xpad": 12, "y": 0.5, "ypad": 0,
                "outlinewidth": 0, "ticks": "", "tickfont": {"size": 10, "color": palette.muted},
                "tickvals": [-3, -1, 1], "ticktext": ["1e-3", "0.1", "10"],
            },
        ),
        go.Scatter(
            meta={"role": "missing"}, x=[], y=[], yaxis="y3", mode="lines", fill="toself",
            line={"width": 0, "color": palette.missing}, fillcolor="rgba(128, 128, 128, 0.10)",
            fillpattern={
                "shape": "/", "size": 5, "solidity": 0.22, "fgcolor": palette.missing, "fillmode": "overlay",
            },
            hoverinfo="skip",
        ),
        go.Heatmap(
            meta={"role": "heatmap_nonfinite"}, **shared, zmin=0, zmax=1, showscale=False,
            colorscale=((0.0, palette.nonfinite), (1.0, palette.nonfinite)),
            hovertemplate=f"{words}not finite<extra></extra>",
        ),
        go.Scatter(
            meta={"role": "captured"}, x=[], y=[], yaxis="y3", mode="markers", hoverinfo="skip", cliponaxis=False,
            marker={"symbol": "line-ns-open", "size": 5, "color": palette.muted, "line": {"width": 1}},
        ),
        go.Scatter(
            meta={"role": "nonfinite_mark"}, x=[], y=[], yaxis="y3", mode="markers", hoverinfo="skip",
            marker={
                "color": palette.nonfinite, "symbol": "square", "size": 7,
                "line": {"color": palette.surface, "width": 1},
            },
        ),
    ]  # fmt: skip


def _build_lane(palette: Palette) -> go.Heatmap:
    return go.Heatmap(
        meta={"role": "lane"}, x=[], y=list(range(len(LANES))), z=[], yaxis="y4", showscale=False, zsmooth=False,
        hoverongaps=False, ygap=3, zmin=0, zmax=1, colorscale=((0.0, palette.nonfinite), (1.0, palette.nonfinite)),
        hovertemplate="%{customdata} not finite<br>step %{x:,d}<extra></extra>",
    )  # fmt: skip


def _build_layout(palette: Palette) -> go.Layout:
    rows = [
        Row("loss", "yaxis", 92, {"nticks": 5}),
        Row("learning_rate", "yaxis2", 26, {"nticks": 2, "showgrid": False}),
        Row(
            "correlation", "yaxis7", 40,
            {"autorange": False, "range": [-0.08, 1.08], "tickmode": "array", "tickvals": [0, 1],
             "ticktext": ["0", "1"]},
        ),
        Row(
            "findings", "yaxis6", TRACK_HEIGHT_PX,
            {"autorange": False, "range": [0.5, -0.5], "showgrid": False, "showticklabels": False},
        ),
        Row(
            "heatmap", "yaxis3", 180,
            {"fixedrange": False, "autorange": False, "range": [0.5, -0.5], "showgrid": False, "tickmode": "array",
             "tickvals": [], "ticktext": [], "tickfont": {"size": 10}},
        ),
        Row(
            "lane", "yaxis4", 60,
            {"autorange": False, "range": [len(LANES) - 0.5, -0.5], "showgrid": False, "tickmode": "array",
             "tickvals": list(range(len(LANES))), "ticktext": list(LANES), "tickfont": {"size": 10}},
        ),
    ]  # fmt: skip
    stacked = stack_rows(rows, palette, top_px=MARGIN_PX["t"], bottom_px=MARGIN_PX["b"])
    stacked["meta"] |= {
        "label_spacing_px": LABEL_SPACING_PX,
        "row_height_px": ROW_HEIGHT_PX,
        "row_height_most_px": ROW_HEIGHT_MOST_PX,
        "track_height_px": TRACK_HEIGHT_PX,
        "lanes": list(LANES),
        "colorscale": palette.scale,
        "colorscale_own": palette.scale_own,
        "calm_share": CALM_SHARE,
        "onset": {"nonfinite": palette.nonfinite, "critical": palette.critical, "warning": palette.warning},
        "picked": palette.text,
    }
    return go.Layout(
        **share_layout(palette),
        **stacked,
        margin=MARGIN_PX,
        xaxis=build_step_axis(palette, anchor="y4"),
        yaxis5={"overlaying": "y", "range": [0, 1], "fixedrange": True, "visible": False},
        annotations=title_rows(
            {"y": "loss", "y2": "learning rate", "y7": "follows target", "y6": "findings"},
            palette,
            x=0,
            xanchor="right",
            xshift=-46,
            y=0.8,
            yanchor="middle",
        ),
        shapes=_build_tracks(palette),
        hovermode="closest",
    )


def _build_tracks(palette: Palette) -> list[dict[str, Any]]:
    """Builds the pale ground of each lane, so that an empty lane reads as "nothing", not as a hole."""
    return [
        {
            "type": "rect", "layer": "below", "xref": "paper", "x0": 0, "x1": 1, "yref": "y4",
            "y0": lane - 0.4, "y1": lane + 0.4, "line": {"width": 0}, "fillcolor": palette.grid, "opacity": 0.55,
            "name": f"track-{name}",
        }
        for lane, name in enumerate(LANES)
    ]  # fmt: skip
