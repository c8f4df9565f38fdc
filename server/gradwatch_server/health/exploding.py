"""The rule for exploding gradients: norms far above the run's own past. Owns one stream's rolling baseline.

Fixed limits disagree between published tools by orders of magnitude, and a summed loss moves every norm by its batch
size. So a norm is judged against the rolling median of its own logarithm and against the highest level it ever held,
and only when it stays there for several rows; a shorter one counts only if it did harm: if the next row is not finite,
or if the weights came out of it a good deal larger.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, Growth, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["HARM_FACTOR", "ExplodingRule"]

WINDOW_ROWS: Final = 256
"""Rows of the rolling median. Norms that stay at a new level for half of it become the usual ones."""
REFRESH_ROWS: Final = 16
"""Rows between two medians, counted from the run's first row and not from a batch's, so that batches do not matter."""
WARMUP_ROWS: Final = 32
"""Rows before the median is trusted: norms swing in a run's first steps."""

GROWTH_FACTOR: Final = 100.0
"""How far above the median counts. AutoTrainer (Zhang et al., ICSE 2021) takes 70 between layers; healthy spikes of
single batches reach 10 to 50 in published loss-spike studies (Takase et al. 2023, "Spike No More")."""
GROWTH_SIGMAS: Final = 8.0
"""And this many robust standard deviations (1.4826 MAD) of the log-norm, so that heavy-tailed noise sets its own
limit."""
PEAK_FACTOR: Final = 10.0
"""And this far above the highest rolling median so far: coming back from tiny gradients to the usual ones is no
explosion."""
SHARE_FACTOR: Final = 3.0
"""A single tensor must grow beyond this many usual *global* norms: growth of what hardly moves the model is not
news."""
EARLY_FACTOR: Final = 1_000.0
"""During warm-up, against the median of the few rows so far: a rate that is far too high diverges within ten steps."""
SINCE_START_FACTOR: Final = 10_000.0
"""Slow growth that the rolling median follows: against the first trusted median, and only above `SINCE_START_NORM`."""
SINCE_START_NORM: Final = 1_000.0
CONFIRM_ROWS: Final = 5
"""Consecutive rows before it is a finding. Bursts of noise are independent from row to row, divergence is not."""
HARM_FACTOR: Final = 2.0
"""A few high rows after which the weights' norm is this many times what it was have done lasting harm: a healthy step
changes the weights by a thousandth."""
CALM_FACTOR: Final = 10.0
"""Hysteresis: it is over only below this factor, for `RECOVERY_ROWS` rows."""

MAD_TO_SIGMA: Final = 1.4826

Float64 = npt.NDArray[np.float64]


class _Spike(NamedTuple):
    """High rows that are not yet a finding.

    Attributes:
        step: the first one's step.
        log_norm: ``[1 + n_gradients]`` its norms.
        usual: the usual log of the global norm before it.
        peak: the largest log of the global norm, and its step.
        last_step: the last one's step.
        n_rows: how many.
    """

    step: int
    log_norm: Float64
    usual: float
    peak: tuple[float, int]
    last_step: int
    n_rows: int

    def take(self, step: int, log_norm: float) -> _Spike:
        """With one more row."""
        return self._replace(
            peak=max(self.peak, (log_norm, step), key=lambda one: one[0]), last_step=step, n_rows=self.n_rows + 1
        )


class ExplodingRule:
    """Watches the global norm (channel 0) and each gradient's norm (channels 1...) of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        n = 1 + len(table.gradient)
        self._stream, self._table = stream, table
        self._window = np.full((WINDOW_ROWS, n), np.nan)
        self._n_rows = 0
        self._median = np.full(n, np.nan)
        self._sigma = np.full(n, np.nan)
        self._peak = np.full(n, -np.inf)
        self._start = np.nan
        self._run = np.zeros(n, np.int64)
        self._run_step = np.full(n, -1, np.int64)
        self._run_norm = np.full(n, np.nan)
        self._run_peak = (float("nan"), -1)
        self._run_usual = float("nan")
        self._current: Growth | None = None
        self._channels = np.zeros(n, bool)
        self._n_calm = 0
        kernels = table.weight_of[table.kernels]
        self._weights = kernels[kernels >= 0]
        self._weight_norm = np.nan
        """The kernels' norm when it was last read with nothing high since."""
        self._spike: _Spike | None = None
        self.episodes: list[Growth] = []

    def feed(self, block: Block) -> None:
        """Takes rows, in pieces that end where the medians are due."""
        if not len(self._table.gradient):
            return
        log_norm = block.log_norm
        # Under loss scaling an overflow is the scale's doing, not the end of a growth.
        is_bad = block.has_nonfinite_gradient & ~block.is_scaled
        weight_norm = self._read_weights(block)
        start = 0
        while start < len(block.steps):
            end = min(len(block.steps), start + REFRESH_ROWS - self._n_rows % REFRESH_ROWS)
            part = slice(start, end)
            self._take(block.steps[part], log_norm[part], is_bad[part], weight_norm[part])
            start = end

    def _read_weights(self, block: Block) -> Float64:
        """``[n]`` norm of all kernels' weights, NaN where one was not read or is not finite."""
        if not len(self._weights):
            return np.full(len(block.steps), np.nan)
        norm = block.statistics[:, self._weights, COLUMN["norm"]].astype(np.float64)
        norm[block.is_nonfinite[:, self._weights]] = np.nan
        return np.asarray(np.sqrt((norm**2).sum(axis=1)))

    def _take(
        self, steps: npt.NDArray[np.int64], log_norm: Float64, is_bad: npt.NDArray[np.bool_], weight_norm: Float64
    ) -> None:
        is_high = self._find_high(log_norm) if self._n_rows >= WARMUP_ROWS else self._find_early(log_norm)
        limit = max(self._median[0] + math.log(GROWTH_FACTOR), self._peak[0] + math.log(PEAK_FACTOR))
        is_spike = log_norm[:, 0] >= limit
        is_eventful = self._current is not None or self._spike is not None or bool(self._run.any())
        if is_eventful or is_high.any() or is_spike.any():
            for row, step in enumerate(steps.tolist()):
                self._weigh(step, log_norm[row], float(weight_norm[row]), is_spike=bool(is_spike[row]))
                self._step(step, log_norm[row], is_high[row], bool(is_bad[row]))
                self._window[self._n_rows % WINDOW_ROWS] = log_norm[row]
                self._n_rows += 1
        else:
            known = weight_norm[np.isfinite(weight_norm)]
            self._weight_norm = float(known[-1]) if len(known) else self._weight_norm
            self._window[(self._n_rows + np.arange(len(steps))) % WINDOW_ROWS] = log_norm
            self._n_rows += len(steps)
        if self._n_rows % REFRESH_ROWS == 0:
            self._refresh()

    def _find_high(self, log_norm: Float64) -> npt.NDArray[np.bool_]:
        limit = self._median + np.maximum(math.log(GROWTH_FACTOR), GROWTH_SIGMAS * self._sigma)
        limit = np.maximum(limit, self._peak + math.log(PEAK_FACTOR))
        usual = self._median[0]
        if np.isfinite(usual):
            limit[1:] = np.maximum(limit[1:], usual + math.log(SHARE_FACTOR))
        is_high = log_norm >= limit
        slow = max(self._start + math.log(SINCE_START_FACTOR), math.log(SINCE_START_NORM))
        is_high[:, 0] |= log_norm[:, 0] >= slow
        return np.asarray(is_high)

    def _find_early(self, log_norm: Float64) -> npt.NDArray[np.bool_]:
        is_high = np.zeros(log_norm.shape, bool)
        past = self._window[: self._n_rows, 0]
        for row, value in enumerate(log_norm[:, 0]):
            before = np.concatenate([past, log_norm[:row, 0]])
            before = before[np.isfinite(before)]
            if len(before):
                is_high[row, 0] = value >= np.median(before) + math.log(EARLY_FACTOR)
        return is_high

    def _refresh(self) -> None:
        window = np.sort(self._window[: min(self._n_rows, WINDOW_ROWS)], axis=0)  # NaN go to the end
        n_known = np.isfinite(window).sum(axis=0)
        median = _sorted_median(window, n_known)
        spread = np.sort(np.abs(window - median), axis=0)
        is_trusted = n_known >= WARMUP_ROWS
        self._median = np.where(is_trusted, median, np.nan)
        self._sigma = np.where(is_trusted, MAD_TO_SIGMA * _sorted_median(spread, n_known), np.nan)
        self._peak = np.fmax(self._peak, self._median)
        if np.isnan(self._start) and is_trusted[0]:
            self._start = float(median[0])

    def _weigh(self, step: int, log_norm: Float64, weight_norm: float, *, is_spike: bool) -> None:
        """Notes high rows, however few, and what the weights are when they are next read."""
        if is_spike:
            if self._spike is None:
                self._spike = _Spike(step, log_norm, self._usual(), (float(log_norm[0]), step), step, 0)
            self._spike = self._spike.take(step, float(log_norm[0]))
        if math.isnan(weight_norm):
            return
        factor = weight_norm / self._weight_norm if self._weight_norm > 0 else float("nan")
        if self._current is None and self._spike is not None and factor >= HARM_FACTOR:
            self._open_harm(self._spike, step)
        if self._current is not None:
            self._current.weight_factor = float(np.fmax(self._current.weight_factor, factor))
        elif self._spike is None or not is_spike:
            self._weight_norm, self._spike = weight_norm, None

    def _open_harm(self, spike: _Spike, step: int) -> None:
        if len(self.episodes) >= EPISODES_LIMIT:
            return
        excess = self._excess(spike.log_norm)[1:]
        self._channels[:] = False
        self._channels[0] = True
        self._current = Growth(
            stream=self._stream,
            phase=Phase.GRADIENT,
            first_step=spike.step,
            last_step=spike.last_step,
            n_rows=spike.n_rows,
            known_step=step,
            table=self._table,
            position=int(np.nanargmax(excess)) if np.isfinite(excess).any() else -1,
            n_tensors=int((excess >= math.log(CALM_FACTOR)).sum()),
            usual=math.exp(spike.usual),
            first=math.exp(spike.log_norm[0]),
            largest=math.exp(spike.peak[0]),
            largest_step=spike.peak[1],
        )
        self.episodes.append(self._current)

    def _step(self, step: int, log_norm: Float64, is_high: npt.NDArray[np.bool_], is_bad: bool) -> None:
        if is_bad:
            ready = self._run >= 1
        else:
            if is_high.any():
                begins = is_high & (self._run == 0)
                if not self._run.any():
                    self._run_peak = (float("nan"), -1)
                    self._run_usual = self._usual()
                self._run_step[begins], self._run_norm[begins] = step, log_norm[0]
            self._run = np.where(is_high, self._run + 1, 0)
            ready = self._run >= CONFIRM_ROWS
            if not log_norm[0] <= self._run_peak[0]:
                self._run_peak = (float(log_norm[0]), step)
        if ready.any() and self._current is None:
            self._open(step, ready, log_norm)
        if self._current is not None:
            self._channels |= ready
            self._continue(self._current, step, log_norm, is_high, is_bad)
        if is_bad:
            self._run[:] = 0

    def _open(self, step: int, ready: npt.NDArray[np.bool_], log_norm: Float64) -> None:
        if len(self.episodes) >= EPISODES_LIMIT:
            self._current = self.episodes[-1]
            self._current.closed_step = None
            return
        channel = int(np.flatnonzero(ready)[np.argmin(self._run_step[ready])])
        excess = self._excess(log_norm)
        if not np.isfinite(excess).any():
            excess = self._excess(self._window[(self._n_rows - 1) % WINDOW_ROWS])
        position = channel - 1
        if position < 0 and np.isfinite(excess[1:]).any():
            position = int(np.nanargmax(excess[1:]))
        self._channels[:] = False
        self._current = Growth(
            stream=self._stream,
            phase=Phase.GRADIENT,
            first_step=int(self._run_step[channel]),
            last_step=int(self._run_step[channel]),
            n_rows=int(self._run[channel]) - 1,
            known_step=step,
            table=self._table,
            position=position,
            n_tensors=int((excess[1:] >= math.log(CALM_FACTOR)).sum()),
            usual=math.exp(self._run_usual),
            first=math.exp(self._run_norm[channel]),
            largest=math.exp(self._run_peak[0]),
            largest_step=self._run_peak[1],
        )
        self.episodes.append(self._current)

    def _continue(
        self, episode: Growth, step: int, log_norm: Float64, is_high: npt.NDArray[np.bool_], is_bad: bool
    ) -> None:
        if is_bad:
            episode.ended_nonfinite = episode.ended_nonfinite or self._n_calm == 0
            self._n_calm = 0
            return
        is_calm = not is_high.any() and not (self._excess(log_norm)[self._channels] >= math.log(CALM_FACTOR)).any()
        self._n_calm = self._n_calm + 1 if is_calm else 0
        if not is_calm:
            episode.last_step = step
            episode.n_rows += 1
            if np.isfinite(log_norm[0]) and not math.exp(log_norm[0]) <= episode.largest:
                episode.largest, episode.largest_step = math.exp(log_norm[0]), step
        if self._n_calm >= RECOVERY_ROWS:
            episode.closed_step = step
            self._current = None
            self._n_calm = 0
            self._spike, self._weight_norm = None, np.nan

    def _excess(self, log_norm: Float64) -> Float64:
        """How far each channel is above its median, or above its early rows while there is none."""
        if np.isfinite(self._median[0]):
            return np.asarray(log_norm - self._median)
        early = self._window[: max(1, min(self._n_rows, WINDOW_ROWS))]
        return np.asarray(log_norm - early[0])

    def _usual(self) -> float:
        """Log of the usual global norm: the rolling median, or that of all rows while there is none."""
        if np.isfinite(self._median[0]):
            return float(self._median[0])
        early = self._window[: self._n_rows, 0]
        early = early[np.isfinite(early)]
        return float(np.median(early)) if len(early) else float("nan")


def _sorted_median(values: Float64, n_known: npt.NDArray[np.int64]) -> Float64:
    """The median of each column's first ``n_known`` values, which are sorted; NaN for none."""
    columns = np.arange(values.shape[1])
    low = values[np.maximum((n_known - 1) // 2, 0), columns]
    high = values[np.minimum(n_known // 2, len(values) - 1), columns]
    return np.where(n_known > 0, (low + high) / 2, np.nan)
