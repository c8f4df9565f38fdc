"""The rule for predictions that are no better than guessing, whatever else is added to the loss.

The gradient of a cross-entropy with respect to the scores is what is predicted minus the label, over the number of
samples: its square is the squared distance of the predicted probabilities from the labels (Brier, "Verification of
forecasts expressed in terms of probability", 1950). The gradient of a squared error is twice the error over the number
of outputs. Either says how good the predictions are without the penalties and weights that a loss may have beside it,
and what guessing gives is known: 1 - 1/C where each of C classes is given the same, p (1 - p) where a label of share p
is, the variance of the targets where their mean is. Which of them a gradient is, its own numbers tell: those of a
softmax add up to 0 for each sample and are at most one over their number, and those of a squared error have the mean
of outputs less targets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Unskilled
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import are_labels, find_target

__all__ = ["FINAL_STEPS", "REST_ROWS", "WINDOW_ROWS", "WINDOW_STEPS", "SkillRule"]

WINDOW_ROWS: Final = 30
WINDOW_STEPS: Final = 100
"""Captured rows, and steps, whose mean is one look: batches differ."""
LIVE_WINDOWS: Final = 10
"""What is no better than guessing so far may need some hundred steps before it begins to learn."""
WORSE_WINDOWS: Final = 2
"""What is worse is not waiting for anything; the first window is the start's, and does not count."""
REST_ROWS: Final = 3
"""Of a window that a run's end leaves open."""
FINAL_STEPS: Final = 200
"""Of a run that has ended: one that is shorter may have been about to begin."""
GUESS_SHARE: Final = 0.97
"""Of the distance that guessing gives: what is closer has learned something."""
SETTLED_SHARE: Final = 0.99
"""And of a run that has ended: what is below it and still falls is on its way."""
LEARNED_SHARE: Final = 0.9
"""And below it has surely: a run of which that was true once does not end where it began."""
WORSE_FACTOR: Final = 1.1
"""Times that distance: farther than guesses that scatter."""
FALLING_SHARE: Final = 0.9
"""Of the window before: a mean below it is on its way."""
HARDLY_SHARE: Final = 0.93
"""Of a run that has ended, and in whose first window outputs did not follow their targets at all: what little came
later, as the same samples came again, is learned by heart. What can be learned in part is so from fresh ones too."""
FRESH_CORRELATION: Final = 0.03
"""Below it outputs do not follow: twice what chance gives for the samples of a window, 4,000 or so."""
KIND_SHARE: Final = 0.9
"""Of a window's rows that must be of one kind."""
SURE: Final = 0.9
"""How near one over the number of samples the largest gradient is where a prediction is sure and wrong."""
SURE_SLACK: Final = 0.01
"""By how much rounding to half precision moves a probability."""
SUM_LIMIT: Final = 1e-3
"""What rounding leaves of a sum over all gradients of a softmax, at the most."""
SQUARE_TOLERANCE: Final = 0.01
"""By how much of itself a mean error may differ from that of outputs and targets."""
CLIMBS_MIN: Final = 10
"""Rows whose gradient is that of the negative of an error: one or two may be chance."""
ROUNDING: Final = 1e-6
"""Of the numbers that a mean is taken of."""

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass
class _Window:
    """What is summed over a window's rows."""

    first_step: int
    n_rows: int = 0
    n_entropies: int = 0
    n_squares: int = 0
    n_sure: int = 0
    distance: float = 0.0
    square: float = 0.0
    correlation: float = 0.0
    asked: float = 0.0
    asked_square: float = 0.0

    @property
    def variance(self) -> float:
        """The variance of the targets in it; of labels of 0 and 1 of which the share p is 1 that is p (1 - p)."""
        return self.asked_square / self.n_rows - (self.asked / self.n_rows) ** 2

    @property
    def is_of_squares(self) -> bool:
        """Whether nearly all rows are of a squared error."""
        return self.n_squares >= KIND_SHARE * self.n_rows

    @property
    def is_of_entropies(self) -> bool:
        """Whether nearly all rows are of a cross-entropy."""
        return self.n_entropies >= KIND_SHARE * self.n_rows

    @property
    def is_scaled(self) -> bool:
        """Whether the scale of the gradient is known: a weight of the loss would be part of it."""
        return self.is_of_squares or self.n_sure >= KIND_SHARE * self.n_rows


class SkillRule:
    """Watches what comes back to the last layer of one stream, where the loss takes its scores and there is one target.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        # One of several heads may be meant to guess, as that of an adversary; and with weights the scale is not known.
        is_judged = len(table.entering("target")) == 1 and not table.entering("sample_weight")
        self._output, self._signal = table.scores if is_judged else (-1, -1)
        self._target, _ = find_target(table)
        shape = table.shapes[self._output] if self._output >= 0 else ()
        self._n_units = shape[-1] if shape else 0
        self._window: _Window | None = None
        self._last: _Window | None = None
        self._first_step = self._last_step = -1
        self._before = self._earlier = math.nan
        """The last full window's mean over that of guessing, and that of the one before."""
        self._n_rows = self._n_climbs = self._n_entropies = 0
        self._n_windows = self._n_level = self._n_worse = 0
        """All, and those in succession up to now that are no better than guessing, and worse."""
        self._level_step = self._worse_step = -1
        self._has_learned = False
        self._fresh = math.nan
        """The mean correlation of outputs and targets in the first window."""
        self._current: Unskilled | None = None
        self._final: Unskilled | None = None
        self.episodes: list[Unskilled] = []

    def feed(self, block: Block) -> None:
        """Takes rows; one in which the last layer was not looked at changes nothing."""
        if self._signal < 0 or not self._n_units:
            return
        if self._final is not None and len(block.steps):  # the run goes on
            self.episodes.remove(self._final)
            self._final = None
        names = [COLUMN[name] for name in ("norm", "mean", "min", "max", "n_elements")]
        norm, mean, low, high, size = block.statistics[:, self._signal, names].astype(np.float64).T
        norm, mean, low, high = (one / block.loss_scale for one in (norm, mean, low, high))
        n_samples = size / self._n_units
        largest = np.maximum(-low, high) * n_samples
        square, distance = norm**2 * size / 4, norm**2 * n_samples
        asked, asked_square, is_label = self._read_targets(block, size)
        is_alike, is_opposite = self._compare(block, mean * size / 2, asked)
        is_square = is_alike | is_opposite
        is_entropy = (largest <= 1 + SUM_LIMIT) & ~is_square
        if self._n_units == 1:
            is_entropy &= is_label & self._are_probable(block, low * n_samples, high * n_samples)
        else:
            is_entropy &= np.abs(mean * size) <= SUM_LIMIT
        is_climb = is_opposite | (is_entropy & (block.loss < 0))
        for row in np.flatnonzero(np.isfinite(norm) & block.is_sound & (size > 0)).tolist():
            step = int(block.steps[row])
            self._first_step = step if self._first_step < 0 else self._first_step
            window = self._window = self._window or _Window(step)
            window.n_rows += 1
            window.n_entropies += bool(is_entropy[row])
            window.n_squares += bool(is_square[row])
            self._n_rows += 1
            self._n_climbs += bool(is_climb[row])
            self._n_entropies += bool(is_entropy[row])
            window.n_sure += bool(largest[row] >= SURE)
            window.distance += distance[row]
            window.square += square[row]
            window.correlation += float(block.correlations[row, 0]) if block.correlations.shape[1] == 1 else math.nan
            window.asked += asked[row]
            window.asked_square += asked_square[row]
            self._last_step = step
            if window.n_rows >= WINDOW_ROWS and step - window.first_step >= WINDOW_STEPS - 1:
                self._last, self._window = window, None
                self._look(step, window)

    def _are_probable(self, block: Block, low: Float, high: Float) -> Bool:
        """``[n]`` whether outputs allow for these ends of p - y, or of y - p: from the least p - 1 to the largest p.

        A margin loss has -1, 0 and 1 whatever comes out.
        """
        ends = block.statistics[:, self._output, [COLUMN["min"], COLUMN["max"]]].astype(np.float64)
        if self._table.functions[self._output] in (None, "linear"):
            ends = 1 / (1 + np.exp(-np.clip(ends, -50, 50)))
        least, largest = ends[:, 0] - 1 - SURE_SLACK, ends[:, 1] + SURE_SLACK
        return np.asarray(((low >= least) & (high <= largest)) | ((-high >= least) & (-low <= largest)))

    def _read_targets(self, block: Block, size: Float) -> tuple[Float, Float, Bool]:
        """``[n]`` each: the mean of the targets and their mean square, and whether they are labels of 0 and 1.

        NaN, and False, where there is not one for each of the outputs, of which there are ``size``.
        """
        if self._target < 0:
            return np.full(len(size), np.nan), np.full(len(size), np.nan), np.zeros(len(size), bool)
        names = [COLUMN[name] for name in ("mean", "std", "min", "max", "n_elements")]
        mean, spread, low, high, n = block.statistics[:, self._target, names].astype(np.float64).T
        mean = np.where(n == size, mean, np.nan)
        return mean, np.square(mean) + np.square(spread), are_labels(low, high, mean, spread)

    def _compare(self, block: Block, error: Float, asked: Float) -> tuple[Bool, Bool]:
        """Whether a gradient's mean, as a mean error, is that of outputs less targets, and whether the negative of it.

        Args:
            block: the rows.
            error: ``[n]`` the mean error, if it is the gradient of a squared error.
            asked: ``[n]`` the mean of the targets.
        """
        if self._table.functions[self._signal] is not None:  # of what a function is taken of, not of outputs
            return np.zeros(len(error), bool), np.zeros(len(error), bool)
        given, spread = block.statistics[:, self._output, [COLUMN["mean"], COLUMN["std"]]].astype(np.float64).T
        rounding = ROUNDING * (np.abs(given) + np.abs(asked) + spread)
        slack = SQUARE_TOLERANCE * np.abs(error) + rounding
        is_alike, is_opposite = (np.abs(sign * error - (given - asked)) <= slack for sign in (1, -1))
        return np.asarray(is_alike), np.asarray(is_opposite & ~is_alike)

    @property
    def is_climbing(self) -> bool:
        """Whether the gradients are those of the negative of an error: training makes it larger."""
        return self._n_climbs >= max(CLIMBS_MIN, KIND_SHARE * self._n_rows)

    @property
    def is_of_entropies(self) -> bool:
        """Whether the gradients are those of a cross-entropy, or of the negative of one."""
        return self._n_entropies >= max(CLIMBS_MIN, KIND_SHARE * self._n_rows)

    def finish(self) -> None:
        """Judges a run that has ended by what there is: there is nothing more to wait for."""
        rest = self._window if self._window is not None and self._window.n_rows >= WINDOW_ROWS else None
        newest = rest or self._last
        # What little is known of the end may tell that it is over, and not that it is not.
        few = self._window is not None and self._window.n_rows >= REST_ROWS and self._score(self._window)
        if newest is None or self.episodes or self._has_learned or (few and few < LEARNED_SHARE):
            return
        score = self._score(newest)
        before = self._before if rest is not None else self._earlier
        is_sure = GUESS_SHARE <= score <= WORSE_FACTOR or (score > WORSE_FACTOR and newest.is_scaled)
        is_sure &= self._n_level > 0 and not (score < SETTLED_SHARE and score < before)
        is_hardly = not is_sure and HARDLY_SHARE <= score < 1 and abs(self._fresh) < FRESH_CORRELATION
        if (is_sure or is_hardly) and self._last_step - self._first_step >= FINAL_STEPS - 1:
            first_step = self._first_step if is_hardly else self._level_step
            self._final = self._open(first_step, self._last_step, newest)
            self._final.is_final, self._final.is_hardly = True, is_hardly

    def _look(self, step: int, window: _Window) -> None:
        score = self._score(window)
        is_level, is_falling = score >= GUESS_SHARE, score < FALLING_SHARE * self._before
        is_worse = score > WORSE_FACTOR and window.is_scaled and not is_falling
        self._earlier, self._before = self._before, score
        self._fresh = window.correlation / window.n_rows if self._n_windows == 0 else self._fresh
        self._n_windows += 1
        self._has_learned |= score < LEARNED_SHARE
        self._level_step = window.first_step if self._n_level == 0 else self._level_step
        self._worse_step = window.first_step if self._n_worse == 0 else self._worse_step
        self._n_level = self._n_level + 1 if is_level else 0
        self._n_worse = self._n_worse + 1 if is_worse and self._n_windows > 1 else 0
        if self._current is not None:
            if not is_level:
                self._current.closed_step = step
                self._current = None
                return
            self._current.last_step = step
            self._current.n_rows += window.n_rows
            self._current.distance, self._current.guess, _ = self._measure(window)
        elif len(self.episodes) < EPISODES_LIMIT:
            if self._n_worse >= WORSE_WINDOWS:
                self._current = self._open(self._worse_step, step, window)
            elif self._n_level >= LIVE_WINDOWS and score <= WORSE_FACTOR:
                self._current = self._open(self._level_step, step, window)

    def _score(self, window: _Window) -> float:
        """The mean squared distance over that of guessing; NaN where either is not known."""
        distance, guess, _ = self._measure(window)
        return distance / guess if guess > 0 else math.nan

    def _measure(self, window: _Window) -> tuple[float, float, float]:
        """The mean squared distance in a window, that of guessing, and the largest possible; NaN where unknown."""
        n, is_single = window.n_rows, self._n_units == 1
        if window.is_of_squares:
            return window.square / n, window.variance, math.inf
        if window.is_of_entropies:
            guess = window.variance if is_single else 1 - 1 / self._n_units
            return window.distance / n, guess, 1.0 if is_single else 2.0
        return math.nan, math.nan, math.nan

    def _open(self, first_step: int, step: int, window: _Window) -> Unskilled:
        distance, guess, farthest = self._measure(window)
        episode = Unskilled(
            stream=self._stream,
            phase=Phase.LOSS,
            first_step=first_step,
            last_step=step,
            n_rows=window.n_rows,
            known_step=step,
            table=self._table,
            column=self._output,
            distance=distance,
            guess=guess,
            farthest=farthest,
            n_classes=self._n_units,
            entropy=math.nan if math.isinf(farthest) else _entropy(self._n_units, guess),
            is_worse=distance > WORSE_FACTOR * guess,
        )
        self.episodes.append(episode)
        return episode


def _entropy(n_classes: int, guess: float) -> float:
    """The cross-entropy of guessing among classes, or of a label of share p, whose p (1 - p) is ``guess``."""
    if n_classes > 1:
        return math.log(n_classes)
    p = (1 + math.sqrt(max(1 - 4 * guess, 0.0))) / 2
    return -p * math.log(p) - (1 - p) * math.log(1 - p) if p < 1 else 0.0
