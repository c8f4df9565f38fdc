"""Plays one training of the catalogue: for real, under the hook, and diagnosed step by step as a server would."""

from __future__ import annotations

import io
import itertools
import os
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

import keras
import numpy as np

import gradwatch
from gradwatch import session
from gradwatch.protocol import STATISTICS
from gradwatch_server.health import Engine, Finding
from gradwatch_server.health.finding import CRITICAL
from tests.hook.diagnosis import announce
from tests.hook.recording import Collector, Recording

Watch = Callable[..., Any]
Training = Callable[[Watch, int], None]

BAD = [STATISTICS.index(name) for name in ("n_nan", "n_pos_inf", "n_neg_inf")]


@dataclass(frozen=True)
class Broken:
    """What is wrong with a training, and what must be said of it.

    Attributes:
        train: trains it; takes a watch and a seed.
        family: the kind of defect, as the studies name it.
        study: where it was reported or classified.
        kinds: finding kinds that are right.
        operations: types of the operation that must be named; empty where none is to blame.
        code: what must stand in the source line that is named.
        layer: the layer (or column, or tensor) that must be named, if no operation is.
        cause: words of which one must stand in the first two hypotheses.
        gap: why it is not found, or its culprit not named, as far as the rules go today; empty where it is.
    """

    train: Training
    family: str
    study: str
    kinds: tuple[str, ...]
    operations: tuple[str, ...] = ()
    code: str = ""
    layer: str = ""
    cause: tuple[str, ...] = ()
    gap: str = ""

    @property
    def name(self) -> str:
        """Its name in the table."""
        return self.train.__name__.replace("_", " ")


@dataclass(frozen=True)
class Played:
    """What became of a training.

    Attributes:
        findings: the engine's at the end, the leading one first.
        told: the step at which each kind of finding was first told.
        nonfinite_step: the first step with a gradient or loss that is not finite, or None.
        n_steps: how long it ran.
    """

    findings: Sequence[Finding]
    told: Mapping[str, int]
    nonfinite_step: int | None
    n_steps: int

    @property
    def lead_steps(self) -> int | None:
        """How many steps before the first NaN or Inf something was told; None where there was none, or no word."""
        if self.nonfinite_step is None or not self.told:
            return None
        return max(self.nonfinite_step - min(self.told.values()), 0) or None

    def describe(self) -> str:
        """A line for each finding."""
        return "; ".join(f"{one.severity} {one.kind} {one.first_step}: {one.title}" for one in self.findings) or "none"


@contextmanager
def collected() -> Iterator[list[Collector]]:
    """Watches send nothing: what they would is kept."""
    made: list[Collector] = []

    def make(**arguments: Any) -> Collector:
        made.append(Collector(**arguments))
        return made[-1]

    with (
        tempfile.TemporaryDirectory() as directory,
        mock.patch.dict(os.environ, {"GRADWATCH_DIR": directory}),
        mock.patch.object(session, "Sender", make),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Gradients do not exist")
        warnings.filterwarnings("ignore", category=UserWarning, module=r"keras\.")  # what users are warned of
        warnings.filterwarnings("ignore", message="You are using a softmax over axis -1")
        warnings.filterwarnings("ignore", message="invalid value encountered in divide")  # of data that are 0 / 0
        warnings.filterwarnings("ignore", message="divide by zero encountered in log")  # of data that are log(0)
        warnings.filterwarnings("ignore", message="divide by zero encountered in divide")  # of data that are x / 0
        warnings.filterwarnings("ignore", message="overflow encountered in cast")  # of what float16 cannot hold
        warnings.filterwarnings("ignore", message="__array__ implementation doesn't accept a copy")  # of Keras' own
        yield made


def script(path: Path, output: TextIO | None = None) -> Training:
    """A training that is a script of its own, as its user wrote it, with the one line in it; its seed is ``SEED``.

    What it prints goes to ``output``, or nowhere.
    """

    def train(watch: Watch, seed: int) -> None:
        with (
            mock.patch.object(gradwatch, "watch", watch),
            mock.patch.dict(os.environ, {"SEED": str(seed)}),
            mock.patch.object(sys, "argv", [str(path)]),
            redirect_stdout(output or io.StringIO()),
        ):
            runpy.run_path(str(path), run_name="__main__")

    train.__name__ = path.stem
    return train


def play(train: Training, seed: int = 0, budget: float = 0) -> Played:
    """Trains, with everything captured at every step unless there is a budget, and diagnoses."""
    begun: list[Any] = []

    def watch(*targets: Any, **options: Any) -> Any:
        begun.append(session.watch(*targets, budget=budget, **options))
        return begun[-1]

    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    with collected() as collectors:
        try:
            train(watch, seed)
        finally:
            for one in begun:
                one.close()
            keras.config.set_dtype_policy("float32")  # scripts set one for their whole process
        (collector,) = collectors
    return diagnose(Recording(collector.messages))


def diagnose(recording: Recording) -> Played:
    """Feeds an engine step by step, as the numbers came."""
    engine = announce(recording)
    logged = {name: list(zip(*arrays, strict=True)) for name, arrays in recording.logged_arrays()}
    told: dict[str, int] = {}
    nonfinite_step = None
    rows = sorted(_rows(recording), key=lambda row: (row[0], row[1]))
    origins: dict[tuple[int, int], list[Any]] = {}  # may come in a message before, or after, that of their row
    for stream, messages in recording.rows.items():
        for origin in itertools.chain.from_iterable(message["origins"] for message in messages):
            origins.setdefault((stream, origin["step"]), []).append(origin)
    for step, group in itertools.groupby(rows, key=lambda row: row[0]):
        for _, stream, message, place in group:
            _feed(engine, stream, message, place, origins.get((stream, step), []))
            if nonfinite_step is None and _is_bad(recording.tables[stream], message, place):
                nonfinite_step = step
        for message in recording.columns:
            at = np.flatnonzero(message["steps"] == step)
            if len(at):
                blocks = {name: message[name][at] for name in ("columns", "bad_rows", "n_bad_rows")}
                engine.feed_columns(message["stream"], message["tensor"], message["steps"][at], **blocks)
        for name, values in logged.items():
            while values and values[0][0] <= step:
                at_step, value = values.pop(0)
                engine.feed_scalar(name, np.array([at_step]), np.array([value]))
                if nonfinite_step is None and "loss" in name and not np.isfinite(value):
                    nonfinite_step = int(at_step)
        for finding in engine.findings():
            told.setdefault(finding.kind, step)
    engine.finish()
    for finding in engine.findings():
        told.setdefault(finding.kind, rows[-1][0])
    return Played(engine.findings(), told, nonfinite_step, len({row[0] for row in rows}))


def is_found(case: Broken, played: Played) -> bool:
    """Whether a finding of a right kind is there, and nothing critical of another kind leads."""
    kinds = [finding.kind for finding in played.findings]
    leads = played.findings[0] if played.findings else None
    return (
        any(kind in case.kinds for kind in kinds)
        and leads is not None
        and (leads.severity != CRITICAL or leads.kind in case.kinds)
    )


def names_culprit(case: Broken, played: Played) -> bool:
    """Whether a finding of a right kind names the operation, its line, the layer and the cause that were asked for."""
    return any(finding.kind in case.kinds and _is_right(case, finding) for finding in played.findings)


def _is_right(case: Broken, finding: Finding) -> bool:
    operation = (finding.operation or {}).get("type", "")
    code = str((finding.source or {}).get("code") or "")
    causes = " ".join(one.cause for one in finding.hypotheses[:2]).lower()
    named = " ".join(str(x) for x in (finding.layer, finding.tensor, finding.title, finding.evidence["summary"]))
    return (
        (not case.operations or operation in case.operations)
        and case.code in code
        and case.layer in named
        and (not case.cause or any(word.lower() in causes for word in case.cause))
    )


def _rows(recording: Recording) -> Iterator[tuple[int, int, Mapping[str, Any], int]]:
    for stream, messages in recording.rows.items():
        for message in messages:
            for place, step in enumerate(message["steps"].tolist()):
                yield int(step), stream, message, place


def _feed(engine: Engine, stream: int, message: Mapping[str, Any], place: int, origins: list[Any]) -> None:
    one = slice(place, place + 1)
    engine.feed_rows(
        stream,
        message["steps"][one],
        message["statistics"][one],
        message["scalars"][one],
        message["scalars_present"][one],
        operations=message["operations"][one],
        origins=origins,
        assigned=message["assigned"] if place == 0 else (),
    )


def _is_bad(table: Mapping[str, Any], message: Mapping[str, Any], place: int) -> bool:
    gradients = [column for column, one in enumerate(table["tensors"]) if one["kind"] == "gradient"]
    counts = message["statistics"][place][gradients][:, BAD]
    is_present = message["scalars_present"][place].astype(bool)
    losses = [i for i, name in enumerate(table["scalars"]) if name == "loss" and is_present[i]]
    return bool((counts > 0).any() or not np.isfinite(message["scalars"][place][losses]).all())
