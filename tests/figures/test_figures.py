"""The specifications: roles, one shared axis to the pixel, and a colour that only non-finite numbers have."""

import json
import re
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from gradwatch_server.figures import FIGURES, THEMES
from gradwatch_server.figures.run import LANES

ROLES = {
    "run": {
        "loss", "loss_nonfinite", "validation_loss", "learning_rate", "correlation", "finding", "heatmap", "captured",
        "missing", "heatmap_nonfinite", "nonfinite_mark", "lane",
    },
    "lines": {
        "norm_band_low", "norm_band", "norm", "value_low", "value_band", "value_mean", "update_ratio", "nonfinite",
    },
    "sparkline": {"loss", "loss_nonfinite", "gradient_norm"},
    "compare": {"loss", "loss_nonfinite", "gradient_norm", "tensor"},
}  # fmt: skip
NONFINITE_ROLES = {"loss_nonfinite", "heatmap_nonfinite", "nonfinite_mark", "nonfinite", "lane"}

every_figure = pytest.mark.parametrize("name", sorted(FIGURES))
every_theme = pytest.mark.parametrize("theme", sorted(THEMES))


def load(name: str, theme: str) -> dict[str, Any]:
    specification: dict[str, Any] = json.loads(FIGURES[name](theme).to_json())
    return specification


def rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def contrast(one: str, other: str) -> float:
    """WCAG 2.1 contrast ratio of two colours, 1 to 21."""

    def luminance(color: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb(color))]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@every_figure
@every_theme
def test_each_role_of_the_contract_has_one_trace(name: str, theme: str) -> None:
    roles = [trace["meta"]["role"] for trace in load(name, theme)["data"]]
    assert set(roles) == ROLES[name]
    assert len(roles) == len(ROLES[name])


@every_figure
@every_theme
def test_a_specification_holds_no_data(name: str, theme: str) -> None:
    for trace in load(name, theme)["data"]:
        assert trace["x"] == []
        if trace["type"] == "scatter":
            assert trace["y"] == []
        else:
            assert trace["z"] == []


@every_figure
@every_theme
def test_a_specification_is_json_without_bare_nan(name: str, theme: str) -> None:
    json.dumps(load(name, theme), allow_nan=False)


@every_figure
def test_themes_differ_in_colours_only(name: str) -> None:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items()}
        if isinstance(value, list):
            return [strip(item) for item in value]
        return "colour" if isinstance(value, str) and value.startswith(("#", "rgb")) else value

    assert strip(load(name, "light")) == strip(load(name, "dark"))


@pytest.mark.parametrize("name", ["run", "lines", "compare"])
def test_rows_share_one_step_axis_and_keep_their_pixels(name: str) -> None:
    specification = load(name, "light")
    layout = specification["layout"]
    assert {trace.get("xaxis", "x") for trace in specification["data"]} == {"x"}
    rows = layout["meta"]["rows"]
    inner_px = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    for row in rows:
        bottom, top = layout[row["axis"]]["domain"]
        assert (top - bottom) * inner_px == pytest.approx(row["height_px"])
    for upper, lower in pairwise(rows):
        gap = layout[upper["axis"]]["domain"][0] - layout[lower["axis"]]["domain"][1]
        assert gap * inner_px == pytest.approx(layout["meta"]["gap_px"])
    assert layout["xaxis"]["anchor"] == rows[-1]["axis"].replace("yaxis", "y")


@every_figure
@every_theme
def test_the_nonfinite_colour_belongs_to_nonfinite_numbers_alone(name: str, theme: str) -> None:
    specification = load(name, theme)
    color = THEMES[theme].nonfinite
    for trace in specification["data"]:
        uses = color in json.dumps(trace)
        assert uses == (trace["meta"]["role"] in NONFINITE_ROLES), trace["meta"]["role"]
    layout = specification["layout"]
    layout.get("meta", {}).pop("onset", None)  # the line where they begin
    assert color not in json.dumps(layout)


@every_theme
def test_no_other_colour_can_be_taken_for_nonfinite(theme: str) -> None:
    palette = THEMES[theme]
    others = [color for _, color in (*palette.scale, *palette.scale_own)] + [palette.accent, palette.second]
    for other in (*others, *palette.runs):
        distance = sum((a - b) ** 2 for a, b in zip(rgb(other), rgb(palette.nonfinite), strict=True)) ** 0.5
        assert distance > 70, other


@every_theme
def test_words_are_legible(theme: str) -> None:
    palette = THEMES[theme]
    assert contrast(palette.text, palette.surface) >= 7
    assert contrast(palette.muted, palette.surface) >= 4.5
    assert contrast(palette.nonfinite, palette.surface) >= 4.5
    for color in palette.runs:
        assert contrast(color, palette.surface) >= 2.8, color


@every_theme
def test_the_style_sheet_has_the_same_colours(theme: str) -> None:
    style = (files("gradwatch_frontend") / "style.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", style)
    variables = {name: light if theme == "light" else dark for name, light, dark in pairs}
    palette = THEMES[theme]
    for name in ("text", "muted", "surface", "accent", "second", "missing", "nonfinite", "critical", "warning"):
        assert variables[name] == getattr(palette, name), name


def test_lanes_stand_in_the_order_of_a_step() -> None:
    assert LANES == ("loss", "gradient", "update", "weight")
    layout = load("run", "light")["layout"]
    assert layout["yaxis4"]["ticktext"] == list(LANES)
    top, bottom = layout["yaxis4"]["range"][1], layout["yaxis4"]["range"][0]
    assert top < 0 < len(LANES) - 1 < bottom


@every_figure
def test_an_unknown_theme_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=r"theme: found 'sepia', expected one of dark, light\."):
        FIGURES[name]("sepia")
