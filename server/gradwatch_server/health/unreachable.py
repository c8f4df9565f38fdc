"""The rule for targets that the last layer cannot give: a sigmoid for a score of 300, a relu for negative numbers.

In a game of two the generator's targets are the data: what the discriminator is shown beside what the generator gives.
Where each is trained by its own optimizer, the data enter the one's stream, and what is generated leaves the other's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Unreachable
from gradwatch_server.health.table import TensorTable

__all__ = ["Side", "UnreachableRule", "find_out_of_reach"]

CONFIRM_ROWS: Final = 20
"""Captured rows, nearly all of which hold targets out of reach: an outlier is no design."""
ROWS_SHARE: Final = 0.9
BEYOND: Final = 0.5
"""How far beyond, in widths of the range (of an open range: in standard deviations of the targets). Labels of -1 and 1
under a tanh are not beyond it."""

NEAR_END: Final = 0.05
"""Of the range: where the mean of data that go beyond it is no farther from an end, about half of them do."""
MEAN_BEYOND: Final = 0.1
"""Of the range, how far beyond it the mean of data is at the least that nothing in it can be like."""

_RANGES: Final = {
    "sigmoid": (0.0, 1.0),
    "hard_sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "hard_tanh": (-1.0, 1.0),
    "softsign": (-1.0, 1.0),
    "relu": (0.0, math.inf),
    "softplus": (0.0, math.inf),
}
"""What is given a softmax need not be what it is to give: advantages, returns of assets, a teacher's scores."""


class UnreachableRule:
    """Watches a target and the output of one stream that is to meet it, where they have the same number of elements.

    Or, where there is no such output, an input and what a generator gives, if layers behind it are called twice, for
    the one and for the other.

    Args:
        stream: the stream's number.
        table: its tensor table.
        head: the columns of the target and of the output, -1 for none.
        ends: the range of an output that another stream has, where the target is an input.
    """

    def __init__(
        self, stream: int, table: TensorTable, head: tuple[int, int], ends: tuple[float, float] | None = None
    ) -> None:
        self._stream, self._table = stream, table
        self._target, self._output = head
        self._is_one_of_several = len(table.entering("target")) > 1
        function = table.functions[self._output] if self._output >= 0 else None
        self._range = ends or _RANGES.get(function or "")
        self._is_of_data = ends is not None or self._range is None or self._target < 0
        if self._is_of_data and ends is None:
            self._target, self._output = _find_generated(table)
            self._range = _RANGES.get(table.functions[self._output] or "") if self._output >= 0 else None
        self._n_rows = self._n_beyond = 0
        self._first_step = -1
        self._ends = (math.inf, -math.inf)
        self._current: Unreachable | None = None
        self.episodes: list[Unreachable] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which target and output were not both looked at say nothing."""
        if self._range is None or self._target < 0:
            return
        low, high = self._range
        names = [COLUMN[name] for name in ("min", "max", "std", "n_elements", "mean")]
        found = block.statistics[:, self._target, names].astype(np.float64)
        n_given = block.statistics[:, self._output, COLUMN["n_elements"]] if self._output >= 0 else found[:, 3]
        for row in np.flatnonzero(np.isfinite(found).all(axis=1) & (found[:, 3] == n_given)).tolist():
            smallest, largest, spread, _, mean = found[row].tolist()
            slack = BEYOND * (spread if math.isinf(high) else high - low)
            is_beyond = smallest < low - slack or largest > high + slack
            if self._is_of_data:  # of data some are farther out than of targets, and need not be met
                off = MEAN_BEYOND * (high - low)
                near = NEAR_END * (high - low)
                is_half = math.isfinite(high) and not low + near <= mean <= high - near
                is_beyond &= spread > high - low or not low - off <= mean <= high + off or is_half
            elif self._is_one_of_several:  # the loss does not tell whether this one is met
                is_beyond &= spread > BEYOND * (high - low) or math.isinf(high)
            self._step(int(block.steps[row]), smallest, largest, is_beyond)

    def _step(self, step: int, smallest: float, largest: float, is_beyond: bool) -> None:
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        self._n_beyond += is_beyond
        self._ends = min(self._ends[0], smallest), max(self._ends[1], largest)
        is_sure = self._n_rows >= CONFIRM_ROWS and self._n_beyond >= ROWS_SHARE * self._n_rows
        if self._current is not None:
            self._current.last_step = step
            self._current.n_rows += 1
            if not is_sure:
                self._current.closed_step = step
                self._current = None
        elif is_sure and not self.episodes and self._range is not None:
            self._current = Unreachable(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                column=_ending(self._table, self._output),
                low=self._range[0],
                high=self._range[1],
                smallest=self._ends[0],
                largest=self._ends[1],
                is_of_data=self._is_of_data,
                is_one_of_several=self._is_one_of_several,
            )
            self.episodes.append(self._current)


def _ending(table: TensorTable, output: int) -> int:
    """The column of the layer that ends in an output's function: the last within it, where it is a model's."""
    place = int(np.flatnonzero(table.activation == output)[0]) if output >= 0 else 0
    before = int(table.activation[place - 1]) if place > 0 else -1
    is_within = before >= 0 and table.layer_of(before).startswith(f"{table.layer_of(output)}/")
    return before if is_within and table.functions[before] == table.functions[output] else output


class Side(NamedTuple):
    """One of the two that share a discriminator, as far as it concerns what the other is to reach.

    Attributes:
        stream: the stream's number.
        table: its tensor table.
        layer: the discriminator's last; empty for a stream that has none.
        rules: of the discriminator's own stream, for each input of it and each range: whether that reaches the input.
    """

    stream: int
    table: TensorTable
    layer: str
    rules: dict[tuple[int, tuple[float, float]], UnreachableRule]

    @classmethod
    def of(cls, stream: int, table: TensorTable, layer: str, *, is_judge: bool) -> Side:
        """The side of a stream."""
        ends = {one for one in _RANGES.values() if math.isfinite(one[1])} if is_judge else set()
        inputs = [column for column in table.entering("input") if len(table.shapes[column]) > 1]
        rules = {(column, one): UnreachableRule(stream, table, (column, -1), one) for column in inputs for one in ends}
        return cls(stream, table, layer, rules)

    def feed(self, block: Block) -> None:
        """Takes rows."""
        for rule in self.rules.values():
            rule.feed(block)


def find_out_of_reach(sides: Iterable[Side]) -> Iterator[Unreachable]:
    """What a generator cannot give, of what its discriminator is shown."""
    known = [one for one in sides if one.layer]
    for judge in known:
        for player in known:
            if judge.rules and player is not judge and not player.rules and player.layer == judge.layer:
                for output, ends in _find_bounded(player.table, but=player.layer):
                    shape = player.table.shapes[output][1:]
                    for (column, of_rule), rule in judge.rules.items():
                        if of_rule == ends and judge.table.shapes[column][1:] == shape:
                            for episode in rule.episodes:
                                episode.stream, episode.table, episode.column = player.stream, player.table, output
                                yield episode


def _find_bounded(table: TensorTable, but: str = "") -> Iterator[tuple[int, tuple[float, float]]]:
    """The outputs that end in a range, with it, of layers that are called once; but for one layer."""
    names = {table.names[column] for column in table.activation}
    for output in table.activation.tolist():
        ends = _RANGES.get(table.functions[output] or "", (0.0, math.inf))
        is_called_once = f"{table.names[output]} (2)" not in names and not table.names[output].endswith(")")
        if math.isfinite(ends[1]) and is_called_once and table.layers[output] != but:
            yield output, ends


def _find_generated(table: TensorTable) -> tuple[int, int]:
    """The columns of an input and of an output of the same shape, which end in a range; -1 where there are none.

    Layers behind the output are called a second time, as a discriminator is; the layer that gives it is called once.
    """
    again = [column for column in table.activation if table.names[column].endswith(" (2)")]
    for output, _ in _find_bounded(table):
        if not any(column > output for column in again):
            continue
        for column in table.entering("input"):
            if table.shapes[column][1:] == table.shapes[output][1:]:
                return column, output
    return -1, -1
