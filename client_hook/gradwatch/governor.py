"""Decides how often the expensive statistics are taken. Pure: owns no clock, no thread and no tensor.

The cheap row (norm and non-finite counts of every gradient) is written at every step. The full row (min, max, mean,
std, zeros; weights, updates and what else is captured) costs a dozen reads of every tensor. The governor lets the
training run in short blocks with and without full rows, compares each block with its neighbour, and picks the period
that keeps the cost under the budget.

Another program on the machine may slow some blocks by more than the rows do. So what counts is the ratio of two
neighbouring blocks, in both orders; of many ratios the Hodges-Lehmann estimate (the median of the means of all their
pairs), which the wildest quarter of them cannot move; and its confidence interval (Wilcoxon's signed ranks), which
says when to stop: a large cost shows after seconds, a small one is measured for longer, and costs little meanwhile.
A block in which the training paused is begun anew.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["Governor", "estimate_ratio"]

PERIOD_MAX: Final = 256
SPARSE_PERIOD: Final = 256
"""The period of the blocks that are compared with those in which every step is full."""
WARM_UP_STEPS: Final = 10
BLOCK_S_MIN: Final = 0.2
BLOCK_STEPS: Final = 8
BLOCK_STEPS_MIN: Final = 3
BLOCK_S_ENOUGH: Final = 1.0
"""A block's edges lie where the rings are read, each 100 ms, so it is wrong by a step or by 100 ms, the shorter."""
PAIRS_MIN: Final = 5
PAIRS_MAX: Final = 64
PAIRS_KEPT: Final = 128
CONFIDENCE_Z: Final = 1.96
"""Standard deviations of a normal distribution within which 95 % lie."""
SPENT_S_ENOUGH: Final = 1.5
"""Seconds that full rows may cost in one go of measuring while the evidence is not clear yet."""
REPEAT_AFTER_S: Final = 60.0
REPEAT_AFTER_S_MAX: Final = 3600.0
MEASURING_SHARE, MEASURING_SHARE_UNCLEAR = 0.1, 0.5
"""What measuring again may cost, as a share of the budget."""
THREADS_MEMORY_S: Final = 30.0
PAUSE_GAPS: Final = 4.0
"""The steps pause (a validation, a checkpoint) where none comes for this many times as long as is usual."""
GAPS_KEPT: Final = 16
GAP_QUANTILE: Final = 0.25
"""What is usual, of the last gaps between readings that bring steps: also where every third or so is a pause."""
INTERRUPTIONS_MAX: Final = 12
PERIOD_UNMEASURED: Final = 16
"""Where a training pauses so often that nothing can be measured: a full row that costs a third of a step keeps 2 %."""


def estimate_ratio(log_ratios: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """The Hodges-Lehmann estimate of a ratio with its confidence interval.

    Args:
        log_ratios: ``[n]`` logarithms of independent measurements of the ratio, n at least 1.

    Returns:
        The lower end, the estimate and the upper end, as ratios. Source: Hollander, Wolfe and Chicken, Nonparametric
        Statistical Methods, 3rd edition, sections 3.2 and 3.3 (normal approximation).
    """
    n = len(log_ratios)
    rows, columns = np.triu_indices(n)
    means = np.sort((log_ratios[rows] + log_ratios[columns]) / 2)
    spread = CONFIDENCE_Z * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    n_outside = max(0, math.floor(n * (n + 1) / 4 - spread))
    low, middle, high = means[n_outside], np.median(means), means[len(means) - 1 - n_outside]
    return math.exp(low), math.exp(middle), math.exp(high)


class Governor:
    """Picks the period of full rows from timed blocks of training.

    Args:
        budget: the share of step time that full rows may cost, e.g. 0.02; 0 takes full rows at every step, unmeasured.

    Attributes:
        period: full rows are to be taken at every so many steps.
        is_measuring: `period` is that of a block, not of a decision.
        decided_period: the last decision; 1 before the first, and `PERIOD_UNMEASURED` where nothing can be measured.
        full_cost: the share of step time that full rows cost when every step has one; None until measured.
        threads_cost: the share of wall time that the hook's own threads use.
    """

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.period = self.decided_period = 1
        self.is_measuring = False
        self.full_cost: float | None = None
        self.threads_cost = 0.0
        self._watched_s = 0.0
        self._log_ratios: deque[float] = deque(maxlen=PAIRS_KEPT)
        self._fresh: list[float] = []
        self._n_seen = 0
        self._first_step_s: float | None = None
        self._n_steps, self._elapsed_s = 0, 0.0
        self._is_mixed = True
        self._dense_s = 0.0
        self._rest_s, self._repeat_after_s = 0.0, REPEAT_AFTER_S
        self._gap_s, self._n_interruptions = 0.0, 0
        self._gaps: dict[bool, deque[float]] = {is_dense: deque(maxlen=GAPS_KEPT) for is_dense in (True, False)}

    @property
    def cost(self) -> float | None:
        """The measured share of step time that full rows cost at the decided period; None until measured."""
        return None if self.full_cost is None else self.full_cost / self.decided_period

    def observe(self, n_steps: int, elapsed_s: float, threads_s: float = 0.0) -> int:
        """Takes note of a reading.

        Args:
            n_steps: so many steps were done.
            elapsed_s: in so many seconds.
            threads_s: and so much of a processor's time was used by the hook's own threads meanwhile, in seconds.

        Returns:
            The period to use from now on.
        """
        self._note_threads(elapsed_s, threads_s)
        self._n_seen += n_steps
        if self.budget <= 0 or self._n_seen <= WARM_UP_STEPS:
            return self.period
        if self.is_measuring:
            self._measure(n_steps, elapsed_s)
        else:
            self._rest_s -= elapsed_s
            if n_steps and self._rest_s <= 0:
                self._begin()
        return self.period

    def _note_threads(self, elapsed_s: float, threads_s: float) -> None:
        self._watched_s += elapsed_s
        if elapsed_s > 0:
            weight = elapsed_s / min(self._watched_s, THREADS_MEMORY_S)
            self.threads_cost += min(weight, 1.0) * (threads_s / elapsed_s - self.threads_cost)

    def _begin(self) -> None:
        self.is_measuring = True
        self._fresh, self._first_step_s, self._dense_s = [], None, 0.0
        self._gap_s, self._n_interruptions = 0.0, 0
        self._start_block(1)

    def _start_block(self, period: int) -> None:
        # The reading in which the period changes holds steps of both kinds; it belongs to no block.
        self._is_mixed |= period != self.period
        self.period = period
        self._n_steps, self._elapsed_s = 0, 0.0

    def _measure(self, n_steps: int, elapsed_s: float) -> None:
        is_pause = self._is_pause(n_steps, elapsed_s)
        if self._is_mixed:
            self._is_mixed = n_steps == 0
            return
        if is_pause:
            self._interrupt()
            return
        # A reading without steps counts too: a step may take longer than a reading.
        self._n_steps += n_steps
        self._elapsed_s += elapsed_s
        is_long = self._n_steps >= BLOCK_STEPS or self._elapsed_s >= BLOCK_S_ENOUGH
        if n_steps and is_long and self._n_steps >= BLOCK_STEPS_MIN and self._elapsed_s >= BLOCK_S_MIN:
            self._end_block()

    def _is_pause(self, n_steps: int, elapsed_s: float) -> bool:
        """Whether the steps of this reading come after a pause."""
        self._gap_s += elapsed_s
        if not n_steps:
            return False
        gap_s, self._gap_s = self._gap_s, 0.0
        gaps = self._gaps[self.period == 1]  # full rows may make a step several times as long
        is_pause = bool(gaps) and gap_s > PAUSE_GAPS * float(np.quantile(gaps, GAP_QUANTILE))
        gaps.append(gap_s)
        return is_pause

    def _interrupt(self) -> None:
        """Begins the block anew, or gives up until later."""
        self._n_interruptions += 1
        if self._n_interruptions <= INTERRUPTIONS_MAX:
            self._start_block(self.period)
        else:
            self._decide(PERIOD_UNMEASURED if self.full_cost is None else self.decided_period)
            self._rest_s = self._repeat_after_s

    def _end_block(self) -> None:
        step_s, is_dense = self._elapsed_s / self._n_steps, self.period == 1
        if is_dense:
            self._dense_s += self._elapsed_s
        if self._first_step_s is None:
            self._first_step_s = step_s
            self._start_block(SPARSE_PERIOD if is_dense else 1)
            return
        dense_s, sparse_s = (step_s, self._first_step_s) if is_dense else (self._first_step_s, step_s)
        self._first_step_s = None
        self._fresh.append(math.log(dense_s / sparse_s))
        if len(self._fresh) >= PAIRS_MIN and self._conclude():
            return
        self._start_block(self.period)  # each pair in the order opposite to the last one's, so that drifts cancel

    def _conclude(self) -> bool:
        """Decides if the evidence suffices; tells whether it does."""
        low, middle, high = estimate_ratio(np.array(self._fresh))
        is_other = self.full_cost is not None and not low <= 1 + self.full_cost <= high
        if is_other:  # the training has changed: what was measured before says nothing any more
            self._log_ratios.clear()
        elif self._log_ratios:
            low, middle, high = estimate_ratio(np.array([*self._log_ratios, *self._fresh]))
        is_clear = self._period_for(high - 1) <= 2 * self._period_for(low - 1)
        full_cost = max(middle - 1, 0.0)
        spent_s = self._dense_s * full_cost / (1 + full_cost)
        if not is_clear and len(self._fresh) < PAIRS_MAX and spent_s < SPENT_S_ENOUGH:
            return False
        self._log_ratios.extend(self._fresh)
        self.full_cost = full_cost
        # Where the evidence is not clear, thinned only half as far as the estimate is beyond what is certain.
        believed = full_cost if is_clear else max((low + middle) / 2 - 1, 0.0)
        self._decide(self._period_for(believed))
        if is_clear and not is_other:
            self._repeat_after_s = min(2 * self._repeat_after_s, REPEAT_AFTER_S_MAX)
        else:
            self._repeat_after_s = REPEAT_AFTER_S
        share = MEASURING_SHARE if is_clear else MEASURING_SHARE_UNCLEAR
        self._rest_s = max(self._repeat_after_s if is_clear else 0.0, spent_s / (share * self.budget))
        return True

    def _decide(self, period: int) -> None:
        self.period = self.decided_period = period
        self.is_measuring, self._is_mixed = False, True

    def _period_for(self, full_cost: float) -> int:
        # Thinning saves nothing of the threads' own time; half of the budget is for the rows whatever the threads take.
        left = max(self.budget - self.threads_cost, self.budget / 2)
        return max(1, min(PERIOD_MAX, math.ceil(full_cost / left)))
