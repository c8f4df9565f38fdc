"""Decides how often the expensive statistics are taken. Pure: owns no clock, no thread and no tensor.

The cheap row (norm and non-finite counts of every gradient) is written at every step. The full row (min, max, mean,
std, zeros; weights and updates) costs a dozen reads of every tensor. The governor compares stretches of training with
and without full rows and picks the period that keeps their cost under the budget.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Governor"]

PERIOD_MAX: Final = 256
SPARSE_PERIOD: Final = 256
"""The period while steps without full rows are timed."""
WARM_UP_STEPS: Final = 10
STRETCH_STEPS_MIN: Final = 20
STRETCH_S_MIN: Final = 0.5
N_ROUNDS: Final = 3
REPEAT_AFTER_S: Final = 60.0


class Governor:
    """Picks the period of full rows from timed stretches of training.

    Args:
        budget: the share of step time that full rows may cost, e.g. 0.02; 0 takes full rows at every step, unmeasured.
    """

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.period = 1
        self.cost: float | None = None
        """The measured share of step time that full rows cost at the present period; None until measured."""
        self._is_settled = budget <= 0
        self._dense: list[float] = []
        self._sparse: list[float] = []
        self._seen = 0
        self._stretch_steps = 0
        self._stretch_s = 0.0
        self._settled_s = 0.0
        self._skip = True

    def observe(self, n_steps: int, elapsed_s: float) -> int:
        """Takes note of a reading: so many steps in so many seconds. Returns the period to use from now on."""
        self._seen += n_steps
        if self.budget <= 0 or self._seen <= WARM_UP_STEPS:
            return self.period
        if self._is_settled:
            self._settled_s += elapsed_s
            if self._settled_s > REPEAT_AFTER_S:
                self._begin()
            return self.period
        if self._skip:  # the reading in which the period changed holds steps of both kinds
            self._skip = n_steps == 0
            return self.period
        # A reading without steps counts too: a step may take longer than a reading. A pause in the training, for a
        # validation, makes one stretch look slow; it takes more than that to be the fastest of its kind.
        self._stretch_steps += n_steps
        self._stretch_s += elapsed_s
        if n_steps and self._stretch_steps >= STRETCH_STEPS_MIN and self._stretch_s >= STRETCH_S_MIN:
            self._end_stretch()
        return self.period

    def _begin(self) -> None:
        self._is_settled = False
        self._dense, self._sparse = [], []
        self._start_stretch(1)

    def _start_stretch(self, period: int) -> None:
        self.period = period
        self._skip = True
        self._stretch_steps, self._stretch_s = 0, 0.0

    def _end_stretch(self) -> None:
        step_s = self._stretch_s / self._stretch_steps
        if self.period == 1:
            self._dense.append(step_s)
            self._start_stretch(SPARSE_PERIOD)
            return
        self._sparse.append(step_s)
        if len(self._sparse) < N_ROUNDS:
            self._start_stretch(1)
        else:
            self._settle()

    def _settle(self) -> None:
        # The fastest stretch of each kind is the least disturbed by other work on the machine.
        sparse_s = min(self._sparse)
        full_cost = max(min(self._dense) - sparse_s, 0.0) / sparse_s
        self.period = max(1, min(PERIOD_MAX, -int(-full_cost // self.budget)))
        self.cost = full_cost / self.period
        self._is_settled = True
        self._settled_s = 0.0
