"""Synthetic runs: statistics as a hook would send them, built in numpy. Healthy at first; methods make them sick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradwatch.protocol import OPERATION_STATISTICS, STATISTICS, name_correlation
from gradwatch_server.health import Engine, Setup

BATCH = 64
COLUMN = {name: place for place, name in enumerate(STATISTICS)}
KINDS = ("gradient", "weight", "update")
SCALARS = ("loss", "learning_rate", "gradient_norm", "loss_scale", "skipped", "clipped_norm")
NORMS = {"gradient": 0.3, "weight": 4.0, "update": 0.004}


def dense(n_layers: int, width: int = 64, dtype: str = "float32") -> list[tuple[str, tuple[int, ...], str]]:
    """(path, shape, dtype) of kernels and biases of a plain network, from input to output."""
    return [
        entry
        for i in range(n_layers)
        for entry in ((f"dense_{i}/kernel", (width, width), dtype), (f"dense_{i}/bias", (width,), dtype))
    ]


def forward(type_: str, name: str, *, code: str = "", layer: str = "", line: int = 47) -> dict[str, Any]:
    """An operation of the forward pass, as a hook announces it; without code it has no source."""
    source = {"file": "/home/me/train.py", "line": line, "code": code} if code else None
    return {"type": type_, "name": name, "layer": layer, "is_gradient": False, "forward": None, "source": source}


def gradient_of(operation: dict[str, Any], type_: str) -> dict[str, Any]:
    """The operation that the tape adds for another."""
    made_for = {"type": operation["type"], "name": operation["name"]}
    name = f"gradient_tape/{operation['name'].rpartition('/')[0]}/{type_}"
    return operation | {"type": type_, "name": name, "is_gradient": True, "forward": made_for}


def tensor_of(kind: str, path: str, units: int, dtype: str, function: str | None) -> dict[str, Any]:
    """A tensor whose first dimension varies."""
    layer = "" if kind == "input" else path
    return {
        "kind": kind, "tensor": path, "layer": layer, "variable": None, "shape": [None, units], "dtype": dtype,
        "n_elements": 0, "activation": function if kind == "activation" else None,
    }  # fmt: skip


def call(role: str, text: str, *, layer: str | None = None, n: int = 1, line: int = 7) -> dict[str, Any]:
    """A call between « and » in its lines, as a hook tells of it."""
    lines = text.split("\n")
    start = lines[0].index("«")
    lines[0] = lines[0].replace("«", "")
    end = lines[-1].index("»")
    lines[-1] = lines[-1].replace("»", "")
    fields = {"file": "/home/me/train.py", "line": line, "begins": line - 1, "lines": lines, "start": start, "end": end}
    return {"role": role, "layer": layer, "n": n, **fields}


@dataclass
class Run:
    """One stream's rows; every method changes them in place and returns the run."""

    variables: list[tuple[str, tuple[int, ...], str]]
    n_steps: int = 300
    seed: int = 0
    noise: float = 0.3
    first_step: int = 0
    stream: int = 0
    optimizer: str = "adam"
    operations: list[dict[str, Any]] = field(default_factory=list)
    layers: list[tuple[str, int, str | None]] = field(default_factory=list)
    """(path, units, activation function) of layers whose outputs and backprop are captured, in order of depth."""
    inputs: list[tuple[str, int]] = field(default_factory=list)
    """(name, feature columns) of what enters the step."""
    dtype: str = "float32"
    """Of the layers' outputs."""
    replica: int | None = None
    origins: list[dict[str, Any]] = field(default_factory=list)
    assigned: list[dict[str, Any]] = field(default_factory=list)
    input_columns: list[dict[str, Any]] = field(default_factory=list)
    untrained: tuple[str, ...] = ()
    """Names of variables that the model could train too."""
    broken: tuple[str, ...] | None = None
    """Names of variables that were not finite before training; None: not known."""
    untracked: tuple[str, ...] = ()
    """Names of variables that its layers hold unknown to Keras."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What the optimizer was made with."""
    broadcasts: list[dict[str, Any]] = field(default_factory=list)
    """Where a column meets a vector on the way to the loss."""
    cuts: list[dict[str, Any]] = field(default_factory=list)
    """Operations at which the way back from the loss ends."""
    reshapes: list[dict[str, Any]] = field(default_factory=list)
    """Reshapes that leave each axis its length, and not its place."""
    slips: list[dict[str, Any]] = field(default_factory=list)
    """Other slips in the step."""
    traced: list[dict[str, Any]] = field(default_factory=list)
    """Numbers of Python's that the step was traced with."""
    script: dict[str, Any] = field(default_factory=dict)
    """Calls of the user's own code that made what is trained."""
    from_tape: bool = False
    eager: bool = False
    loss_source: dict[str, Any] | None = None
    cleared_source: dict[str, Any] | None = None
    """Whether gradients are known to be those of their own step."""
    scalar_names: list[str] = field(default_factory=lambda: list(SCALARS))
    operation_rows: np.ndarray = field(init=False)
    tensors: list[dict[str, Any]] = field(init=False)
    steps: np.ndarray = field(init=False)
    statistics: np.ndarray = field(init=False)
    scalars: np.ndarray = field(init=False)
    present: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.tensors = [
            {
                "kind": kind,
                "tensor": path,
                "layer": path.rpartition("/")[0],
                "variable": path.rpartition("/")[2],
                "shape": list(shape),
                "dtype": dtype,
                "n_elements": int(np.prod(shape)),
            }
            for kind in KINDS
            for path, shape, dtype in self.variables
        ]
        n_of_variables = len(self.tensors)
        self.tensors += [
            tensor_of(kind, path, units, self.dtype, function)
            for kind in ("activation", "backprop")
            for path, units, function in self.layers
        ]
        self.tensors += [tensor_of("input", name, width, "float32", None) for name, width in self.inputs]
        if self.replica is not None:
            self.tensors = [tensor | {"replica": self.replica} for tensor in self.tensors]
        random = np.random.default_rng(self.seed)
        n, n_variables = self.n_steps, len(self.variables)
        self.steps = self.first_step + np.arange(n, dtype=np.int64)
        self.statistics = np.zeros((n, len(self.tensors), len(STATISTICS)), np.float32)
        sizes = np.array([tensor["n_elements"] for tensor in self.tensors[:n_of_variables]], np.float32)
        usual = np.repeat([NORMS[kind] for kind in KINDS], n_variables)
        spread = np.where(np.repeat(np.array(KINDS) == "weight", n_variables), 0.01, self.noise)
        together = self.noise * random.standard_normal((n, 1))
        norm = usual * np.exp(spread * random.standard_normal((n, len(usual))) + np.where(spread > 0.01, together, 0))
        self.statistics[:, :, [COLUMN["n_saturated"], COLUMN["cosine_distance"]]] = np.nan
        self.statistics[:, :n_of_variables, COLUMN["n_elements"]] = sizes
        self._set_norm(slice(None), np.arange(n_of_variables), norm)
        self._fill_layers(random, n_of_variables)
        loss = 2.3 * np.exp(-np.arange(n) / 150) + 0.2 + 0.05 * random.random(n)
        gradient_norm = np.sqrt((norm[:, :n_variables] ** 2).sum(axis=1))
        self.scalars = np.stack([loss, np.full(n, 1e-3), gradient_norm, *np.zeros((3, n))], 1).astype(np.float32)
        self.present = np.ones((n, len(SCALARS)), bool)
        self.present[:, 3:] = False
        self.operation_rows = np.zeros((n, len(self.operations), len(OPERATION_STATISTICS)), np.float32)
        self.operation_rows[:, :] = [0, 0, 0.5, 2.0, 0, 96]

    # -- places ------------------------------------------------------------------------------------------------------

    def columns(self, kind: str, which: Sequence[int] | None = None) -> np.ndarray:
        """Columns of a kind; ``which`` are places among the variables, layers or inputs."""
        places = np.array([place for place, tensor in enumerate(self.tensors) if tensor["kind"] == kind], int)
        return places if which is None else places[np.asarray(which)]

    def rows(self, start: int, stop: int | None = None) -> slice:
        """Rows of the steps start ... stop - 1."""
        return slice(start - self.first_step, None if stop is None else stop - self.first_step)

    # -- sicknesses --------------------------------------------------------------------------------------------------

    def break_(
        self,
        kind: str,
        which: Sequence[int] | None = None,
        *,
        start: int,
        stop: int | None = None,
        value: str = "n_nan",
        n: float | None = None,
    ) -> Run:
        """Puts n NaN (all elements by default) or Inf in some tensors from step start to before stop."""
        rows, columns = self.rows(start, stop), self.columns(kind, which)
        for column in columns:
            size = float(self.statistics[self.rows(start), column, COLUMN["n_elements"]][0])
            count = size if n is None else min(n, size)
            self.statistics[rows, column, COLUMN[value]] = count
            if count == size:
                self.statistics[rows, column, COLUMN["norm"]] = 0
                self.statistics[rows, column, 1:5] = np.nan
        return self

    def break_loss(self, start: int, stop: int | None = None, value: float = float("nan")) -> Run:
        """Makes the loss non-finite."""
        self.scalars[self.rows(start, stop), 0] = value
        return self

    def set_loss(self, values: Any) -> Run:
        """Replaces the loss of all steps."""
        self.scalars[:, 0] = values
        return self

    def correlate(self, target: str, values: Any) -> Run:
        """Says at each row how far outputs follow a target; NaN for a row that does not know."""
        return self.add_scalar(name_correlation(target), values)

    def add_scalar(self, name: str, values: Any) -> Run:
        """Adds a scalar to all rows; NaN where it was not captured."""
        column = np.broadcast_to(np.asarray(values, np.float32), self.steps.shape)[:, None]
        self.scalar_names = [*self.scalar_names, name]
        self.scalars = np.concatenate([self.scalars, np.nan_to_num(column)], 1)
        self.present = np.concatenate([self.present, ~np.isnan(column)], 1)
        return self

    def scale(
        self, kind: str, factors: Any, which: Sequence[int] | None = None, *, start: int = 0, stop: int | None = None
    ) -> Run:
        """Multiplies norms by a number, or by one for each row."""
        rows, columns = self.rows(max(start, self.first_step), stop), self.columns(kind, which)
        norm = self.statistics[rows][:, columns, 0].astype(np.float64)
        factors = np.asarray(factors, np.float64)
        self._set_norm(rows, columns, norm * (factors[:, None] if factors.ndim else factors))
        return self

    def miss(self, which: Sequence[int], *, start: int = 0, stop: int | None = None) -> Run:
        """Makes gradients None."""
        for column in self.columns("gradient", which):
            self.statistics[self.rows(max(start, self.first_step), stop), column] = [np.nan] * 9 + [0] + [np.nan] * 2
        return self

    def leave_out(self, which: Sequence[int]) -> Run:
        """Makes gradients None, of variables that the training does not give to the optimizer."""
        paths = {self.variables[place][0] for place in which}
        self.tensors = [one | ({"left_out": True} if one["tensor"] in paths else {}) for one in self.tensors]
        columns = self.columns("weight", which)
        self.statistics[:, columns] = self.statistics[:1, columns]
        return self.miss(which)

    def thin(self, every: int, *, keep_bad: bool = True) -> Run:
        """Leaves all but gradient norms and counts out, save at every so many steps, and at broken gradients."""
        gradient = self.columns("gradient")
        is_due = self.steps % every == 0
        if keep_bad:
            is_due |= (self.statistics[:, gradient, 5:8] > 0).any(axis=(1, 2))
        rest = [i for i in range(len(self.tensors)) if i not in set(gradient.tolist())]
        light = np.ix_(~is_due, gradient, [1, 2, 3, 4, 8])
        self.statistics[light] = np.nan
        self.statistics[np.ix_(~is_due, rest)] = np.nan
        return self

    def scale_loss(self, scale: Any) -> Run:
        """Turns dynamic loss scaling on: what layers get back is multiplied; the hook takes it off the gradients."""
        self.scalars[:, 3] = scale
        self.present[:, 3] = True
        return self.scale("backprop", np.broadcast_to(np.asarray(scale, np.float64), self.steps.shape))

    def break_operation(
        self, place: int, *, start: int, stop: int | None = None, n: float = 4, n_in: float = 0, **numbers: Any
    ) -> Run:
        """Makes an operation give n non-finite values, n_in of its inputs being so; other numbers by name."""
        rows = self.rows(start, stop)
        for name, value in {"n_nonfinite": n, "n_nonfinite_in": n_in, **numbers}.items():
            self.operation_rows[rows, place, OPERATION_STATISTICS.index(name)] = value
        return self

    def thin_operations(self, every: int) -> Run:
        """Leaves the operations out, save at every so many steps, and where a gradient or the loss is broken."""
        gradient = self.columns("gradient")
        is_due = (self.steps % every == 0) | (self.statistics[:, gradient, 5:8] > 0).any(axis=(1, 2))
        is_due |= self.present[:, 0] & ~np.isfinite(self.scalars[:, 0])
        self.operation_rows[~is_due] = np.nan
        return self

    def flatten(self, which: Sequence[int], share: Any, *, start: int = 0, stop: int | None = None) -> Run:
        """Makes a share (or one for each row) of some layers' units stand still: dead where 0 is their end."""
        rows = self.rows(start, stop)
        for column in self.columns("activation", which):
            n_elements = self.statistics[rows, column, COLUMN["n_elements"]]
            flat = np.round(np.broadcast_to(np.asarray(share), self.steps.shape)[rows] * n_elements / BATCH) * BATCH
            self.statistics[rows, column, COLUMN["n_saturated"]] = flat
            if self.tensors[column]["activation"] == "relu":
                self.statistics[rows, column, COLUMN["n_zero"]] = flat + 0.5 * (n_elements - flat)
        return self

    def draw_together(self, which: Sequence[int], factor: Any, *, start: int = 0, stop: int | None = None) -> Run:
        """Multiplies the cosine distance between samples in some layers' outputs by a number, or one for each row."""
        rows = self.rows(start, stop)
        for column in self.columns("activation", which):
            factors = np.broadcast_to(np.asarray(factor), self.steps.shape)[rows]
            self.statistics[rows, column, COLUMN["cosine_distance"]] *= factors
        return self

    def cut(self, kind: str, which: Sequence[int], share: Any, *, start: int = 0, stop: int | None = None) -> Run:
        """Makes a share (or one for each row) of some tensors' elements exactly zero."""
        rows = self.rows(start, stop)
        for column in self.columns(kind, which):
            n_elements = self.statistics[rows, column, COLUMN["n_elements"]]
            zeros = np.broadcast_to(np.asarray(share), self.steps.shape)[rows] * n_elements
            self.statistics[rows, column, COLUMN["n_zero"]] = zeros
        return self

    def break_input(
        self,
        columns: Sequence[int],
        *,
        start: int,
        stop: int | None = None,
        bad_rows: Sequence[int] = (2, 5),
        place: int = 0,
        value: str = "n_nan",
    ) -> Run:
        """Puts NaN in some feature columns of some rows of the batch of an input, and says which."""
        name, width = self.inputs[place]
        self.break_("input", [place], start=start, stop=stop, value=value, n=len(columns) * len(bad_rows))
        steps = self.steps[self.rows(start, stop)]
        block = np.zeros((len(steps), width, 3), np.float32)
        block[:, columns, 0] = len(bad_rows)
        first = np.full((len(steps), 8), -1, np.int64)
        first[:, : min(8, len(bad_rows))] = bad_rows[:8]
        n_bad_rows = np.full(len(steps), len(bad_rows), np.int64)
        self.input_columns.append(
            {"tensor": name, "steps": steps, "columns": block, "bad_rows": first, "n_bad_rows": n_bad_rows}
        )
        return self

    def name_origin(
        self, operation: dict[str, Any], step: int, *, chain: Sequence[dict[str, Any]] = (), n_in: int = 0
    ) -> Run:
        """What a hook says that computed a bad step again."""
        links = [
            {name: link[name] for name in ("type", "name", "layer", "is_gradient")} | {"n_nonfinite": 4}
            for link in (operation, *chain)
        ]
        self.origins.append(
            {
                "step": step,
                "operation": operation,
                "n_nonfinite": 4,
                "n_nonfinite_in": n_in,
                "n_elements": 96,
                "chain": links,
            }
        )
        return self

    # -- feeding -----------------------------------------------------------------------------------------------------

    def announce(self, engine: Engine) -> Engine:
        """Adds the stream to an engine."""
        engine.add_stream(
            self.stream,
            self.optimizer,
            self.tensors,
            self.scalar_names,
            operations=self.operations,
            setup=Setup.of(vars(self)),
        )
        return engine

    def batches(self, sizes: Iterator[int]) -> Iterator[slice]:
        """Slices of rows, of these sizes in turn."""
        start = 0
        while start < len(self.steps):
            end = start + max(1, next(sizes))
            yield slice(start, end)
            start = end

    def feed(self, engine: Engine | None = None, batch: int = 64) -> Engine:
        """Announces the stream to a (new) engine and feeds all rows."""
        engine = self.announce(engine if engine is not None else Engine())
        for start in range(0, len(self.steps), batch):
            self.feed_slice(engine, slice(start, start + batch))
        return engine

    def feed_slice(self, engine: Engine, rows: slice) -> None:
        """Feeds some rows."""
        engine.feed_rows(
            self.stream,
            self.steps[rows],
            self.statistics[rows],
            self.scalars[rows],
            self.present[rows],
            operations=self.operation_rows[rows],
            origins=[origin for origin in self.origins if origin["step"] in self.steps[rows]],
            assigned=[one for one in self.assigned if one["step"] in self.steps[rows]],
        )
        for block in self.input_columns:
            here = np.isin(block["steps"], self.steps[rows])
            if here.any():
                engine.feed_columns(
                    self.stream,
                    block["tensor"],
                    block["steps"][here],
                    columns=block["columns"][here],
                    bad_rows=block["bad_rows"][here],
                    n_bad_rows=block["n_bad_rows"][here],
                )

    def _fill_layers(self, random: np.random.Generator, start: int) -> None:
        for column, tensor in enumerate(self.tensors[start:], start):
            n_elements = BATCH * tensor["shape"][-1]
            self.statistics[:, column, COLUMN["n_elements"]] = n_elements
            norm = np.sqrt(n_elements) * np.exp(0.1 * random.standard_normal(self.n_steps))
            self._set_norm(slice(None), [column], norm[:, None])
            if tensor["kind"] == "activation" and tensor["shape"][-1] > 1:
                apart = 0.4 * np.exp(0.2 * random.standard_normal(self.n_steps))
                self.statistics[:, column, COLUMN["cosine_distance"]] = apart
            if tensor["kind"] == "activation" and tensor["activation"] is not None:
                idle = random.binomial(tensor["shape"][-1], 0.03, self.n_steps) * BATCH
                self.statistics[:, column, COLUMN["n_saturated"]] = idle
                if tensor["activation"] == "relu":
                    self.statistics[:, column, COLUMN["n_zero"]] = idle + 0.5 * (n_elements - idle)

    def _set_norm(self, rows: Any, columns: Any, norm: Any) -> None:
        sizes = self.statistics[0, columns, COLUMN["n_elements"]].astype(np.float64) if len(self.steps) else 1.0
        rms = norm / np.sqrt(np.maximum(sizes, 1))
        found = self.statistics[rows]
        is_update = np.array([tensor["kind"] == "update" for tensor in self.tensors])
        mean = np.where(is_update, -0.01, 0.01)[columns] * rms  # updates go down the gradient
        for name, value in (("norm", norm), ("min", -3 * rms), ("max", 3 * rms), ("mean", mean), ("std", rms)):
            found[:, columns, COLUMN[name]] = np.clip(value, -3.4e38, 3.4e38)
        self.statistics[rows] = found
