"""What the page draws, at the page's resolution: series, heatmaps, the lane of non-finite counts, comparisons.

This is the interface that a pyramid of tiles can take over: what goes in and out here is the contract's, and says
nothing of how it is kept. Steps are asked for as ``[start, stop)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import KINDS, STATISTICS
from gradwatch_server.errors import NotFoundError, unknown
from gradwatch_server.store.columns import NONFINITE, ColumnsCache, RunColumns, StreamColumns
from gradwatch_server.store.reduce import Buckets, make_buckets, max_of, mean_of, min_of

__all__ = ["EVERYWHERE", "SCALAR", "UPDATE_RATIO", "Numbers", "Place", "StepRange"]

SCALAR = "scalar"
UPDATE_RATIO = "update_ratio"
_STATES = np.array([None, "-inf", "+inf", "nan"], dtype=object)
LANE_KINDS = ("gradient", "weight", "update")
LOW_IS_FAR = ("min", "cosine_distance")
"""Statistics whose smallest value is the farthest from calm."""

Array = npt.NDArray[Any]
Json = dict[str, Any]


@dataclass(frozen=True)
class StepRange:
    """Steps from ``start`` up to but without ``stop`` (None: to the end)."""

    start: int = 0
    stop: int | None = None

    def of(self, steps: Array) -> slice:
        """The rows of ascending ``steps`` that lie in the range."""
        stop = len(steps) if self.stop is None else int(np.searchsorted(steps, self.stop))
        return slice(int(np.searchsorted(steps, self.start)), stop)


@dataclass(frozen=True)
class Place:
    """Whose numbers are wanted.

    Attributes:
        worker: one worker's alone; None: of all workers together.
        replica: one replica's own, before the reduction; None: what is applied.
    """

    worker: int | None = None
    replica: int | None = None

    def of(self, run: RunColumns) -> list[StreamColumns]:
        """The streams that are meant."""
        return [one for one in run.streams if one.table.replica == self.replica and self.has(one.worker)]

    def has(self, worker: int) -> bool:
        """Whether a worker is meant."""
        return self.worker is None or worker == self.worker


EVERYWHERE = Place()


class Numbers:
    """Answers questions on runs that exist.

    Args:
        columns: where the numbers come from.
    """

    def __init__(self, columns: ColumnsCache) -> None:
        self._columns = columns

    def series(
        self,
        run_id: str,
        *,
        kind: str,
        tensor: str,
        statistic: str,
        steps: StepRange,
        points: int,
        place: Place = EVERYWHERE,
    ) -> Json:
        """One tensor's statistic, or one scalar, over steps.

        Args:
            run_id: the run.
            kind: a kind, or `SCALAR`.
            tensor: the tensor's path, or the scalar's name.
            statistic: a statistic or `UPDATE_RATIO`; ignored for a scalar.
            steps: the steps wanted.
            points: points wanted at most.
            place: whose numbers; those of several workers are one band.

        Returns:
            The contract's series.

        Raises:
            RequestError: an unknown kind, statistic, tensor or scalar.
        """
        if kind == SCALAR:
            return self._scalar_series(self._columns.read(run_id), tensor, steps, points, place)
        planes = _planes_for(kind, statistic)
        columns = self._columns.read(run_id, {*planes, NONFINITE})
        parts = [(stream, index) for stream in place.of(columns) for index in _find(stream, kind, tensor)]
        if not parts:
            raise unknown("tensor", tensor, _tensor_names(place.of(columns), kind), NotFoundError)
        at = np.concatenate([stream.steps for stream, _ in parts])
        values = np.concatenate([_values(stream, [i], statistic)[:, 0] for stream, i in parts])
        counts = np.concatenate([stream.planes[NONFINITE][:, i] for stream, i in parts])
        times = np.concatenate([stream.times for stream, _ in parts])
        order = np.argsort(at, kind="stable")
        order = order[steps.of(at[order])]
        at, values, counts, times = at[order], values[order], counts[order], times[order]
        buckets = make_buckets(np.unique(at), points)
        _, first = buckets.place(at)
        return {
            "tensor": tensor,
            "kind": kind,
            "statistic": statistic,
            **_band(at, values, times, first),
            "n_nonfinite": _counts(max_of(counts, first)),
            "downsampled_by": buckets.stride,
        }

    def heatmap(
        self, run_id: str, *, kind: str, statistic: str, steps: StepRange, columns: int, place: Place = EVERYWHERE
    ) -> Json:
        """All tensors of a kind over steps; arguments and errors as in `series`."""
        planes = _planes_for(kind, statistic)
        wanted = {*planes, NONFINITE, *(("n_elements",) if kind == "gradient" else ())}
        run = self._columns.read(run_id, wanted)
        parts = [(stream, _indices(stream, kind)) for stream in place.of(run)]
        parts = [(stream, indices) for stream, indices in parts if indices]
        cuts = [steps.of(stream.steps) for stream, _ in parts]
        at = [stream.steps[cut] for (stream, _), cut in zip(parts, cuts, strict=True)]
        buckets = make_buckets(_union(at), columns, with_holes=True)
        names = list(dict.fromkeys(_name(stream, i) for stream, indices in parts for i in indices))
        rows = {name: row for row, name in enumerate(names)}
        shape = (len(names), len(buckets.keys))
        values, counts = np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32)
        missing = np.zeros(shape, np.uint8)
        given = {_name(stream, i) for stream, indices in parts for i in indices if not _is_left_out(stream, i)}
        reduce = min_of if statistic in LOW_IS_FAR else max_of
        for (stream, indices), cut, own in zip(parts, cuts, at, strict=True):
            hit, first = buckets.place(own)
            cell = np.ix_(np.array([rows[_name(stream, i)] for i in indices]), hit)
            own_values = reduce(_values(stream, indices, statistic)[cut], first).T
            values[cell] = _meet(values[cell], own_values, statistic)
            counts[cell] = np.fmax(counts[cell], max_of(stream.planes[NONFINITE][cut][:, indices], first).T)
            if kind == "gradient":
                is_missing = _missing(stream, indices, cut)
                # What one stream leaves out another may train: then that one tells.
                is_missing[:, [_is_left_out(stream, i) and _name(stream, i) in given for i in indices]] = False
                missing[cell] |= max_of(is_missing, first).astype(np.uint8).T
        return {
            "kind": kind,
            "statistic": statistic,
            "tensors": names,
            "steps": buckets.starts,
            "step_end": _end(buckets, at),
            "values": values,
            "n_nonfinite": _counts(counts),
            "missing": missing,
            "downsampled_by": buckets.stride,
        }

    def nonfinite(self, run_id: str, *, steps: StepRange, columns: int, worker: int | None = None) -> Json:
        """The largest number of non-finite elements over all tensors, for each kind, and whether the loss was one.

        Of all workers, or of one of them; the replicas' own gradients count too. A column in which no tensor of a kind
        was captured has no number there.
        """
        run = self._columns.read(run_id, {NONFINITE})
        streams = [stream for stream in run.streams if Place(worker).has(stream.worker)]
        loss_at, _, loss = _scalar(run, "loss", Place(worker))
        loss_cut = steps.of(loss_at)
        cuts = [steps.of(stream.steps) for stream in streams]
        at = [stream.steps[cut] for stream, cut in zip(streams, cuts, strict=True)]
        buckets = make_buckets(_union([*at, loss_at[loss_cut]]), columns, with_holes=True)
        lanes = {kind: np.full(len(buckets.keys), np.nan, np.float32) for kind in LANE_KINDS}
        for stream, cut, own in zip(streams, cuts, at, strict=True):
            hit, first = buckets.place(own)
            for kind, lane in lanes.items():
                indices = _indices(stream, kind)
                if indices and len(own):
                    worst = np.fmax.reduce(stream.planes[NONFINITE][cut][:, indices], axis=1)
                    lane[hit] = np.fmax(lane[hit], max_of(worst, first))
        is_bad = np.zeros(len(buckets.keys), np.uint8)
        hit, first = buckets.place(loss_at[loss_cut])
        is_bad[hit] = max_of(~np.isfinite(loss[loss_cut]), first)
        return {
            "steps": buckets.starts,
            "step_end": _end(buckets, [*at, loss_at[loss_cut]]),
            **{kind: _counts(lane) for kind, lane in lanes.items()},
            "loss": is_bad,
            "downsampled_by": buckets.stride,
        }

    def scalar_or_empty(self, run_id: str, name: str, *, points: int) -> Json:
        """A scalar over the whole run; an empty series if the run has none of that name."""
        run = self._columns.read(run_id)
        if name not in _scalar_names(run):
            run = RunColumns([], {name: []})
        return self._scalar_series(run, name, StepRange(), points)

    def scalar_names(self, run_id: str) -> list[str]:
        """The scalars of a run, those of its streams first."""
        return _scalar_names(self._columns.read(run_id))

    def _scalar_series(
        self, run: RunColumns, name: str, steps: StepRange, points: int, place: Place = EVERYWHERE
    ) -> Json:
        if name not in _scalar_names(run, place):
            raise unknown("scalar", name, _scalar_names(run, place), NotFoundError)
        at, times, values = _scalar(run, name, place)
        cut = steps.of(at)
        at, times, values = at[cut], times[cut], values[cut]
        buckets = make_buckets(np.unique(at), points)
        _, first = buckets.place(at)
        state = np.select([np.isnan(values), values == np.inf, values == -np.inf], [3, 2, 1], 0)
        finite = np.where(state == 0, values, np.nan)
        return {
            "tensor": name,
            "kind": SCALAR,
            "statistic": None,
            **_band(at, finite, times, first),
            "n_nonfinite": _count_steps(at, state > 0, buckets),
            "state": _STATES[max_of(state, first).astype(np.intp)].tolist(),
            "downsampled_by": buckets.stride,
        }


def _planes_for(kind: str, statistic: str) -> set[str]:
    if kind not in KINDS:
        raise unknown("kind", kind, (*KINDS, SCALAR))
    if statistic == UPDATE_RATIO:
        if kind != "update":
            raise unknown("statistic", statistic, STATISTICS)
        return {"norm"}
    if statistic not in STATISTICS:
        raise unknown("statistic", statistic, (*STATISTICS, UPDATE_RATIO))
    return {statistic}


def _indices(stream: StreamColumns, kind: str) -> list[int]:
    return [index for index, tensor in enumerate(stream.table.tensors) if tensor["kind"] == kind]


def _find(stream: StreamColumns, kind: str, name: str) -> list[int]:
    return [index for index in _indices(stream, kind) if _name(stream, index) == name]


def _name(stream: StreamColumns, index: int) -> str:
    return str(stream.table.tensors[index]["tensor"])


def _tensor_names(streams: list[StreamColumns], kind: str) -> list[str]:
    return list(dict.fromkeys(_name(stream, index) for stream in streams for index in _indices(stream, kind)))


def _values(stream: StreamColumns, indices: list[int], statistic: str) -> Array:
    """``[n, len(indices)]`` float32 of one statistic."""
    if statistic != UPDATE_RATIO:
        return stream.planes[statistic][:, indices]
    norms = stream.planes["norm"]
    weights = {_name(stream, index): index for index in _indices(stream, "weight")}
    ratios = np.full((len(norms), len(indices)), np.nan, np.float32)
    for place, index in enumerate(indices):
        weight = weights.get(_name(stream, index))
        if weight is not None:
            # The ratio to a weight of zero is unknown, not infinite.
            np.divide(norms[:, index], norms[:, weight], out=ratios[:, place], where=norms[:, weight] > 0)
    return ratios


def _is_left_out(stream: StreamColumns, index: int) -> bool:
    return bool(stream.table.tensors[index].get("left_out"))


def _missing(stream: StreamColumns, indices: list[int], cut: slice) -> Array:
    sizes = np.array([stream.table.tensors[index]["n_elements"] or 0 for index in indices])
    return np.asarray((stream.planes["n_elements"][cut][:, indices] == 0) & (sizes > 0))


def _meet(old: Array, new: Array, statistic: str) -> Array:
    return np.fmin(old, new) if statistic in LOW_IS_FAR else np.fmax(old, new)


def _union(at: list[Array]) -> Array:
    return np.unique(np.concatenate(at)) if at else np.empty(0, np.int64)


def _end(buckets: Buckets, at: list[Array]) -> int:
    """The exclusive end of the last column: the open column of a live run ends at its newest step."""
    newest = max((int(steps[-1]) for steps in at if len(steps)), default=-1)
    return min(buckets.end, newest + 1)


def _band(at: Array, values: Array, times: Array, first: Array) -> Json:
    return {
        "steps": at[first],
        "min": min_of(values, first),
        "mean": mean_of(values, first).astype(np.float32),
        "max": max_of(values, first),
        "times": times[first],
    }


def _counts(counts: Array) -> Array:
    """Whole numbers where all are known; where some were not captured they stay NaN, which is null in JSON."""
    return counts if np.isnan(counts).any() else counts.astype(np.int64)


def _count_steps(at: Array, is_bad: Array, buckets: Buckets) -> Array:
    """How many steps of each bucket are bad, in any worker; ``at`` ascends, and may name a step for each worker."""
    if not len(at):
        return np.empty(0, np.int64)
    steps, first = np.unique(at, return_index=True)
    worst = max_of(is_bad.astype(np.int64), first)
    return np.asarray(np.add.reduceat(worst, buckets.place(steps)[1]))


def _workers(streams: list[StreamColumns]) -> list[list[StreamColumns]]:
    """The streams, worker by worker."""
    return [[one for one in streams if one.worker == worker] for worker in dict.fromkeys(s.worker for s in streams)]


def _scalar_names(run: RunColumns, place: Place = EVERYWHERE) -> list[str]:
    """The scalars' names. One that several streams have is also there for each, as ``NAME@OPTIMIZER``."""
    names: dict[str, None] = {}
    for own in _workers(place.of(run)):
        for stream in own:
            for name in stream.table.scalars:
                names[name] = None
                if len(_owners(own, name)) > 1:
                    names[_qualified(own, stream, name)] = None
    if place.replica is not None:
        return list(names)
    logged = [name for name, workers in run.scalars.items() if any(place.has(one.worker) for one in workers)]
    return [*names, *(name for name in logged if name not in names)]


def _owners(own: list[StreamColumns], name: str) -> list[StreamColumns]:
    return [stream for stream in own if name in stream.table.scalars]


def _qualified(own: list[StreamColumns], stream: StreamColumns, name: str) -> str:
    optimizers = [other.table.optimizer for other in own]
    is_unique = optimizers.count(stream.table.optimizer) == 1
    return f"{name}@{stream.table.optimizer if is_unique else stream.stream}"


def _scalar(run: RunColumns, name: str, place: Place = EVERYWHERE) -> tuple[Array, Array, Array]:
    """Steps (ascending, once for each worker), times and values of one scalar.

    The plain name means the first stream of each worker that has it. What the user logged for a step stands before what
    the stream has of that name.
    """
    parts = []
    logged: dict[int, Array] = {}
    if place.replica is None:
        for one in run.scalars.get(name, ()):
            if place.has(one.worker):
                parts.append((one.steps, one.times, one.values))
                logged[one.worker] = one.steps
    for own in _workers(place.of(run)):
        for stream in own:
            for index, plain in enumerate(stream.table.scalars):
                owners = _owners(own, plain)
                is_meant = name == plain and stream is owners[0]
                if is_meant or (len(owners) > 1 and name == _qualified(own, stream, plain)):
                    kept = stream.present[:, index] & ~np.isin(stream.steps, logged.get(stream.worker, ()))
                    parts.append((stream.steps[kept], stream.times[kept], stream.scalars[kept, index]))
    if not parts:
        return np.empty(0, np.int64), np.empty(0), np.empty(0, np.float32)
    steps, times, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(steps, kind="stable")
    return steps[order], times[order], values[order]
