"""Reading the run chart as it was drawn: where a cell stands, and which colour it has."""

from __future__ import annotations

from playwright.sync_api import Page

__all__ = ["NONFINITE", "PIXEL", "find_cell", "find_finding", "wait_for_chart"]

# The heatmap's rows and columns in page pixels, from the axes that Plotly drew.
AXES = """element => {
  const layout = element._fullLayout, box = element.getBoundingClientRect();
  const axis = ({_offset, _length, range}) => ({offset: _offset, length: _length, range});
  return {left: box.left, top: box.top, x: axis(layout.xaxis), y: axis(layout.yaxis3)};
}"""
# The colour of a point of the chart, from the image that Plotly draws a heatmap into.
PIXEL = """async (element, [x, y]) => {
  const box = element.getBoundingClientRect();
  for (const image of [...element.querySelectorAll('.heatmaplayer image, .hm image')].reverse()) {
    if (image.tagName !== 'image') continue;
    const area = image.getBoundingClientRect();
    const picture = new Image();
    picture.src = image.href.baseVal;
    await picture.decode();
    const canvas = document.createElement('canvas');
    canvas.width = picture.width; canvas.height = picture.height;
    const context = canvas.getContext('2d');
    context.drawImage(picture, 0, 0);
    const column = Math.floor((x + box.left - area.left) / area.width * picture.width);
    const row = Math.floor((y + box.top - area.top) / area.height * picture.height);
    if (column < 0 || row < 0 || column >= picture.width || row >= picture.height) continue;
    const [red, green, blue, alpha] = context.getImageData(column, row, 1, 1).data;
    if (alpha > 0) return [red, green, blue];
  }
  return null;
}"""
NONFINITE = [194, 24, 91]


def wait_for_chart(page: Page) -> None:
    page.wait_for_selector(".run-chart [data-drawn]")
    page.wait_for_selector(".lines-chart [data-drawn]")


def find_cell(page: Page, step: int, row: int) -> tuple[float, float]:
    """The centre of a cell, in pixels from the chart's own corner."""
    axes = page.locator(".run-chart .plot").evaluate(AXES)
    (left, right), (bottom, top) = axes["x"]["range"], axes["y"]["range"]
    x = axes["x"]["offset"] + (step - left) / (right - left) * axes["x"]["length"]
    y = axes["y"]["offset"] + (top - row) / (top - bottom) * axes["y"]["length"]
    return x, y


def find_finding(page: Page, step: int) -> tuple[float, float]:
    """Where the mark of a finding of the topmost track stands on the page."""
    axes = page.locator(".run-chart .plot").evaluate(
        """(element, step) => {
             const {xaxis, yaxis6} = element._fullLayout, box = element.getBoundingClientRect();
             return [box.left + xaxis._offset + xaxis.d2p(step), box.top + yaxis6._offset + yaxis6.d2p(0)];
           }""",
        step,
    )
    return axes[0], axes[1]
