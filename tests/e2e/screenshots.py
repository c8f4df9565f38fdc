"""Pictures of every page in both themes, to be looked at before a page is called done.

    python -m tests.e2e.screenshots [NAME ...]

They go to ``artifacts/screenshots/NAME-THEME.png``. The runs are invented, server and page are real.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page

from tests.e2e.chromium import find_chromium, launch, watch_page
from tests.serving import Server
from tests.synthetic import KINDS, N_ELEMENTS, NORM, SyntheticRun, stream
from tests.synthetic_layers import LayeredRun

FOLDER = Path(__file__).parents[2] / "artifacts" / "screenshots"
PARTS = (
    "norm/gamma",
    "attn/q/kernel",
    "attn/k/kernel",
    "attn/v/kernel",
    "attn/out/kernel",
    "mlp/in/kernel",
    "mlp/out/kernel",
)


@dataclass
class Transformer(SyntheticRun):
    """An invented run with the layers of a small vision transformer.

    Attributes:
        is_partial: whether some variables get no gradient.
    """

    is_partial: bool = False

    def statistics(self, steps: np.ndarray) -> np.ndarray:
        block = super().statistics(steps)
        if self.is_partial:
            for place, tensor in enumerate(self.tensors):
                if tensor["kind"] == "gradient" and "block3/mlp" in tensor["tensor"]:
                    block[:, place] = 0
                    block[:, place, NORM : NORM + 5] = np.nan
                    block[:, place, N_ELEMENTS] = 0
        return block

    def _variable(self, layer: int, name: str) -> str:
        last = self.layers - 1
        if layer in (0, last):
            return f"{'head/dense' if layer else 'stem/conv'}/{name}"
        block, part = divmod(2 * (layer - 1) + (name == "bias"), len(PARTS))
        return f"encoder/block{block + 1}/{PARTS[part]}"

    def _make_tensors(self) -> list[dict[str, Any]]:
        tensors = super()._make_tensors()
        for place in range(0, len(tensors), len(KINDS)):
            for tensor in tensors[place : place + len(KINDS)]:
                tensor["layer"] = tensor["tensor"].rpartition("/")[0]
        return tensors


@dataclass
class LayeredTransformer(LayeredRun, Transformer):
    """The same, its layers and inputs captured too."""


RUNS = (
    Transformer(kind="healthy", layers=23, steps=600, run_id="healthy", name="digits-vit-clipped", project="digits",
                targets=("target",), linear_fit=0.72, tags=("vit", "clipnorm 1"),
                config={"learning_rate": 3e-4, "batch_size": 128, "clipnorm": 1.0}, seed=3),
    Transformer(kind="sick", layers=23, steps=900, run_id="sick", name="digits-vit", project="digits", tags=("vit",),
                config={"learning_rate": 1e-3, "batch_size": 128, "clipnorm": None}),
    Transformer(kind="healthy", layers=23, steps=120, run_id="partial", name="digits-vit-frozen", project="digits",
                tags=("vit",), is_partial=True, seed=4),
    Transformer(kind="sick", layers=23, steps=240, run_id="several", name="digits-vit-two-troubles", project="digits",
                is_partial=True, seed=5),
    LayeredTransformer(kind="sick", layers=23, steps=900, run_id="layers", name="digits-vit-norm", project="digits",
                       is_dead=True, period=8),
    LayeredTransformer(kind="healthy", layers=23, steps=1200, run_id="thinned", name="digits-vit-thinned",
                       project="digits", period=256),
    LayeredTransformer(kind="healthy", layers=23, steps=600, run_id="collapsed", name="digits-vit-alike",
                       project="digits", is_collapsed=True, seed=6, targets=("target/kind", "target/place")),
    LayeredTransformer(kind="dirty", layers=12, steps=400, run_id="inputs", name="digits-gaps", project="digits"),
    SyntheticRun(kind="sick", layers=250, steps=1500, run_id="large", name="translation-large", project="nmt",
                 tags=("500 tensors",)),
    SyntheticRun(kind="healthy", layers=6, steps=24, run_id="early", name="mnist-mlp", project="mnist"),
)  # fmt: skip
PAGES = {
    "runs": "/",
    "run-healthy": "/runs/healthy",
    "run-sick": "/runs/sick",
    "run-usual": "/runs/sick?scale=own&order=trouble",
    "run-missing": "/runs/partial",
    "run-findings": "/runs/several",
    "run-operation": "/runs/layers",
    "run-saturated": "/runs/layers?kind=activation&statistic=saturated_share",
    "run-collapsed": "/runs/collapsed?kind=activation&statistic=cosine_distance",
    "run-zoomed": "/runs/layers?kind=activation&from=590&to=650",
    "run-thinned": "/runs/thinned?kind=weight",
    "run-inputs": "/runs/inputs?kind=input",
    "run-early": "/runs/early",
    "run-500": "/runs/large",
    "compare": "/compare?run=sick&run=healthy",
    "unknown": "/runs/nobody",
}


def take(browser: Browser, url: str, name: str, path: str, *, theme: str, width: int = 1440) -> list[str]:
    """Takes one picture; returns what the page complained about."""
    context = browser.new_context(viewport={"width": width, "height": 980}, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    guard = watch_page(page, url)
    page.goto(url + path)
    settle(page)
    page.screenshot(path=FOLDER / f"{name}-{theme}.png", full_page=True)
    context.close()
    return [*guard.complaints, *guard.foreign]


def settle(page: Page) -> None:
    """Waits for the last drawing of what the page shows."""
    page.wait_for_selector("tr[data-run], .empty, .run-chart [data-drawn], .compare-chart[data-drawn]")
    if page.locator(".run-chart").count():
        page.wait_for_selector(".lines-chart [data-drawn]")
    page.wait_for_timeout(700)


def main() -> None:
    """Takes the pictures named, or all."""
    wanted = set(sys.argv[1:])
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = find_chromium()
    if path is None:
        sys.exit("No Chromium on the PATH; set CHROMIUM to one.")
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server, launch(path) as browser:
        shots = [(name, page, theme, 1440) for name, page in PAGES.items() for theme in ("light", "dark")]
        shots += [(f"{name}-narrow", PAGES[name], "light", 900) for name in ("runs", "run-sick", "compare")]
        for theme in ("light", "dark"):
            if not wanted or "empty" in wanted:
                report("empty", theme, take(browser, server.url, "empty", "/", theme=theme))
        for run in RUNS:
            stream(server.url, run, crash=run.run_id == "sick")
        live = Transformer(
            kind="sick", layers=23, steps=9000, run_id="live", name="digits-vit-live", project="digits", steps_per_s=40
        )
        threading.Thread(target=stream, args=(server.url, live), kwargs={"pace": 40}, daemon=True).start()
        shots += [("run-live", "/runs/live", theme, 1440) for theme in ("light", "dark")]
        for name, page, theme, width in shots:
            if not wanted or name in wanted:
                report(name, theme, take(browser, server.url, name, page, theme=theme, width=width))


def report(name: str, theme: str, complaints: list[str]) -> None:
    """Prints one line for each picture."""
    print(f"{name}-{theme}.png", *complaints, flush=True)


if __name__ == "__main__":
    main()
