"""Gathers a run for a report: its facts, its findings, and the numbers around each onset.

The numbers are kept as the answers of the REST interface, under the address that a page would ask for them, so that the
page's own modules can draw a report. Owns which numbers are wanted, not how they are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from gradwatch_server import __version__
from gradwatch_server.figures import THEMES, specify
from gradwatch_server.store import SCALAR, UPDATE_RATIO, StepRange, Store
from gradwatch_server.store.baseline import read_baseline
from gradwatch_server.store.captures import read_captures
from gradwatch_server.store.catalogue import iso, read_run, read_tensors
from gradwatch_server.store.findings import read_findings
from gradwatch_server.store.inputs import read_columns
from gradwatch_server.store.sequel import read_sequel

__all__ = ["CHARTS_LIMIT", "make_archive"]

Json = dict[str, Any]

CHARTS_LIMIT: Final = 8
"""Findings that get charts of their own; each of them holds all tensors around its onset."""
CELLS_LIMIT: Final = 100_000
COLUMNS_LEAST, COLUMNS_MOST = 100, 400
POINTS: Final = 600
PANEL_POINTS: Final = 300

SHARES: Final = {"zero_share": "n_zero", "saturated_share": "n_saturated"}
"""Statistics of the page that are counts over the number of elements."""
LINES: Final = ("norm", "min", "max", "mean", "n_elements", "n_zero")
LINES_OF_OUTPUTS: Final = ("n_saturated", "cosine_distance")
FIGURES_DRAWN: Final = ("run", "lines")


def make_archive(store: Store, run_id: str, *, with_figures: bool = True) -> Json:
    """Gathers a run.

    Args:
        store: where it is.
        run_id: the run.
        with_figures: whether the specifications of the charts go in, which only a drawing needs.

    Returns:
        The contract's report: plain values and numpy arrays, for orjson.

    Raises:
        NotFoundError: there is no such run.
    """
    return _Archive(store, run_id).gather(with_figures=with_figures)


@dataclass
class _Archive:
    """What has been gathered of a run; ``answers`` by the address of each."""

    store: Store
    run_id: str
    run: Json = field(init=False)
    findings: list[Json] = field(init=False)
    tensors: list[Json] = field(init=False)
    scalars: list[str] = field(init=False)
    answers: dict[str, Any] = field(default_factory=dict)

    def gather(self, *, with_figures: bool) -> Json:
        with self.store.read() as connection:
            self.run = read_run(connection, self.run_id)
            self.findings = read_findings(connection, self.run_id)
            self.tensors = read_tensors(connection, self.run_id)
            sequel = read_sequel(connection, self.run_id)
            capture = read_captures(connection, self.run_id)
        self.scalars = self.store.numbers.scalar_names(self.run_id)
        views = list(self._choose_views())
        for view in views:
            self._add_view(view)
        if with_figures:
            self._add_figures()
        return {
            "gradwatch_report": 1,
            "gradwatch": __version__,
            "made_at": iso(time.time()),
            "run": self.run,
            "findings": self.findings,
            "next": sequel,
            "baseline": read_baseline(self.store, self.run_id),
            "capture": capture,
            "tensors": self.tensors,
            "scalars": self.scalars,
            "views": views,
            "answers": self.answers,
        }

    def _choose_views(self) -> Iterator[Json]:
        """One view of the whole run, then one for each finding that gets charts; none of a run without steps."""
        if self.run["last_step"] is None:
            return
        yield self._place({"kind": "gradient", "statistic": "norm", "from": None, "to": None}, None)
        for finding in self.findings[:CHARTS_LIMIT]:
            yield self._place(finding["view"], finding)

    def _place(self, view: Json, finding: Json | None) -> Json:
        """A view of what was captured, with the tensor whose lines are drawn beside it."""
        captured = {kind for entry in self.tensors for kind in entry["kinds"]}
        if view["kind"] not in captured:
            view = {**view, "kind": "gradient", "statistic": "norm"}
        end = self.run["last_step"] + 1
        stop = None if view["to"] is None or view["to"] >= end else view["to"]
        found = self._find_tensor(view["kind"], finding)
        return {**view, "to": stop, "finding": finding and finding["id"], "tensor": found}

    def _find_tensor(self, kind: str, finding: Json | None) -> str | None:
        """The finding's own tensor; else the first of its layer; None where it has neither."""
        if finding is None:
            return None
        entries = [entry for entry in self.tensors if kind in entry["kinds"]]
        layers = {entry["tensor"]: entry["layer"] for entry in self.tensors}
        for name in (finding["tensor"], finding["layer"]):
            layer = layers.get(name, name)
            fitting = [entry["tensor"] for entry in entries if entry["tensor"] == name]
            fitting += [entry["tensor"] for entry in entries if layer and entry["layer"] == layer]
            if fitting:
                return str(fitting[0])
        return None

    def _add_view(self, view: Json) -> None:
        steps = StepRange(view["from"] or 0, view["to"])
        asked = {"from": view["from"], "to": view["to"]}
        n_rows = max(1, sum(view["kind"] in entry["kinds"] for entry in self.tensors))
        columns = max(COLUMNS_LEAST, min(COLUMNS_MOST, CELLS_LIMIT // n_rows))
        numbers, kind, statistic = self.store.numbers, view["kind"], view["statistic"]
        for name in (SHARES[statistic], "n_elements") if statistic in SHARES else (statistic,):
            block = numbers.heatmap(self.run_id, kind=kind, statistic=name, steps=steps, columns=columns)
            self._add("heatmap", block, kind=kind, statistic=name, **asked)
        self._add("nonfinite", numbers.nonfinite(self.run_id, steps=steps, columns=columns), **asked)
        for name in self.scalars:
            self._add_series(steps, asked, kind=SCALAR, tensor=name)
        if view["tensor"] is not None:
            self._add_lines(view, steps, asked)

    def _add_lines(self, view: Json, steps: StepRange, asked: Json) -> None:
        """What is drawn of one tensor."""
        tensor, kind = view["tensor"], view["kind"]
        kinds = next(entry["kinds"] for entry in self.tensors if entry["tensor"] == tensor)
        for statistic in (*LINES, *(LINES_OF_OUTPUTS if kind == "activation" else ())):
            self._add_series(steps, asked, kind=kind, tensor=tensor, statistic=statistic)
        if "update" in kinds:
            self._add_series(steps, asked, kind="update", tensor=tensor, statistic=UPDATE_RATIO)
        if kind == "input":
            with self.store.read() as connection:
                found = read_columns(connection, self.run_id, tensor=tensor, steps=steps)
            self._add("columns", found, tensor=tensor, **asked)

    def _add_series(self, steps: StepRange, asked: Json, *, kind: str, tensor: str, statistic: str = "") -> None:
        points = POINTS if kind == SCALAR else PANEL_POINTS
        found = self.store.numbers.series(
            self.run_id, kind=kind, tensor=tensor, statistic=statistic, steps=steps, points=points
        )
        self._add("series", found, kind=kind, tensor=tensor, statistic=statistic or None, **asked)

    def _add_figures(self) -> None:
        for name in FIGURES_DRAWN:
            for theme in THEMES:
                self.answers[f"/api/figures/{name}?{urlencode({'theme': theme})}"] = specify(name, theme)

    def _add(self, what: str, answer: Any, **asked: Any) -> None:
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        self.answers[f"/api/runs/{quote(self.run_id, safe='')}/{what}?{query}"] = answer
