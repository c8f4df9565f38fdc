"""The colours of both themes, and the parts of a layout that every figure shares. Owns no axis and no trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

__all__ = ["CALM_SHARE", "FONT_FAMILY", "THEMES", "Palette", "find_palette", "share_layout"]

FONT_FAMILY: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

CALM_SHARE: Final = 0.72
"""Where the cool colours of `Palette.scale` end."""

ColorScale = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS colours; ``style.css`` has the same values under the same names.

    Attributes:
        text: words and the loss.
        muted: axis titles and tick labels.
        grid: grid lines and the tracks of empty lanes.
        surface: the card that a chart stands on.
        accent: the line of the picked layer.
        second: a second line beside it.
        band: the fill between minimum and maximum.
        missing: hatching where a variable got no gradient.
        nonfinite: NaN and Inf; nothing else on the page has this colour.
        critical: the onset of a critical finding that is finite.
        warning: the onset of a warning.
        scale: calm to large, for the heatmap's logarithmic values; up to `CALM_SHARE` calm, above it warm.
        scale_own: smaller to larger than usual, for values relative to a row's own median; neutral in the middle.
        runs: the colours of compared runs, told apart by lightness too.
    """

    text: str
    muted: str
    grid: str
    surface: str
    accent: str
    second: str
    band: str
    missing: str
    nonfinite: str
    critical: str
    warning: str
    scale: ColorScale
    scale_own: ColorScale
    runs: tuple[str, ...]


THEMES: Final[dict[str, Palette]] = {
    "light": Palette(
        text="#1c1e24",
        muted="#676b76",
        grid="#e9e9e5",
        surface="#ffffff",
        accent="#2f5fd0",
        second="#8a6d1f",
        band="rgba(47, 95, 208, 0.16)",
        missing="#8d919c",
        nonfinite="#c2185b",
        critical="#b3361b",
        warning="#9a6200",
        scale=(
            (0.0, "#f1f5f9"),
            (0.3, "#cfdeeb"),
            (0.55, "#9bbcd8"),
            (0.72, "#6a9ac4"),
            (0.84, "#e5bd62"),
            (0.93, "#e08c34"),
            (1.0, "#c4501b"),
        ),
        scale_own=(
            (0.0, "#2d6a9f"),
            (0.25, "#8db5d6"),
            (0.45, "#f2f4f6"),
            (0.55, "#f5f4f2"),
            (0.75, "#e8b257"),
            (1.0, "#c4501b"),
        ),
        runs=("#2f5fd0", "#d9822b", "#1d8a6b", "#7a4fbf", "#5c6370", "#a5541a", "#3a9cc2", "#8c8a1d"),
    ),
    "dark": Palette(
        text="#e8eaee",
        muted="#969ba7",
        grid="#2b2f38",
        surface="#1a1d23",
        accent="#86a8ff",
        second="#d9bd6a",
        band="rgba(134, 168, 255, 0.20)",
        missing="#7d828e",
        nonfinite="#ff4f93",
        critical="#ff8a66",
        warning="#f0b45a",
        scale=(
            (0.0, "#1b2733"),
            (0.3, "#1f4460"),
            (0.55, "#2f6c8f"),
            (0.72, "#5a9fb5"),
            (0.84, "#e3c26e"),
            (0.93, "#f0a04b"),
            (1.0, "#f2763a"),
        ),
        scale_own=(
            (0.0, "#58a6e0"),
            (0.25, "#2c5a80"),
            (0.45, "#22262e"),
            (0.55, "#24262b"),
            (0.75, "#c08f3a"),
            (1.0, "#f2763a"),
        ),
        runs=("#86a8ff", "#f0a04b", "#58c4a1", "#b698f2", "#a9afbb", "#d98f5c", "#62bfe0", "#cfcb5c"),
    ),
}


def find_palette(theme: str) -> Palette:
    """Finds a theme's colours.

    Args:
        theme: "light" or "dark".

    Returns:
        Its palette.

    Raises:
        ValueError: the theme is unknown.
    """
    try:
        return THEMES[theme]
    except KeyError:
        raise ValueError(f"theme: found {theme!r}, expected one of {', '.join(sorted(THEMES))}.") from None


def share_layout(palette: Palette) -> dict[str, Any]:
    """Builds the part of a layout that all figures share: ground, font, hover label, no legend.

    Args:
        palette: the theme's colours.

    Returns:
        Keyword arguments of `go.Layout`.
    """
    return {
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "font": {"family": FONT_FAMILY, "size": 11, "color": palette.muted},
        "hoverlabel": {
            "bgcolor": palette.surface,
            "bordercolor": palette.grid,
            "font": {"family": FONT_FAMILY, "size": 12, "color": palette.text},
            "align": "left",
        },
        "separators": ".,",  # steps as 12,000, as the findings and the page write them
        "showlegend": False,
        "dragmode": "zoom",
        "template": "none",
    }
