"""The rule for a last layer that does not fit its loss: a softmax twice, none, of one unit, of many labels or of none.

That a softmax goes into a loss that takes one is written in the graph. A sigmoid that does is known by its gradient:
(sigmoid(p) - y) / n of a p between 0 and 1 lies in two narrow ranges, and a loss that takes p for what it is never
stays in them. Scores that are taken for probabilities are lifted to a bound before their logarithm, in every batch, as
far as they lie below it. A softmax over one unit is 1, whatever comes in, and one over the batch adds up to 1 over the
samples. A sample with several labels, each of which the loss takes by itself (it has a log(1 - p)), asks for numbers
that add up to more than 1. A cross-entropy that takes the softmax itself has the gradient p - y, which is right where
the labels y of a sample add up to 1: of several, and of none, it pushes all scores one way for ever. And labels of two
values, of which one is 0 and the other far below 1, were scaled as if they were pixels. Targets that were scaled to a
mean of 0 and a deviation of 1, and of which many are exactly 0, were filled where they are missing, and all count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Mismatch, MismatchKind, Phase
from gradwatch_server.health.operation_table import ENTROPIES, OPERATION_COLUMN, Operation
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import TWO_VALUES, are_labels

__all__ = ["MismatchRule"]

SIGMOID_RANGES: Final = ((0.5, 1 / (1 + math.exp(-1))), (-0.5, -1 / (1 + math.e)))
"""sigmoid(p) - y for p in [0, 1]: with y = 0, and with y = 1."""
TOLERANCE: Final = 1e-3
ROUNDING: Final = 1e-6
"""A softmax over one unit gives 0.9999999 on some processors."""
BOUND_LIMIT: Final = 1e-3
"""A bound below a logarithm that keeps probabilities from 0 is no larger."""
LABELS_MIN: Final = 1.25
"""Labels of a sample, on the average, from which on it has several: smoothing adds none."""
LABELS_MAX: Final = 0.95
"""And up to which many samples have none."""
LEFT_OUT_SHARE: Final = 0.9
"""Of them, those whose scores have no gradient at all where a loss leaves them out."""
SMALL_LABEL: Final = 0.1
"""The larger of two labels, at the most, where it stands for a yes: 1 / 255, of a mask that was divided once more."""
FILLED_SHARES: Final = (0.15, 0.75)
"""Of several targets of a sample, those that are exactly 0 where they may have been filled. Of a sparse code nearly all
are."""
SCALED_MEAN: Final = 0.35
SCALED_SPREADS: Final = (0.7, 1.4)
"""Of the others, which were scaled to 0 and 1: in a batch."""
PEAK_MIN: Final = 1.8
"""Of their deviation, the largest: of -1, 0 and 1 it is no more than the deviation."""
HEARD_MAX: Final = 0.1
"""Of the gradient with respect to what is compared with them, what is exactly 0 at the most: a mask makes it so."""
REACH_LIMIT: Final = 12.0
"""From the least score to the largest: a softmax or sigmoid of such scores comes down to no bound (e^-12 is 6e-6)."""

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


_POSITIVE: Final = frozenset({"Exp", "Softmax"})
"""What makes weights or probabilities of numbers of any size."""


class MismatchRule:
    """Watches the last layer of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
        operations: its operations.
    """

    def __init__(self, stream: int, table: TensorTable, operations: Sequence[Operation]) -> None:
        self._stream, self._table = stream, table
        self._output = int(table.activation[-1]) if len(table.activation) else -1
        shape = table.shapes[self._output] if self._output >= 0 else ()
        self._n_units = shape[1] if len(shape) == 2 else 0
        self._n_classes = shape[-1] if shape else 0
        self._function = table.functions[self._output] if self._output >= 0 else None
        self._signal = table.find_backprop(self._output)
        own = [one for one in operations if not one.is_gradient]
        self._twice = next((one for one in own if one.is_entropy and one.input_type == "Softmax"), None)
        outside = [one for one in own if not one.layer and one.type == "Log" and one.place >= 0]
        bounded = [one for one in outside if one.is_held and 0 < (one.floor or 0) <= BOUND_LIMIT]
        is_score = self._output >= 0 and self._function in (None, "linear")
        # What is made of the output before, such as weights of an attention, may be as small as it likes.
        is_made_of = bool(bounded) and any(
            one.type in _POSITIVE and not one.layer and one.place < bounded[0].place for one in own
        )
        self._logarithm = bounded[0] if bounded and is_score and not is_made_of else None
        # log(1 - p), or the log(1 + exp(-|score|)) of a loss that looks behind the function.
        self._is_by_element = any(
            one.is_of_rest or (one.type, one.input_type) == ("Log1p", "Exp") for one in own if not one.layer
        )
        self._targets = table.entering("target")
        self._label = math.nan
        is_of_one = self._function == "sigmoid" or (self._is_by_element and self._function in (None, "linear"))
        self._is_yes_or_no = is_of_one and len(self._targets) == 1
        is_linear = table.linear_output[1] >= 0 and len(self._targets) == 1
        self._is_of_several = is_linear and self._n_units > 1 and table.shapes[self._targets[0]][1:] == shape[1:]
        self._zero_share = math.nan
        self._is_weighed = bool(table.entering("sample_weight"))
        # Where the loss looks behind a sigmoid, as Keras' own does, the sigmoid is none of it.
        is_behind = self._signal >= 0 and self._function == table.functions[self._signal] == "sigmoid"
        is_open = is_behind or self._function in (None, "linear", "softmax")
        self._is_of_softmax = is_open and any(one.type == ENTROPIES[0] for one in own)
        self._is_of_each = self._function == "softmax" and self._is_by_element and not self._is_of_softmax
        # A loss of one's own that multiplies labels with logarithms leaves out who has none.
        self._is_by_hand = (
            self._function in (None, "linear", "softmax")
            and not self._is_of_softmax
            and not self._is_by_element
            and any(one.type in ("LogSoftmax", "Softmax") for one in own)
        )
        self._streaks: dict[MismatchKind, Streaks[Mismatch]] = {kind: Streaks(1) for kind in MismatchKind}

    @property
    def episodes(self) -> list[Mismatch]:
        """All, of each kind."""
        return [episode for streaks in self._streaks.values() for episode in streaks.episodes]

    def feed(self, block: Block) -> None:
        """Takes rows; one in which the last layer was not looked at changes nothing."""
        if self._is_yes_or_no:
            self._look_for_small(block)
        if self._is_of_several:
            self._look_for_filled(block)
        if self._twice is not None:
            is_seen = np.asarray(block.is_captured.any(axis=1))
            self._step(block, MismatchKind.SOFTMAX_TWICE, is_seen, is_seen, self._twice)
        elif self._output < 0:
            return
        elif self._function == "softmax" and self._table.shapes[self._output][-1:] == (1,):
            low, high = self._read(block, self._output, "min", "max")
            is_one = np.asarray((np.abs(low - 1) <= ROUNDING) & (np.abs(high - 1) <= ROUNDING))
            self._step(block, MismatchKind.SOFTMAX_OF_ONE, np.isfinite(low), is_one)
        elif self._function == "sigmoid" and self._signal >= 0 and self._table.functions[self._signal] is None:
            low, high, size = self._read(block, self._signal, "min", "max", "n_elements")
            is_in = _is_of_sigmoid(low * size) & _is_of_sigmoid(high * size)
            self._step(block, MismatchKind.SIGMOID_TWICE, np.isfinite(low), is_in)
        elif self._is_of_each and len(self._targets) == 1:
            self._look_at_labels(block)
        else:
            if self._logarithm is not None and self._has_labels(block):
                self._look_at_scores(block, self._logarithm)
            if self._is_of_softmax and len(self._targets) == 1:
                self._look_at_labels(block)
            elif self._is_by_hand and len(self._targets) == 1 and not self._is_weighed:
                is_seen, n_labels = self._count_labels(block)
                self._step(block, MismatchKind.FROM_ONE, is_seen, n_labels <= LABELS_MAX)
            if self._n_units > 1 and self._function in (None, "linear", "softmax"):
                self._look_at_sums(block)

    def _look_at_labels(self, block: Block) -> None:
        """Whether the targets are labels, several of a sample or none, where all that is given for it adds up to 1."""
        is_seen, n_labels = self._count_labels(block)
        are_many, are_few = n_labels >= LABELS_MIN, n_labels <= LABELS_MAX
        many, few = (
            (MismatchKind.MANY_LABELS, MismatchKind.NO_LABEL)
            if self._is_of_softmax
            else (MismatchKind.SOFTMAX_OF_MANY, MismatchKind.SOFTMAX_OF_FEW)
        )
        self._step(block, many, is_seen, are_many)
        if not self._is_weighed and self._n_classes > 1:  # a sample that counts for nothing needs no label
            self._step(block, few, is_seen, are_few & ~self._are_left_out(block, 1 - n_labels))

    def _count_labels(self, block: Block) -> tuple[Bool, Float]:
        """Whether targets were looked at, and how many labels a sample has on the average; NaN for other targets."""
        low, high, mean, std, size = self._read(block, self._targets[0], "min", "max", "mean", "std", "n_elements")
        (given,) = self._read(block, self._output, "n_elements")
        is_seen = np.isfinite(mean) & np.isfinite(given)
        return is_seen, np.where(are_labels(low, high, mean, std) & (size == given), mean * self._n_classes, np.nan)

    def _are_left_out(self, block: Block, unlabelled: Float) -> Bool:
        """``[n]`` whether so large a share of the scores has no gradient: the loss leaves out who has no label."""
        if self._signal < 0:
            return np.zeros(len(unlabelled), bool)
        n_zero, size = self._read(block, self._signal, "n_zero", "n_elements")
        with np.errstate(invalid="ignore"):
            return np.asarray(n_zero >= LEFT_OUT_SHARE * unlabelled * size)

    def _look_for_small(self, block: Block) -> None:
        """Whether the targets are 0 and one small number; batches of zeros alone say nothing."""
        low, high, mean, std = self._read(block, self._targets[0], "min", "max", "mean", "std")
        is_seen = np.isfinite(mean) & (high > 0)
        if math.isnan(self._label) and is_seen.any():
            self._label = float(high[is_seen][0])
        are_two = np.abs(np.square(std) - mean * (high - mean)) <= TWO_VALUES * np.square(high)
        is_in = (low == 0) & (high == self._label) & (high <= SMALL_LABEL) & are_two
        self._step(block, MismatchKind.SMALL_LABELS, is_seen, np.asarray(is_in))

    def _look_for_filled(self, block: Block) -> None:
        """Whether many targets are exactly 0 in the midst of others, and the loss hears of them all."""
        names = ("min", "max", "mean", "std", "n_zero", "n_elements")
        low, high, mean, std, n_zero, size = self._read(block, self._targets[0], *names)
        n_unheard, n_heard = self._read(block, self._signal, "n_zero", "n_elements")
        with np.errstate(invalid="ignore", divide="ignore"):
            zeros, unheard = n_zero / size, n_unheard / n_heard
            others = mean / (1 - zeros)
            spread = np.sqrt((np.square(std) + np.square(mean)) / (1 - zeros) - np.square(others))
            is_in = (zeros >= FILLED_SHARES[0]) & (zeros <= FILLED_SHARES[1]) & (low < 0) & (unheard <= HEARD_MAX)
            is_in &= (np.abs(others) <= SCALED_MEAN) & (high >= PEAK_MIN * spread)
            is_in &= (spread >= SCALED_SPREADS[0]) & (spread <= SCALED_SPREADS[1])
        is_seen = np.isfinite(mean) & np.isfinite(unheard)
        if is_seen.any():
            self._zero_share = float(np.median(zeros[is_seen]))
        self._step(block, MismatchKind.FILLED, is_seen, np.asarray(is_in))

    def _look_at_sums(self, block: Block) -> None:
        """Whether what is given adds up to 1 over the samples of a batch, and not over the units."""
        low, high, mean, size = self._read(block, self._output, "min", "max", "mean", "n_elements")
        n_samples = size / self._n_units
        is_in = (low >= 0) & (high <= 1) & (np.abs(mean * n_samples - 1) <= TOLERANCE)
        # Of as many samples as units both add up to 1.
        is_seen = np.isfinite(mean) & (n_samples > 1) & (n_samples != self._n_units)
        self._step(block, MismatchKind.SOFTMAX_OVER_BATCH, is_seen, np.asarray(is_in))

    def _look_at_scores(self, block: Block, logarithm: Operation) -> None:
        low, high = self._read(block, self._output, "min", "max")
        margin = block.operations[:, logarithm.place, OPERATION_COLUMN["margin"]].astype(np.float64)
        is_at_bound = np.abs(margin - (logarithm.floor or 0.0)) <= TOLERANCE * margin
        is_in = (low < 0) & (high - low < REACH_LIMIT) & is_at_bound
        # Where all scores happen to be above the bound, or far apart, nothing is known; what is never below it is none.
        is_seen = np.isfinite(low) & np.isfinite(margin) & (is_in | (low >= 0))
        self._step(block, MismatchKind.SCORES, is_seen, is_in, logarithm)

    def _has_labels(self, block: Block) -> bool:
        """Whether the targets are classes, or lie between 0 and 1 as labels do, in all rows of a block."""
        if not self._targets:
            return False
        ends = block.statistics[:, self._targets][:, :, [COLUMN["min"], COLUMN["max"]]]
        is_whole = np.array(["int" in self._table.dtypes[column] for column in self._targets])
        return bool((is_whole | ((np.nan_to_num(ends) >= 0) & (np.nan_to_num(ends) <= 1)).all(axis=(0, 2))).all())

    @staticmethod
    def _read(block: Block, column: int, *names: str) -> list[Float]:
        found = block.statistics[:, column, [COLUMN[name] for name in names]].astype(np.float64)
        return list(found.T)

    def _step(
        self, block: Block, kind: MismatchKind, is_seen: Bool, is_in: Bool, operation: Operation | None = None
    ) -> None:
        streaks = self._streaks[kind]
        for row in np.flatnonzero(is_seen).tolist():
            step, one = int(block.steps[row]), is_in[row : row + 1]
            is_sure = streaks.add(step, is_in=one, is_out=~one)
            if not streaks.follow(step) and is_sure[0]:
                streaks.open(
                    Mismatch(
                        stream=self._stream,
                        phase=Phase.LOSS,
                        first_step=int(streaks.first_step[0]),
                        last_step=step,
                        n_rows=int(streaks.n_rows[0]),
                        known_step=step,
                        table=self._table,
                        kind=kind,
                        column=self._output,
                        operation=operation,
                        low=float(block.statistics[row, self._output, COLUMN["min"]]) if self._output >= 0 else np.nan,
                        high=float(block.statistics[row, self._output, COLUMN["max"]]) if self._output >= 0 else np.nan,
                        label=self._label,
                        zero_share=self._zero_share if kind is MismatchKind.FILLED else math.nan,
                        target=self._table.names[self._targets[0]] if kind is MismatchKind.FROM_ONE else "",
                    )
                )


def _is_of_sigmoid(value: Float) -> Bool:
    """Whether a gradient, times the number of elements, is one of a sigmoid that is taken of a probability."""
    inside = [(value >= low - TOLERANCE) & (value <= high + TOLERANCE) for low, high in SIGMOID_RANGES]
    return np.asarray(inside[0] | inside[1])
