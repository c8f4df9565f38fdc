"""The rule for a loss that never leaves what guessing gives. Owns one loss' newest values.

That a loss does not fall tells little: it may have converged, be noisy by nature, or belong to a game of two. The loss
of guessing among C classes is ln C, though, and a model whose last layer has C outputs and whose loss stays at ln C for
long has not learned. A loss that stands at ln of the batch's size from its first values on guesses among the samples of
a batch: then one axis is taken for another, or pairs are asked for that are none. And a squared error that comes down
to the variance of the targets, and stays, knows their mean and nothing else; one that stays at their mean square has
not come from 0 to where they are. The targets are asked later. Nothing else is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Plateau
from gradwatch_server.health.learning_rate import USUAL_RATIO
from gradwatch_server.health.pieces import Pieces
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import TargetSpread

__all__ = ["LEVEL_TOLERANCE", "PlateauRule", "compare_level", "count_classes"]

WINDOW_VALUES: Final = 1_000
"""SageMaker Debugger asks for 10 steps; deep networks may need some hundred before they begin to learn."""
EARLY_VALUES: Final = 200
"""Of a loss whose level says more than that it is level: no model comes to ln of the batch's size by chance, nor to the
variance of its targets."""
FINAL_VALUES: Final = 100
"""Of a run that has ended: what has not been learned by then will not be."""
EARLY_EPISODES_LIMIT: Final = 8
LEVEL_MIN: Final = 0.6
"""A level below ln 2 is no guess among anything."""
REFRESH_VALUES: Final = 100
"""Values between two looks, counted from the loss' first one, so that batches do not matter."""
LEVEL_TOLERANCE: Final = 0.01
"""How near the median must be to the loss of guessing. Priors that differ between classes lower it, and are not
judged."""
TREND_LIMIT: Final = 0.002
"""By how much of itself the loss may fall from the first to the second half, and still be level; above its noise."""
LEARNED_SHARE: Final = 0.97
"""Of the loss of guessing, and of the start: a piece whose mean is below it shows that something was learned."""
START_TOLERANCE: Final = 0.15
"""Of the loss of guessing: a loss that starts no farther from it began by guessing, and is of that scale."""
NOISE_SHARE: Final = 0.4
"""Of a loss' spread: three standard deviations of the median of 100 values."""
VARIANCE_TOLERANCE: Final = 0.05
"""Both are known from some hundred batches; a twentieth of the variance explained is next to nothing learned."""
FAR_SHARE: Final = 0.5
"""Of the mean square of the targets that their variance is at most where they lie to one side of 0."""
MOVING_RATIO: Final = 0.1 * USUAL_RATIO
"""Of updates to weights: below it a loss stands still because the weights do, as while a rate warms up."""
MAD_TO_SIGMA: Final = 1.4826

Float64 = npt.NDArray[np.float64]


class PlateauRule:
    """Watches one loss.

    Args:
        stream: the stream that brings it, -1 for one that the user logs.
        name: its name.
    """

    def __init__(self, stream: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._values = np.zeros(WINDOW_VALUES)
        self._steps = np.zeros(WINDOW_VALUES, np.int64)
        self._n = 0
        self._current: Plateau | None = None
        self._level: Plateau | None = None
        self._n_early = 0
        self._final: Plateau | None = None
        self._pieces = Pieces()
        self._lowest = math.inf
        self._first_step = 0
        self.n_classes = 0
        """How many classes are guessed among; 0 where that is not known: then nothing is judged."""
        self.episodes: list[Plateau] = []

    def feed(self, steps: npt.NDArray[np.int64], values: Float64) -> None:
        """Takes captured values, in order of steps."""
        if self._final is not None and len(steps):  # the run goes on
            self.episodes.remove(self._final)
            self._final = None
        for _, piece in self._pieces.feed(steps, values):
            self._lowest = min(self._lowest, float(piece.mean()))
        if self._n == 0 and len(steps):
            self._first_step = int(steps[0])
        start = 0
        while start < len(steps):
            end = min(len(steps), start + REFRESH_VALUES - self._n % REFRESH_VALUES)
            places = np.arange(self._n, self._n + end - start) % WINDOW_VALUES
            self._values[places], self._steps[places] = values[start:end], steps[start:end]
            self._n += end - start
            start = end
            if self._n % REFRESH_VALUES == 0:
                self._look_early()
                if self._n >= WINDOW_VALUES and self.n_classes >= 2:
                    self._look()

    def finish(self, *, has_classes: bool = True) -> None:
        """Judges a run that has ended by fewer values: there is nothing more to wait for.

        Args:
            has_classes: whether the targets may be classes, as far as is known of them.
        """
        if self._n < FINAL_VALUES or self._current is not None or self._final is not None:
            return
        values = self._values[self._newest(FINAL_VALUES)]
        sample, start = _Sample.of(values), float(np.median(self._pieces.first or np.nan))
        if has_classes and self.n_classes >= 2 and self._is_guess(sample, start):
            self._final = self._open(self._n - FINAL_VALUES, FINAL_VALUES, sample)
            self._final.guess, self._final.n_classes = math.log(self.n_classes), self.n_classes
            self._final.from_step = self._first_step
        elif self._level is None and sample.level > 0 and sample.is_still:
            self._final = self._open(self._n - FINAL_VALUES, FINAL_VALUES, sample)
            self._final.is_early, self._final.mean = True, float(values.mean())
            self._final.is_from_start = sample.level > LEVEL_MIN and sample.is_as_at(start)
        if self._final is not None:
            self._final.is_final, self._final.start = True, start

    def _is_guess(self, sample: _Sample, start: float) -> bool:
        """Whether the last values are no better than guessing among the classes, and none before them were."""
        guess = math.log(self.n_classes)
        is_worse = abs(start - guess) <= START_TOLERANCE * guess and sample.level >= guess
        return self._lowest >= LEARNED_SHARE * guess and (sample.is_at(guess) or is_worse)

    def _look_early(self) -> None:
        """Notes a loss that is level, whatever its level."""
        if self._level is not None:
            newest = self._newest(REFRESH_VALUES)
            if self._level.level > 0 and _Sample.of(self._values[newest]).is_near(self._level):
                self._level.last_step = int(self._steps[newest[-1]])
                self._level.n_rows += REFRESH_VALUES
            else:
                self._level.closed_step = int(self._steps[newest[-1]])
                self._level = None
        elif self._n >= EARLY_VALUES and self._n_early < EARLY_EPISODES_LIMIT:
            values = self._values[self._newest(EARLY_VALUES)]
            sample = _Sample.of(values)
            if sample.level > 0 and sample.is_still:
                self._n_early += 1
                self._level = self._open(self._n - EARLY_VALUES, EARLY_VALUES, sample)
                self._level.is_early, self._level.mean = True, float(values.mean())
                is_first = self._n == EARLY_VALUES and sample.level > LEVEL_MIN
                self._level.is_from_start = is_first and sample.is_as_at(float(np.median(values[: EARLY_VALUES // 8])))

    def _look(self) -> None:
        window = self._newest(WINDOW_VALUES)
        values, last_step = self._values[window], int(self._steps[window[-1]])
        sample, guess = _Sample.of(values), math.log(self.n_classes)
        newest = float(np.median(values[-REFRESH_VALUES:]))
        is_leaving = newest < sample.level - max(LEVEL_TOLERANCE * guess, 3.0 * sample.spread)
        if is_leaving or not (sample.is_at(guess) and sample.is_still):
            if self._current is not None:
                self._current.closed_step = last_step
                self._current = None
        elif self._current is not None:
            self._current.last_step = last_step
            self._current.n_rows += REFRESH_VALUES
        elif len(self.episodes) < EPISODES_LIMIT:
            self._current = self._open(self._n - WINDOW_VALUES, WINDOW_VALUES, sample)
            self._current.guess, self._current.n_classes = guess, self.n_classes

    def _newest(self, n: int) -> npt.NDArray[np.int64]:
        """The places of the newest values, in order."""
        return np.arange(self._n - n, self._n) % WINDOW_VALUES

    def _open(self, start: int, n: int, sample: _Sample) -> Plateau:
        steps = self._steps[(start + np.arange(n)) % WINDOW_VALUES]
        episode = Plateau(
            stream=self._stream,
            phase=Phase.LOSS,
            first_step=int(steps[0]),
            last_step=int(steps[-1]),
            n_rows=n,
            known_step=int(steps[-1]),
            name=self._name,
            level=sample.level,
            spread=sample.spread,
        )
        self.episodes.append(episode)
        return episode


class _Sample(NamedTuple):
    """Some values of a loss: their median, their robust standard deviation, and whether they do not fall."""

    level: float
    spread: float
    is_still: bool

    @classmethod
    def of(cls, values: Float64) -> _Sample:
        """Measures values; those that are not all finite are nowhere, and never still."""
        if not np.isfinite(values).all():
            return cls(math.nan, math.nan, is_still=False)
        level = float(np.median(values))
        spread = MAD_TO_SIGMA * float(np.median(np.abs(values - level)))
        half = len(values) // 2
        fall = float(np.median(values[:half]) - np.median(values[half:]))
        noise = 2.0 * spread / math.sqrt(half)  # of the difference of two medians
        return cls(level, spread, is_still=fall <= max(TREND_LIMIT * abs(level), noise))

    def is_near(self, episode: Plateau) -> bool:
        """Whether the median is as good as an episode's level, as far as its noise lets one tell."""
        slack = max(LEVEL_TOLERANCE * abs(episode.level), NOISE_SHARE * episode.spread)
        return abs(self.level - episode.level) <= slack

    def is_as_at(self, start: float) -> bool:
        """Whether the median is as good as a start, or as a little worse one: outputs begin with some spread."""
        return self.is_at(start) or self.level < start <= (1 + START_TOLERANCE) * self.level

    def is_at(self, level: float) -> bool:
        """Whether the median is as good as a given level."""
        return abs(self.level - level) <= LEVEL_TOLERANCE * abs(level)


def count_classes(tables: Sequence[TensorTable]) -> int:
    """How many classes a run tells apart: the width of its last layer, 2 for a single output; 0 where it is not known.

    Several streams are a game of several models, whose losses need not fall.
    """
    if len(tables) != 1:
        return 0
    table = tables[0]
    if not len(table.kernels):
        return 0
    kernel = table.gradient[table.kernels[-1]]
    if len(table.activation) and table.functions[int(table.activation[-1])] == "sigmoid":
        return 2
    width = table.shapes[kernel][-1]
    return 2 if width == 1 else width


def compare_level(
    episode: Plateau, n_samples: int, n_classes: int, targets: TargetSpread, ratio: float | None, *, variance: float
) -> None:
    """Says what the level of an early episode is that of, if of anything.

    Args:
        episode: of a loss that is level; changed in place.
        n_samples: in a batch; 0 where that is not known.
        n_classes: that the model tells apart; 0 where that is not known.
        targets: the stream's.
        ratio: of updates to weights; None where that is not known.
        variance: of the targets, NaN where outputs follow these.
    """
    is_moving = ratio is not None and ratio >= MOVING_RATIO
    episode.is_of_mean = is_moving and abs(episode.mean - variance) <= VARIANCE_TOLERANCE * variance
    square = targets.mean_square
    is_far = variance < FAR_SHARE * square and not targets.is_of_input
    episode.is_of_zero = is_moving and is_far and abs(episode.mean - square) <= VARIANCE_TOLERANCE * square
    size = targets.mean_size
    episode.is_of_size = is_moving and abs(episode.mean - size) <= VARIANCE_TOLERANCE * size
    episode.is_other_rank, episode.is_of_input = targets.is_other_rank, targets.is_of_input
    if episode.is_of_mean:
        episode.n_classes, episode.guess = 0, variance
    elif episode.is_of_zero or episode.is_of_size:
        guess, left = (square, variance) if episode.is_of_zero else (size, max(square - size**2, 0.0))
        episode.n_classes, episode.guess, episode.variance = 0, guess, left
    elif episode.is_from_start and n_samples > 1 and not _is_like(n_samples, n_classes):
        episode.n_classes, episode.guess = n_samples, math.log(n_samples)


def _is_like(n_samples: int, n_classes: int) -> bool:
    """Whether guessing among the one is as good as guessing among the other: a level does not tell which it is."""
    guess = math.log(n_samples)
    return n_classes > 0 and abs(guess - math.log(n_classes)) <= 2 * LEVEL_TOLERANCE * guess
