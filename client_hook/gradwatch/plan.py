"""What is captured, and how often: what `watch` was told, what a person asks for meanwhile, what the governor decides.

Pure: owns no clock, no thread and no tensor. Owns the words in which a change is told to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradwatch.errors import ProtocolError
from gradwatch.governor import Governor
from gradwatch.protocol import KINDS, Message

__all__ = ["STEP_LIMIT", "Control", "Plan"]

STEP_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Control:
    """What a person asks a running training for; None for what is to stay as it is.

    Attributes:
        every: full rows at every so many steps, 0 for as the budget allows.
        kinds: full statistics of these kinds only.
        everything_for: full rows of all kinds at each of so many steps from now on.
        stop: why the training is to end.
    """

    every: int | None = None
    kinds: tuple[str, ...] | None = None
    everything_for: int | None = None
    stop: str | None = None

    @classmethod
    def of(cls, message: Message) -> Control:
        """Reads a ``control`` message.

        Raises:
            ProtocolError: a field is not what the contract says.
        """
        kinds, stop = message.get("kinds"), message.get("stop")
        if kinds is not None and not (isinstance(kinds, list) and kinds and all(kind in KINDS for kind in kinds)):
            raise ProtocolError(f"control: expected kinds to be some of {', '.join(KINDS)}, got {kinds!r:.80}")
        if stop is not None and not (isinstance(stop, str) and stop):
            raise ProtocolError(f"control: expected stop to be the reason, a text, got {stop!r:.80}")
        return cls(
            every=_count(message, "every", 0),
            kinds=None if kinds is None else tuple(kinds),
            everything_for=_count(message, "everything_for", 1),
            stop=stop,
        )


def _count(message: Message, name: str, least: int) -> int | None:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= STEP_LIMIT:
        raise ProtocolError(f"control: expected {name} from {least} to {STEP_LIMIT}, got {value!r:.80}")
    return value


class Plan:
    """The plan of one run.

    Args:
        every: steps between full rows at the least, what the user asked for in `watch`.
        kinds: the kinds that are captured.
        governor: what keeps the budget.

    Attributes:
        governor: what keeps the budget.
        captured: the kinds that are captured.
    """

    def __init__(self, every: int, kinds: Sequence[str], governor: Governor) -> None:
        self.governor = governor
        self.captured = tuple(kinds)
        self._chosen = tuple(kinds)
        self._every_at_least = every
        self._every_asked: int | None = None
        self._until_step: int | None = None
        self._reason = "budget"
        self._told: tuple[Any, ...] | None = None

    @property
    def period(self) -> int:
        """Full rows are due at every so many steps."""
        if self._until_step is not None:
            return 1
        return self._every_asked or self._every_at_least * self.governor.period

    @property
    def kinds(self) -> tuple[str, ...]:
        """Full statistics are taken of these."""
        return self._chosen if self._until_step is None else self.captured

    @property
    def cost_of_all(self) -> float:
        """What the hook costs, as far as it is measured: full rows, and its threads' share of wall time."""
        return (self.cost or 0.0) + self.governor.threads_cost

    @property
    def cost(self) -> float | None:
        """What full rows cost at present, as a share of step time; None until it is measured."""
        if self.governor.full_cost is None:
            return None
        return self.governor.full_cost * self._every_at_least / self._period_decided()

    def _period_decided(self) -> int:
        """The period, beside the blocks in which the governor measures."""
        if self._until_step is not None:
            return 1
        return self._every_asked or self._every_at_least * self.governor.decided_period

    def take(self, control: Control, step: int) -> None:
        """Does as a person asks.

        Args:
            control: what is asked for; kinds that are not captured cannot be added; ``gradient`` cannot be left out.
            step: the newest step that may have begun before this was asked.
        """
        if control.every is not None:
            self._every_asked = control.every or None
        if control.kinds is not None:
            # What a gradient costs beyond its cheap row is little, and most findings need it.
            self._chosen = tuple(kind for kind in self.captured if kind == "gradient" or kind in control.kinds)
        if control.everything_for is not None:
            self._until_step = max(step + 1 + control.everything_for, self._until_step or 0)
        self._reason = "control"

    def observe(self, n_steps: int, elapsed_s: float, threads_s: float, last_step: int) -> None:
        """Takes note of a reading: so many steps in so many seconds, and the newest of them; see `Governor.observe`."""
        if self._until_step is not None and last_step >= self._until_step - 1:
            self._until_step = None
        elif self._until_step is None and self._every_asked is None:
            before = self.governor.decided_period
            self.governor.observe(n_steps, elapsed_s, threads_s)
            if self.governor.decided_period != before:
                self._reason = "budget"

    def tell(self, clock: Callable[[], int]) -> Message | None:
        """The ``capture`` message (``seq`` 0) of what holds from now on, if it is not what was told last.

        The blocks of some steps in which the governor measures are not told, only what it decides.

        Args:
            clock: gives the newest step that has begun; asked only where there is something to tell.
        """
        state = (self._period_decided(), self._every_asked or 0, self.kinds, self._until_step)
        is_measured = self.cost is not None
        if self._told == (*state, is_measured):
            return None
        self._told = (*state, is_measured)
        return {
            "type": "capture",
            "seq": 0,
            "step": clock() + 1,
            "period": state[0],
            "every": state[1],
            "kinds": list(state[2]),
            "until_step": state[3],
            "cost": self.cost,
            "reason": self._reason,
        }
