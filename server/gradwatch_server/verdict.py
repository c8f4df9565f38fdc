"""Keeps one health engine for each worker of a run that is heard of, and stores what it finds.

Owns the order in which an engine is fed and its rebuilding from the stored frames; the judgement is
`gradwatch_server.health`'s. Everything here runs in threads, never on the event loop.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gradwatch import protocol
from gradwatch_server.health import Baseline, Course, Engine, Setup
from gradwatch_server.messages import Frame, StreamTable, read_frame
from gradwatch_server.store import Store
from gradwatch_server.store.baseline import find_healthy_before, list_differences
from gradwatch_server.store.catalogue import read_frames, read_run, read_workers
from gradwatch_server.store.findings import read_findings, replace_findings
from gradwatch_server.store.numbers import SCALAR, StepRange
from gradwatch_server.store.sequel import is_alike

__all__ = ["Verdict", "Verdicts", "replay"]

logger = logging.getLogger(__name__)

EXACT_STEPS: Final = 200
"""Steps of an earlier run's loss of which each value is read; of all later ones `POINTS` means."""
POINTS: Final = 2_000


@dataclass(frozen=True)
class Verdict:
    """What is known of a run's health.

    Attributes:
        findings: all workers' findings, the leading one first.
        is_changed: whether they differ from the last verdict.
        is_headline_changed: whether level, number or title differ.
    """

    findings: list[dict[str, Any]]
    is_changed: bool
    is_headline_changed: bool


@dataclass
class _Patient:
    """One worker's engine and how far it was fed."""

    engine: Engine
    lock: threading.Lock = field(default_factory=threading.Lock)
    tables: dict[int, StreamTable] = field(default_factory=dict)
    through_seq: int = -1
    bodies: list[dict[str, Any]] | None = None
    is_broken: bool = False

    def feed(self, frame: Frame) -> None:
        fields, arrays = frame.fields, frame.arrays
        if frame.type == "tensors":
            if fields.stream not in self.tables:
                self.tables[fields.stream] = StreamTable.of(fields)
                self.engine.add_stream(
                    fields.stream,
                    fields.optimizer,
                    fields.tensors,
                    fields.scalars,
                    operations=fields.operations,
                    setup=Setup.of(vars(fields)),
                )
        elif frame.type == "rows" and (fields.n_rows or fields.origins or fields.assigned):
            self.engine.feed_rows(
                fields.stream,
                arrays["steps"],
                arrays["statistics"],
                arrays["scalars"],
                arrays["scalars_present"],
                operations=arrays["operations"],
                origins=fields.origins,
                assigned=fields.assigned,
            )
        elif frame.type == "columns" and fields.n_rows:
            self.engine.feed_columns(
                fields.stream,
                fields.tensor,
                arrays["steps"],
                columns=arrays["columns"],
                bad_rows=arrays["bad_rows"],
                n_bad_rows=arrays["n_bad_rows"],
            )
        elif frame.type == "scalars" and fields.n_rows:
            self.engine.feed_scalar(fields.name, arrays["steps"], arrays["values"])
        elif frame.type == "state":
            self.engine.finish()
        self.through_seq = frame.seq

    def feed_stored(self, store: Store, run_id: str, worker: int, *, before: int | None = None) -> None:
        """Feeds what is stored beyond `through_seq`, up to but without the message ``before``."""
        with store.read() as connection:
            for seq, data in read_frames(connection, run_id, worker, self.through_seq):
                if before is not None and seq >= before:
                    break
                self.feed(read_frame(protocol.decode(data), data, self.tables))

    def judge(self, worker: int) -> list[dict[str, Any]]:
        """The findings as they are stored, the leading one first."""
        return [{**finding.to_json(), "worker": worker} for finding in self.engine.findings()]


def replay(store: Store, run_id: str, worker: int) -> list[dict[str, Any]]:
    """What a new engine finds in all that is stored of a worker, as it would be stored itself."""
    patient = _Patient(Engine(read_measure(store, run_id), _Omissions(run_id, worker)))
    patient.feed_stored(store, run_id, worker)
    return patient.judge(worker)


class _Omissions:
    """Logs what of a worker's health could not be worded, each kind once: it is judged anew with every message.

    Args:
        run_id: the run.
        worker: the worker.
        on_failure: called for each kind.
    """

    def __init__(self, run_id: str, worker: int, on_failure: Callable[[], None] = lambda: None) -> None:
        self._run_id, self._worker, self._on_failure = run_id, worker, on_failure
        self._known: set[str] = set()

    def __call__(self, kind: str) -> None:
        if kind in self._known:
            return
        self._known.add(kind)
        self._on_failure()
        logger.exception(
            "the words for %s in run %s, worker %s failed: that is left as it was last told",
            kind,
            self._run_id,
            self._worker,
        )


def read_measure(store: Store, run_id: str) -> Baseline | None:
    """What a run is judged against: the newest healthy run of its project before it with the same script or name."""
    with store.read() as connection:
        run = read_run(connection, run_id)
        before = next((one for one in find_healthy_before(connection, run) if is_alike(run, one)), None)
    if before is None:
        return None
    names = [name for name in store.numbers.scalar_names(before["id"]) if protocol.is_loss(name)]
    losses = {name: _read_course(store, before["id"], name) for name in names}
    return Baseline(before["id"], before["name"], list_differences(before, run), losses)


def _read_course(store: Store, run_id: str, name: str) -> Course:
    ranges = (StepRange(0, EXACT_STEPS), EXACT_STEPS), (StepRange(EXACT_STEPS), POINTS)
    parts = [
        store.numbers.series(run_id, kind=SCALAR, tensor=name, statistic="", steps=steps, points=points)
        for steps, points in ranges
    ]
    steps, values = (np.concatenate([part[name] for part in parts]) for name in ("steps", "mean"))
    is_known = np.isfinite(values)
    return Course(steps[is_known], values[is_known].astype(np.float64))


class Verdicts:
    """The engines of the runs that are heard of.

    Args:
        store: where frames come from and findings go to.
        on_failure: called when an engine raised, which is a mistake in it.
    """

    def __init__(self, store: Store, on_failure: Callable[[], None] = lambda: None) -> None:
        self._store, self._on_failure = store, on_failure
        self._patients: dict[tuple[str, int], _Patient] = {}
        self._lock = threading.Lock()

    def advance(self, run_id: str, worker: int, frames: Sequence[Frame] = ()) -> Verdict:
        """Feeds a worker's engine, stores what changed, and tells the whole run's verdict.

        Args:
            run_id: the run.
            worker: the worker.
            frames: committed frames; what the engine lacks before them is read from the store.

        Returns:
            The verdict through the last of the frames, or through the last stored one.
        """
        patient = self._admit(run_id, worker)
        with patient.lock:
            bodies = patient.bodies or []
            try:
                if not patient.is_broken:
                    self._feed(patient, run_id, worker, frames)
                    bodies = patient.judge(worker)
            except Exception:
                # A mistake in a rule must not stop the run from being recorded; its findings stay as they were.
                patient.is_broken = True
                self._on_failure()
                logger.exception("the health engine failed on run %s, worker %s, and rests", run_id, worker)
            return self._conclude(patient, run_id, worker, bodies)

    def rebuild(self, run_id: str) -> None:
        """Brings the stored findings up to the stored frames (after a crash between the two), then forgets."""
        with self._store.read() as connection:
            known = read_workers(connection, run_id)
        for worker in known:
            self.advance(run_id, worker)
        self.forget(run_id)

    def forget(self, run_id: str) -> None:
        """Lets go of a run's engines; `advance` rebuilds them from the stored frames."""
        with self._lock:
            for key in [key for key in self._patients if key[0] == run_id]:
                del self._patients[key]

    def _admit(self, run_id: str, worker: int) -> _Patient:
        with self._lock:
            patient = self._patients.get((run_id, worker))
        if patient is None:
            omissions = _Omissions(run_id, worker, self._on_failure)
            try:
                new = _Patient(Engine(read_measure(self._store, run_id), omissions))
            except Exception:
                # Another run that cannot be read must not stop this one from being recorded.
                self._on_failure()
                logger.exception("run %s, worker %s is judged without an earlier run", run_id, worker)
                new = _Patient(Engine(on_failure=omissions))
            with self._lock:
                patient = self._patients.setdefault((run_id, worker), new)
        return patient

    def _feed(self, patient: _Patient, run_id: str, worker: int, frames: Sequence[Frame]) -> None:
        fresh = [frame for frame in frames if frame.seq > patient.through_seq]
        if not fresh or fresh[0].seq > patient.through_seq + 1:
            patient.feed_stored(self._store, run_id, worker, before=fresh[0].seq if fresh else None)
        for frame in fresh:
            patient.feed(frame)

    def _conclude(self, patient: _Patient, run_id: str, worker: int, bodies: list[dict[str, Any]]) -> Verdict:
        before = patient.bodies
        patient.bodies = bodies
        if bodies != before:
            self._store.writer.submit(lambda connection: replace_findings(connection, run_id, worker, bodies)).result()
        with self._store.read() as connection:
            everything = read_findings(connection, run_id)
        headline = [(body["id"], body["severity"], body["title"]) for body in bodies]
        known = [(body["id"], body["severity"], body["title"]) for body in before or []]
        return Verdict(everything, bodies != before and bool(bodies or before), headline != known)
