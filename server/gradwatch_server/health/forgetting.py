"""The rule for classes that come one after another, each learned at the cost of the others. Owns the newest changes.

Where every batch for a while holds one class alone, a model learns to give that one, whatever it is shown: within a few
steps its loss is small. It shows when the next class begins: then the loss leaps above that of guessing among all
classes, and it does so again and again, with classes that were learned before. That a class comes as the only one tells
nothing by itself: two sides of a game are fed in turn, and what is well known does not leap.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final, NamedTuple

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Forgetting, Phase
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import SAMPLES_MIN

__all__ = ["ForgettingRule"]

CHANGES: Final = 6
"""Changes to a class that came before: so many of the newest are looked at."""
FORGOTTEN_MIN, FORGOTTEN_LEFT = 5, 3
"""Of those, how many leap where it is told, and below how many it is over."""
LEARNED_SHARE: Final = 2 / 3
"""Of the loss with which a class begins, that with which it ends at most: it was learned meanwhile."""
BATCHES_MIN: Final = 2
"""Batches of one class on end: what comes in turn cannot be learned and forgotten."""
LEAP_BATCHES: Final = 3
"""Batches are not alike: the loss of the first one may be small by chance."""
CLASSES_MIN, CLASSES_MAX = 2, 10_000


class _Stay(NamedTuple):
    """Batches of one class on end.

    Attributes:
        label: the class.
        n_samples: in a batch.
        first_step: the step of the first batch.
        leap: the largest loss of its first few batches.
        last_loss: that of the newest batch.
        n: how many there were so far.
    """

    label: float
    n_samples: int
    first_step: int
    leap: float
    last_loss: float
    n: int = 1

    @property
    def is_learned(self) -> bool:
        """Whether the loss came down."""
        return self.last_loss <= LEARNED_SHARE * self.leap


class ForgettingRule:
    """Watches the loss of one stream where its targets change from class to class.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        targets = table.entering("target")
        self._stream, self._table = stream, table
        self._target = targets[0] if len(targets) == 1 else -1
        self._size = math.prod(table.shapes[self._target][1:]) if targets else 0
        self._labels: set[float] = set()
        self._last_step = -2
        self._stay: _Stay | None = None
        self._changes: deque[tuple[_Stay, bool]] = deque(maxlen=CHANGES)
        self._current: Forgetting | None = None
        self.episodes: list[Forgetting] = []

    def feed(self, block: Block) -> None:
        """Takes rows; what began between two rows that do not follow each other is not judged."""
        if self._target < 0 or self._size != 1:
            return
        names = [COLUMN[name] for name in ("min", "max", "n_elements")]
        found = block.statistics[:, self._target, names].astype(np.float64)
        rows = np.flatnonzero(np.isfinite(found).all(axis=1) & np.isfinite(block.loss) & block.is_sound)
        for row in rows.tolist():
            low, high, n_samples = found[row]
            is_one = low == high and low == round(low) and n_samples >= SAMPLES_MIN
            loss = float(block.loss[row])
            stay = _Stay(float(low), int(n_samples), int(block.steps[row]), loss, loss)
            self._add(int(block.steps[row]), stay if is_one else None)

    def _add(self, step: int, new: _Stay | None) -> None:
        """Takes one batch; None where it holds several classes."""
        is_next, stay = step == self._last_step + 1, self._stay
        self._last_step = step
        if is_next and stay is not None and new is not None and stay.label == new.label:
            leap = max(stay.leap, new.leap) if stay.n < LEAP_BATCHES else stay.leap
            self._stay = stay._replace(leap=leap, last_loss=new.last_loss, n=stay.n + 1)
            return
        if is_next and stay is not None:
            self._end(stay, step - 1)
        self._stay = new if is_next else None  # of a class that began unseen it is not known with which loss

    def _end(self, stay: _Stay, step: int) -> None:
        """Judges a class that has come and gone."""
        is_known = stay.label in self._labels
        if len(self._labels) < CLASSES_MAX:
            self._labels.add(stay.label)
        if not is_known or stay.n < BATCHES_MIN or len(self._labels) < CLASSES_MIN:
            return
        is_leap = stay.is_learned and stay.leap >= math.log(len(self._labels))
        self._changes.append((stay, is_leap))
        leaps = [one for one, has_leapt in self._changes if has_leapt]
        if self._current is not None:
            if len(leaps) < FORGOTTEN_LEFT:
                self._current.closed_step = step
                self._current = None
                self._changes.clear()
                return
            self._current.last_step = step
            self._current.n_rows += stay.n
        elif len(self._changes) == CHANGES and len(leaps) >= FORGOTTEN_MIN and len(self.episodes) < EPISODES_LIMIT:
            self._current = Forgetting(
                stream=self._stream,
                phase=Phase.LOSS,
                first_step=leaps[0].first_step,
                last_step=step,
                n_rows=sum(one.n for one in leaps),
                known_step=step,
                table=self._table,
                leap=float(np.median([one.leap for one in leaps])),
                learned=float(np.median([one.last_loss for one in leaps])),
                n_leaps=len(leaps),
                n_classes=len(self._labels),
                n_samples=stay.n_samples,
                stay=float(np.median([one.n for one in leaps])),
            )
            self.episodes.append(self._current)
