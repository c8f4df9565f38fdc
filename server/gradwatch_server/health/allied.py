"""The rule for a game that nobody plays: a generator that is trained to do what its discriminator is trained for.

The discriminator's step calls it twice, for what is real and for what was generated, and pushes its two outputs apart.
The generator's step calls it once more, untrained, and is to push its output back. Which of the two calls was of what
was generated, the outputs tell once they are apart: that one is as high as the generator's. Of both gradients with
respect to that output the sign is then the same where nobody plays, and the opposite where somebody does. Where one
call has both, in a batch twice as large, the discriminator lowers what is lower. And where it does the same to both of
its outputs, it tells nothing apart, whatever it gives. And a generator's step that trains the discriminator as well
undoes what the discriminator's own step does. The losses do not tell: that both fall is success everywhere but in a
game.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Allied, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["AlliedRule", "Scores"]

WINDOW_ROWS: Final = 20
"""Rows with all of a step's outputs that are taken together. A discriminator learns, and a critic's scores have no zero
that they keep to: what is compared is of the same steps."""
WINDOWS_MIN: Final = 2
"""In succession."""
WINDOWS_KEPT: Final = 64
"""Of each stream, until the other has come as far."""
SIGN_SHARE: Final = 0.9
"""Of a window's rows, those in which the gradient of all samples has one sign."""
NEAR_SHARE: Final = 1 / 3
"""Of the way from the one call's mean output to the other's, by which the generator's may be off the nearer."""
BOTH_FACTOR: Final = 1.5
"""Times the elements of the generator's step: a call that has real ones beside them."""
APART: Final = 0.5
"""Of the standard deviation of what a call gives: less far from its mean what is generated is not told from it."""


class Window(NamedTuple):
    """What the calls of a layer gave over some rows.

    Attributes:
        means: of each call the mean output.
        signs: and the sign of its gradient, 0 where it has none.
        spread: the standard deviation of the first call's output.
        n_elements: that it gave in a row.
        first_step: of the rows.
        last_step: of the rows.
    """

    means: tuple[float, ...]
    signs: tuple[int, ...]
    spread: float
    n_elements: float
    first_step: int
    last_step: int


class Scores:
    """The calls of the layer that gives the last single score in one stream's step.

    Args:
        table: the stream's tensor table.
    """

    def __init__(self, table: TensorTable) -> None:
        last = int(table.activation[-1]) if len(table.activation) else -1
        is_score = last >= 0 and len(table.shapes[last]) == 2 and table.shapes[last][1] == 1
        self.layer = table.layer_of(last) if is_score else ""
        self.is_trained = bool(self.layer) and table.holds_kernel(last)
        self.trained = table.names_of_gradients(left_out=False)
        self.table = table
        calls = [int(c) for c in table.activation if is_score and table.layer_of(int(c)) == self.layer]
        pairs = [(output, table.find_backprop(output)) for output in calls]
        self._outputs = np.array([output for output, signal in pairs if signal >= 0], np.int64)
        self._signals = np.array([signal for _, signal in pairs if signal >= 0], np.int64)
        self._means = np.zeros(len(self._outputs))
        self._signs = np.zeros(len(self._outputs))
        self._squares = self._n_elements = 0.0
        self._n_rows, self._first_step = 0, -1
        self.windows: deque[Window] = deque(maxlen=WINDOWS_KEPT)

    @property
    def n_calls(self) -> int:
        """How often it is called with a gradient."""
        return len(self._outputs)

    def feed(self, block: Block) -> None:
        """Takes rows; those in which not all calls were looked at say nothing."""
        if not self.n_calls:
            return
        mean = block.statistics[:, self._outputs, COLUMN["mean"]].astype(np.float64)
        of_first = block.statistics[:, self._outputs[0], [COLUMN["std"], COLUMN["n_elements"]]].astype(np.float64)
        ends = block.statistics[:, self._signals][:, :, [COLUMN["min"], COLUMN["max"]]].astype(np.float64)
        sign = np.where(ends[:, :, 0] >= 0, 1, 0) - np.where(ends[:, :, 1] <= 0, 1, 0)  # of nothing but 0 it is 0
        for row in np.flatnonzero(np.isfinite(mean).all(axis=1) & np.isfinite(ends).all(axis=(1, 2))).tolist():
            self._first_step = int(block.steps[row]) if self._n_rows == 0 else self._first_step
            self._n_rows += 1
            self._means += mean[row]
            self._signs += sign[row]
            self._squares += float(of_first[row, 0] ** 2 + mean[row, 0] ** 2)
            self._n_elements += float(of_first[row, 1])
            if self._n_rows == WINDOW_ROWS:
                self._end(int(block.steps[row]))

    def _end(self, step: int) -> None:
        means, signs = self._means / WINDOW_ROWS, self._signs / WINDOW_ROWS
        is_sure = np.abs(signs) >= SIGN_SHARE
        whole = tuple(int(sign) for sign in np.where(is_sure, np.sign(signs), 0))
        spread = math.sqrt(max(self._squares / WINDOW_ROWS - float(means[0]) ** 2, 0.0))
        n_elements = self._n_elements / WINDOW_ROWS
        self.windows.append(Window(tuple(means.tolist()), whole, spread, n_elements, self._first_step, step))
        self._means[:], self._signs[:] = 0, 0
        self._squares = self._n_elements = 0.0
        self._n_rows = 0


@dataclass
class _Pair:
    """Two streams that share a discriminator, and up to which step they were compared."""

    judge: int
    player: int
    compared_step: int = -1
    n_allied: int = 0
    first_step: int = -1
    episode: Allied | None = None


class AlliedRule:
    """Compares the streams of a run: of each pair the one that trains a scoring layer and the one that only uses it."""

    def __init__(self) -> None:
        """Starts with nothing compared."""
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self.episodes: list[Allied] = []

    def compare(self, streams: Iterable[tuple[int, Scores]]) -> None:
        """Takes the windows that both of a pair have come to.

        Args:
            streams: number and scores of each stream.
        """
        known = [(number, scores) for number, scores in streams if scores.layer]
        for judge, own in known:
            for player, other in known:
                is_less = not other.is_trained or own.trained < other.trained
                if own.layer == other.layer and own.is_trained and is_less and own.n_calls:
                    pair = self._pairs.setdefault((judge, player), _Pair(judge, player))
                    self._compare(other, own, pair)

    def _compare(self, scores: Scores, judge: Scores, pair: _Pair) -> None:
        for ours, theirs in _in_step(scores.windows, judge.windows, after=pair.compared_step):
            pair.compared_step = min(ours.last_step, theirs.last_step)
            if ours.signs[-1] == 0:
                continue
            is_shared = scores.is_trained and _tells_apart(ours, theirs)
            sign = -ours.signs[-1] if is_shared else _sign_of_generated(ours, theirs)
            if sign == 0:
                continue
            asked = "shared" if is_shared else _asked_of(theirs, sign)
            step = max(ours.last_step, theirs.last_step)
            if sign != ours.signs[-1] and asked in ("apart", "reversed"):
                pair.n_allied = 0
                if pair.episode is not None:
                    pair.episode.closed_step, pair.episode = step, None
                continue
            pair.first_step = ours.first_step if pair.n_allied == 0 else pair.first_step
            pair.n_allied += 1
            if pair.episode is not None:
                pair.episode.last_step, pair.episode.n_rows = step, pair.n_allied * WINDOW_ROWS
                pair.episode.asked = asked
            elif pair.n_allied == WINDOWS_MIN and not self.episodes:
                pair.episode = Allied(
                    stream=pair.player,
                    judge=pair.judge,
                    phase=Phase.LOSS,
                    first_step=pair.first_step,
                    last_step=step,
                    n_rows=pair.n_allied * WINDOW_ROWS,
                    known_step=step,
                    table=scores.table,
                    layer=scores.layer,
                    mean=ours.means[-1],
                    is_lowered=sign > 0,
                    asked=asked,
                )
                self.episodes.append(pair.episode)


def _in_step(one: Sequence[Window], other: Sequence[Window], *, after: int) -> Iterator[tuple[Window, Window]]:
    """Windows of two streams over the same steps: each of the slower one, with the other's as one."""
    if not one or not other:
        return
    is_swapped = _length(one) < _length(other)
    slow, fast = (other, one) if is_swapped else (one, other)
    for window in slow:
        if window.first_step <= after or window.last_step > fast[-1].last_step:
            continue
        within = [w for w in fast if w.last_step >= window.first_step and w.first_step <= window.last_step]
        if within:
            yield (_as_one(within), window) if is_swapped else (window, _as_one(within))


def _length(windows: Sequence[Window]) -> float:
    """The steps of a window, in the mean."""
    return (windows[-1].last_step - windows[0].first_step) / len(windows)


def _as_one(windows: Sequence[Window]) -> Window:
    """Windows of one stream together: a sign that is not that of all of them is none."""
    signs = [set(of_call) for of_call in zip(*(window.signs for window in windows), strict=True)]
    return Window(
        means=tuple(np.mean([window.means for window in windows], axis=0).tolist()),
        signs=tuple(of_call.pop() if len(of_call) == 1 else 0 for of_call in signs),
        spread=float(np.mean([window.spread for window in windows])),
        n_elements=float(np.mean([window.n_elements for window in windows])),
        first_step=windows[0].first_step,
        last_step=windows[-1].last_step,
    )


def _tells_apart(player: Window, judge: Window) -> bool:
    """Whether the judge's step raises some of its outputs and lowers others."""
    if len(judge.means) == 1:
        return judge.signs == (0,) and judge.n_elements >= BOTH_FACTOR * player.n_elements
    return set(judge.signs) == {1, -1}


def _asked_of(judge: Window, sign: int) -> str:
    """What the judge's step does to its outputs, as `Allied` has it, by the sign of what is generated."""
    signs = set(judge.signs)
    if len(judge.signs) > 1 and signs == {sign}:
        return "alike"
    return "reversed" if len(judge.signs) > 1 and signs == {1, -1} and sign < 0 else "apart"


def _sign_of_generated(player: Window, judge: Window) -> int:
    """The sign of the judge's gradient at the call whose output is the player's; 0 where that is not clear."""
    if len(judge.means) == 1:
        way = judge.means[0] - player.means[-1]
        is_of_both = judge.n_elements >= BOTH_FACTOR * player.n_elements
        return int(np.sign(way)) if is_of_both and abs(way) >= APART * judge.spread else 0
    if len(set(judge.signs)) == 1:
        return judge.signs[0]
    away = sorted((abs(mean - player.means[-1]), sign) for mean, sign in zip(judge.means, judge.signs, strict=True))
    (nearest, sign), (next_one, _) = away[:2]
    is_clear = next_one >= APART * judge.spread and nearest <= NEAR_SHARE * next_one
    return sign if is_clear else 0
