"""The rule for outputs that do not follow their targets, or did once, or run the other way, whatever the loss says.

A loss may come down by its penalties, by weights that it trains itself, or by a mean that is learned, and its level
says little where nobody knows what guessing gives. Whether outputs and targets rise and fall together is the same
question for all of them (Pearson's correlation; the hook measures it at each full row). An output that is a distance
runs against labels of "the same", and a single number may be anything's: only several real numbers that are asked for
are judged to be opposite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Unrelated
from gradwatch_server.health.skill import FINAL_STEPS, REST_ROWS, WINDOW_ROWS, WINDOW_STEPS
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import are_labels

__all__ = ["RELATED", "UNRELATED", "CorrelationRule"]

UNRELATED: Final = 0.1
"""Outputs whose correlation with their targets was never more than this explain less than a hundredth of them."""
RELATED: Final = 0.5
"""And from here on those of another head do follow theirs."""
OPPOSITE: Final = -0.5
"""Outputs that run against their targets."""
LIVE_WINDOWS: Final = 20
"""What follows nothing so far may yet begin to: the parity of three of 24 inputs took a small network 1,300 steps."""
HEAD_WINDOWS: Final = 5
"""Where another head has begun long ago."""
OPPOSITE_WINDOWS: Final = 2
DROWNED_RATIO: Final = 20.0
"""Between the loss's gradients with respect to what two heads give: what they have in common learns for one of them.
Of targets of about 1 it is below 10."""
LOST: Final = 0.1
"""By how much a correlation must fall, while the loss falls too: what is trained is something else then."""
LOST_WINDOWS: Final = 3
OUTDONE_SHARE: Final = 0.75
OUTDONE_GAP: Final = 0.15
"""Of the correlation that a linear fit has, and below it: outputs that follow less have missed what is there. Chance
moves the mean of a few batches by a third of that."""
OUTDONE_WINDOWS: Final = 5
"""Windows after which that is told, and of one column in succession."""
RISING_SHARE: Final = 0.2
"""Of the distance to the linear fit: what comes nearer by as much from one window to the next is on its way."""
PATIENCE_WINDOWS: Final = 30
"""What comes to the linear fit within so many more, at the pace of its newer half, is left to go on while it does."""
RARE: Final = 0.25
"""Of labels of 0 and 1: a class of which outputs that are weighed in its favour say too much."""
FAVOUR: Final = 2.0
"""Times as often as it is there: no mean of a cross-entropy without weights."""
NEWEST_ROWS: Final = 10
"""Of a window that a run's end leaves open, for a mean of its own."""


@dataclass
class _Target:
    """What is known of one target's windows."""

    name: str
    column: int
    is_integer: bool
    largest: float = 0.0
    n_opposite: int = 0
    opposite_step: int = -1
    best: float = -math.inf
    best_loss: float = math.nan
    n_lost: int = 0
    lost_step: int = -1
    least_ratio: float = math.inf
    """How many times as large as its own the gradient with respect to another head's output was in every window."""
    highest: float = -math.inf
    """Of the targets themselves."""
    is_label: bool = True
    means: list[float] = field(default_factory=list)
    """Of each window."""
    share: float = math.nan
    """The newest mean of the targets themselves."""

    @property
    def n_windows(self) -> int:
        """How many windows there have been."""
        return len(self.means)

    @property
    def last(self) -> float:
        """The mean of the newest; NaN where there is none."""
        return self.means[-1] if self.means else math.nan

    @property
    def before(self) -> float:
        """That of the one before it, likewise."""
        return self.means[-2] if len(self.means) > 1 else math.nan


class CorrelationRule:
    """Watches how far one stream's outputs follow their targets.

    Args:
        stream: the stream's number.
        table: its tensor table.
        targets: the names of the targets of which it is told, in the order of `Block.correlations`.
    """

    def __init__(self, stream: int, table: TensorTable, targets: Sequence[str]) -> None:
        self._stream, self._table = stream, table
        columns = {table.names[column]: column for column in table.entering("target")}
        # With weights of their own, samples may be asked for less than nothing: what a policy is to avoid.
        self._is_judged = not table.entering("sample_weight")
        self._targets = [self._begin(name, columns.get(name, -1)) for name in targets] if table.replica is None else []
        self._first_step = self._last_step = self._window_step = -1
        heads = [next(iter(table.held_to(target.name, table.backprop)), -1) for target in self._targets]
        self._heads = np.array(heads if len(heads) > 1 and min(heads) >= 0 else [], np.int64)
        self._sums, self._loss = np.zeros(len(self._targets)), 0.0
        self._signals = np.zeros(len(self._targets))
        self._n_rows = 0
        self._n_known = np.zeros(len(self._targets), np.int64)
        self._final: list[Unrelated] = []
        self.linear_fit = math.nan
        """How far a linear fit of the same inputs follows the first target; NaN where that is not known."""
        self._unfollowed = self._last_unfollowed = self._n_unfollowed = 0
        """Columns of the first target, counted from 1, and in how many windows in succession it was that one."""
        self._share = math.nan
        """The newest mean of what the last layer gives."""
        self._rate = self._last_rate = math.nan
        self._n_steady = 0
        """Windows in succession at whose end the learning rate was no higher than before."""
        self.episodes: list[Unrelated] = []

    def _begin(self, name: str, column: int) -> _Target:
        """What is known of a target before the first row; column: -1 if it is not looked at itself."""
        return _Target(name, column, is_integer=column >= 0 and "int" in self._table.dtypes[column])

    @property
    def highest_label(self) -> float:
        """The highest of all whole numbers that were asked for; -inf where none are known."""
        return max((one.highest for one in self._targets if one.is_integer), default=-math.inf)

    def feed(self, block: Block) -> None:
        """Takes rows; those that say nothing of it are passed by."""
        if not self._targets:
            return
        if self._final and len(block.steps):  # the run goes on
            self.episodes = [one for one in self.episodes if one not in self._final]
            self._final = []
        self._look_at_targets(block)
        known = block.linear_fit[np.isfinite(block.linear_fit)]
        self.linear_fit = float(known[-1]) if len(known) else self.linear_fit
        known = block.unfollowed[np.isfinite(block.unfollowed)]
        self._unfollowed = int(known[-1]) if len(known) else self._unfollowed
        for row in np.flatnonzero(block.is_sound & ~np.isnan(block.correlations).all(axis=1)).tolist():
            step, found = int(block.steps[row]), block.correlations[row]
            self._first_step = step if self._first_step < 0 else self._first_step
            self._window_step = step if not self._n_known.any() else self._window_step
            self._last_step = step
            rate = float(block.learning_rate[row])
            self._rate = rate if math.isfinite(rate) else self._rate
            self._sums += np.nan_to_num(found)
            if len(self._heads):
                self._signals += self._measure_signals(block, row)
            self._n_known += ~np.isnan(found)
            self._n_rows, self._loss = self._n_rows + 1, self._loss + float(block.loss[row])
            if self._n_known.max() >= WINDOW_ROWS and step - self._window_step >= WINDOW_STEPS - 1:
                self._close_window(step)

    def finish(self) -> None:
        """Judges a run that has ended by what there is: there is nothing more to wait for."""
        if not self._is_judged or self._last_step - self._first_step < FINAL_STEPS - 1:
            return
        # What little is known of the end may tell that it is over, and not that it is not.
        means = self._sums / np.maximum(self._n_known, 1)
        for place, target in enumerate(self._targets):
            rest = float(means[place]) if self._n_known[place] >= REST_ROWS else 0.0
            is_unrelated = abs(rest) < UNRELATED and self._is_unrelated(target)
            if target.n_windows and (is_unrelated or self._is_drowned(target)):
                self._final += self._open(target, self._first_step, self._last_step)
                continue
            has_rest = self._n_known[place] >= NEWEST_ROWS
            newest, before = (rest, target.last) if has_rest else (target.last, target.before)
            if target.n_windows and self._is_outdone(target, newest, before):
                self._final += self._open(
                    target, self._first_step, self._last_step, newest=newest, linear_fit=self.linear_fit
                )
            elif target.n_windows and self._is_part_left(target):
                self._final += self._open(target, self._first_step, self._last_step, column=self._unfollowed - 1)

    @property
    def follows(self) -> bool:
        """Whether outputs follow one of the targets closely, of late, or all as closely as a linear fit does."""
        is_near = self.linear_fit >= UNRELATED and self.least >= OUTDONE_SHARE * self.linear_fit
        return is_near or any(target.last >= RELATED for target in self._targets)

    @property
    def least(self) -> float:
        """How closely outputs follow the target that they follow least, of late; NaN where that is not known."""
        return float(np.min([target.last for target in self._targets])) if self._targets else math.nan

    def _look_at_targets(self, block: Block) -> None:
        names = [COLUMN[name] for name in ("min", "max", "mean", "std")]
        for target in (one for one in self._targets if one.column >= 0):
            found = block.statistics[:, target.column, names].astype(np.float64)
            found = found[np.isfinite(found).all(axis=1)]
            if len(found):
                low, high, mean, std = found.T
                target.highest = max(target.highest, float(high.max()))
                target.is_label &= bool(are_labels(low, high, mean, std).all())
                target.share = float(mean.mean())
        if len(self._table.activation):
            given = block.statistics[:, self._table.activation[-1], COLUMN["mean"]].astype(np.float64)
            given = given[np.isfinite(given)]
            self._share = float(given.mean()) if len(given) else self._share

    def _measure_signals(self, block: Block, row: int) -> npt.NDArray[np.float64]:
        """The root mean square of the loss's gradient with respect to what each target's head gives."""
        norm, n = block.statistics[row][self._heads][:, [COLUMN["norm"], COLUMN["n_elements"]]].astype(np.float64).T
        return np.asarray(norm / np.sqrt(np.maximum(n, 1.0)))

    def _means(self) -> npt.NDArray[np.float64]:
        """Of the window that is open, NaN where too few rows told."""
        return np.where(self._n_known >= WINDOW_ROWS, self._sums / np.maximum(self._n_known, 1), np.nan)

    def _close_window(self, step: int) -> None:
        means, loss = self._means(), self._loss / self._n_rows
        for place, (target, mean) in enumerate(zip(self._targets, means.tolist(), strict=True)):
            if math.isnan(mean):
                continue
            others = np.delete(self._signals, place)
            ratio = float(others.max(initial=0.0) / self._signals[place]) if self._signals[place] > 0 else 0.0
            target.least_ratio = min(target.least_ratio, 0.0 if math.isnan(ratio) else ratio)
            target.means.append(mean)
            target.largest = max(target.largest, abs(mean))
            target.opposite_step = self._window_step if target.n_opposite == 0 else target.opposite_step
            target.n_opposite = target.n_opposite + 1 if mean <= OPPOSITE else 0
            target.lost_step = self._window_step if target.n_lost == 0 else target.lost_step
            # A distance runs against labels of "the same", and does so more and more: that is no loss.
            is_lost = target.best >= LOST and mean <= target.best - LOST and loss <= target.best_loss
            target.n_lost = target.n_lost + 1 if is_lost else 0
            if mean > target.best:
                target.best, target.best_loss = mean, loss
        self._n_unfollowed = self._n_unfollowed + 1 if self._unfollowed == self._last_unfollowed else 0
        self._last_unfollowed = self._unfollowed
        self._n_steady = 0 if self._rate > self._last_rate else self._n_steady + 1
        self._last_rate = self._rate
        for target in self._targets if self._is_judged else []:
            self._judge(target, step)
        self._sums[:], self._n_known[:], self._n_rows, self._loss = 0, 0, 0, 0.0
        self._signals[:] = 0

    def _judge(self, target: _Target, step: int) -> None:
        known = next((one for one in self.episodes if one.target == target.name and one.is_open), None)
        if known is not None:
            is_over = self._is_over(known, target)
            known.closed_step = step if is_over else None
            known.last_step, known.correlation = (known.last_step if is_over else step), target.last
        elif target.n_opposite >= OPPOSITE_WINDOWS and self._is_of_numbers(target):
            self._open(target, target.opposite_step, step, is_opposite=True)
        elif target.n_lost >= LOST_WINDOWS:
            self._open(target, target.lost_step, step, best=target.best)
        elif self._is_unrelated(target):
            n_needed = HEAD_WINDOWS if self._others(target)[0] >= RELATED else LIVE_WINDOWS
            if target.n_windows >= n_needed:
                self._open(target, self._first_step, step)
        elif self._is_drowned(target) and target.n_windows >= HEAD_WINDOWS:
            self._open(target, self._first_step, step)
        elif self._is_slow(target) and self._is_outdone(target, target.last, target.before):
            self._open(target, self._first_step, step, linear_fit=self.linear_fit)
        elif self._n_unfollowed >= OUTDONE_WINDOWS and self._is_part_left(target):
            self._open(target, self._first_step, step, column=self._unfollowed - 1)

    def _is_part_left(self, target: _Target) -> bool:
        """Whether one column of the only target is not followed, which a linear fit does."""
        return self._unfollowed > 0 and len(self._targets) == 1 and self._are_shares(target)

    def _is_slow(self, target: _Target) -> bool:
        """Whether outputs had time enough, at a rate that does not rise, and will not soon be what a linear fit is."""
        n = target.n_windows
        if n < (LIVE_WINDOWS if target.last < UNRELATED else OUTDONE_WINDOWS) or self._n_steady < OUTDONE_WINDOWS:
            return False
        pace = (target.last - target.means[n // 2]) / (n - 1 - n // 2)
        return pace * PATIENCE_WINDOWS < self.linear_fit - target.last

    def _is_outdone(self, target: _Target, newest: float, before: float) -> bool:
        """Whether a linear fit follows the only target far better, and outputs are not about to."""
        gap = self.linear_fit - newest
        is_behind = gap >= OUTDONE_GAP and 0 <= newest < OUTDONE_SHARE * self.linear_fit
        is_still = newest - before < RISING_SHARE * gap
        is_fit = len(self._targets) == 1 and self._is_scored(target) and self._are_shares(target)
        return is_behind and is_still and is_fit

    def _is_over(self, known: Unrelated, target: _Target) -> bool:
        if known.column >= 0:
            return self._unfollowed != known.column + 1
        if not math.isnan(known.linear_fit):
            return target.last >= OUTDONE_SHARE * known.linear_fit
        if known.is_lost:
            return target.n_lost == 0
        if known.is_opposite:
            return target.last > OPPOSITE
        return target.last >= RELATED if not math.isnan(known.ratio) else target.largest >= UNRELATED

    def _is_of_numbers(self, target: _Target) -> bool:
        """Whether several real numbers are asked for."""
        shape = self._table.shapes[target.column] if target.column >= 0 else ()
        return math.prod(shape[1:]) > 1 and not target.is_integer and not target.is_label

    def _is_unrelated(self, target: _Target) -> bool:
        return target.largest < UNRELATED and self._is_scored(target)

    def _is_drowned(self, target: _Target) -> bool:
        """Whether hardly anything of the loss is its own, and another head has learned meanwhile."""
        is_behind = target.last < RELATED <= self._others(target)[0]
        return is_behind and target.least_ratio >= DROWNED_RATIO and self._is_scored(target)

    def _is_scored(self, target: _Target) -> bool:
        # Labels beside outputs that are no scores, as those of a triplet loss, have not as many classes.
        widths = {self._table.shapes[column][-1] for column in self._table.activation if self._table.shapes[column]}
        return not target.is_integer or target.highest <= 1 or target.highest + 1 in widths

    def _are_shares(self, target: _Target) -> bool:
        """Whether outputs are of the labels' own scale: a score far out follows a label of 0 and 1 less than a share.

        Of class numbers the hook takes the shares itself.
        """
        output = int(self._table.activation[-1]) if len(self._table.activation) else -1
        if not target.is_label or output < 0:
            return not target.is_label
        is_of_classes = target.is_integer and self._table.shapes[output][-1:] > (1,)
        is_of_one = self._table.functions[output] == "sigmoid" and not self._is_in_favour(target)
        return is_of_classes or is_of_one or self._table.functions[output] == "softmax"

    def _is_in_favour(self, target: _Target) -> bool:
        """Whether outputs say a rare class far more often than it is there, as a loss that weighs it has them do."""
        real, said = (target.share, self._share) if target.share <= 1 / 2 else (1 - target.share, 1 - self._share)
        return real <= RARE and said >= FAVOUR * real

    def _others(self, target: _Target) -> tuple[float, str]:
        """The best of the other targets' newest correlations, and whose it is; NaN where there is none."""
        known = [(one.last, one.name) for one in self._targets if one is not target and one.n_windows]
        return max(known, default=(math.nan, ""))

    def _open(
        self, target: _Target, first_step: int, step: int, *, newest: float = math.nan, **known: Any
    ) -> list[Unrelated]:
        """Opens an episode, if it is the target's first; gives what it opened. ``known``: further fields of it."""
        if any(one.target == target.name for one in self.episodes):
            return []
        correlation, other = self._others(target)
        episode = Unrelated(
            stream=self._stream,
            phase=Phase.LOSS,
            first_step=first_step,
            last_step=step,
            n_rows=target.n_windows * WINDOW_ROWS,
            known_step=step,
            table=self._table,
            target=target.name,
            correlation=target.last if math.isnan(newest) else newest,
            other=other,
            correlation_of_other=correlation,
            ratio=target.least_ratio if self._is_drowned(target) else math.nan,
            n_targets=len(self._targets),
            is_first=target is self._targets[0],
            **known,
        )
        self.episodes.append(episode)
        return [episode]
