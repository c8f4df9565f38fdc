"""What rules report: episodes, from a first step to a last one. Owns no rule and no wording."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.baseline import Baseline
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.table import TensorTable

__all__ = [
    "EPISODES_LIMIT",
    "RECOVERY_ROWS",
    "SMALL_WEIGHTS",
    "WITNESSES",
    "Alike",
    "Allied",
    "Behind",
    "ByHeart",
    "Collapsed",
    "Contrary",
    "Cut",
    "Decayed",
    "Dropped",
    "Emptied",
    "Episode",
    "Fade",
    "Faint",
    "Flat",
    "Forgetting",
    "Growth",
    "Lagging",
    "Leaked",
    "Mismatch",
    "MismatchKind",
    "Misset",
    "Misshaped",
    "Missing",
    "NonFinite",
    "Ordered",
    "Outdated",
    "Overclipped",
    "Padded",
    "Phase",
    "Plateau",
    "Posterior",
    "Rate",
    "Relapse",
    "Remade",
    "Runaway",
    "SharedTarget",
    "Shrunk",
    "Smoothed",
    "Squashed",
    "Standing",
    "Starved",
    "Steep",
    "Still",
    "Stuck",
    "Summed",
    "Trend",
    "Twins",
    "Undone",
    "Unheard",
    "Unreachable",
    "Unrelated",
    "Untaught",
    "Vanishing",
    "Zero",
]

SMALL_WEIGHTS: Final = 0.1
"""A norm of weights below this part of its start."""
WHOLE_SHARE: Final = 0.995
"""From this share of a layer's units on all are said to be meant."""
RECOVERY_ROWS: Final = 20
"""Healthy rows after which an incident is over and a later one is new. Several times the few steps by which a cause
and its consequence are apart, and few enough that a long run's separate accidents stay separate."""

EPISODES_LIMIT: Final = 64
"""Episodes of a kind that a rule keeps for a stream; after that the last one goes on. Bounds memory in a run that
breaks and recovers for ever."""

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


class Phase(IntEnum):
    """The order in which things happen within one step."""

    INPUT = 0
    ACTIVATION = 1
    LOSS = 2
    BACKPROP = 3
    GRADIENT = 4
    UPDATE = 5
    WEIGHT = 6


WITNESSES: Final = frozenset({Phase.INPUT, Phase.ACTIVATION, Phase.BACKPROP})
"""Phases in which a NaN or Inf may be by design (a mask): it counts only where a loss or a gradient broke with it."""


@dataclass(eq=False)
class Episode:
    """One stretch of one trouble in one stream.

    Attributes:
        stream: the optimizer's stream, -1 for scalars that belong to none.
        phase: where in the step it shows.
        first_step: the first step of the trouble.
        last_step: the last step so far at which it was seen.
        n_rows: the number of rows in which it was seen.
        known_step: the step at which the rule was sure.
        closed_step: the step at which it was over, or None.
        table: the stream's tensor table, None for a scalar.
    """

    stream: int
    phase: Phase
    first_step: int
    last_step: int
    n_rows: int = 1
    known_step: int = -1
    closed_step: int | None = None
    table: TensorTable | None = None

    @property
    def is_open(self) -> bool:
        """Whether the trouble is still there."""
        return self.closed_step is None

    @property
    def began_step(self) -> int:
        """From which step on it may be told before others: the first one of the trouble, or of what led there."""
        return self.first_step


@dataclass(eq=False)
class NonFinite(Episode):
    """NaN or Inf in inputs, activations, gradients, updates, weights or a scalar.

    Attributes:
        name: the scalar's name; empty for tensors.
        is_first_row: whether nothing finite of this phase was seen before.
        finite_step: the last step at which all was looked at and finite, or -1. Weights are not read at every step.
        counts: ``[n, 3]`` NaN, +Inf, -Inf at the first step, for the tensors of this phase in the table's order.
        looked_at: ``[n]`` whether each was captured at the first step.
        first_steps: ``[n]`` the step at which each was first non-finite in this episode, -1 where it was not.
        sizes: ``[n]`` elements of each at the first step, of inputs, activations and backprop.
        value: a scalar's first non-finite value.
        is_usual: an input that held as much before without harm: only its single columns can tell that it is new.
        is_contained: inputs that no layer's output showed anything of at the first step: the model masks them.
        is_normal: an overflow that dynamic loss scaling provokes and repairs by design.
        is_scaled: whether the run scales its loss.
        is_forward: under a loss scale, whether it began in the forward pass: no scale mends that.
        n_skipped: rows in which a gradient overflowed under loss scaling.
        scale_before: the highest loss scale so far.
        scale: the lowest one since the first step.
        is_late: in its first step it was formed after something else had broken: another optimizer's gradient, or an
            operation that computes an input.
    """

    name: str = ""
    is_first_row: bool = False
    finite_step: int = -1
    counts: Float64 = field(default_factory=lambda: np.zeros((0, 3)))
    looked_at: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    first_steps: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    sizes: Float64 = field(default_factory=lambda: np.zeros(0))
    value: float = float("nan")
    is_usual: bool = False
    is_contained: bool = False
    is_normal: bool = False
    is_scaled: bool = False
    is_forward: bool = False
    n_skipped: int = 0
    scale_before: float = float("nan")
    scale: float = float("nan")
    is_late: bool = False

    @property
    def is_witness(self) -> bool:
        """Whether it counts only together with a broken loss or gradient."""
        return self.phase in WITNESSES

    @property
    def is_negative_only(self) -> bool:
        """Whether all it held was -Inf, as a mask before a softmax is."""
        return self.phase is not Phase.LOSS and not self.counts[:, :2].any()


@dataclass(eq=False)
class Growth(Episode):
    """Gradient norm far above its own past.

    Attributes:
        position: the gradient that grew most, as a gradient position, or -1 when none stands out.
        n_tensors: gradients whose norm is at least ten times their usual one at `known_step`.
        usual: the usual global norm before (the rolling median).
        first: the global norm at `first_step`.
        largest: the largest global norm so far.
        largest_step: and its step.
        ended_nonfinite: whether the growth ran into a non-finite gradient.
        weight_factor: the norm of the kernels since then over that before, the largest; NaN where not read.
    """

    position: int = -1
    n_tensors: int = 0
    usual: float = float("nan")
    first: float = float("nan")
    largest: float = float("nan")
    largest_step: int = -1
    ended_nonfinite: bool = False
    weight_factor: float = float("nan")


@dataclass(eq=False)
class Vanishing(Episode):
    """Gradients that fade from output to input; ``first`` and ``last`` are the median norms at the two ends.

    Attributes:
        is_mild: whether they fade by less than what is a trouble by itself.
    """

    position: int = -1
    last_position: int = -1
    first: float = float("nan")
    last: float = float("nan")
    is_mild: bool = False


@dataclass(eq=False)
class Fade(Episode):
    """The whole gradient fell to next to nothing of its start.

    Attributes:
        start: the usual global norm of the first rows.
        norm: that of the rows until it was known.
        is_game: whether several optimizers minimise losses of their own.
    """

    start: float = float("nan")
    norm: float = float("nan")
    is_game: bool = False


@dataclass(eq=False)
class Faint(Episode):
    """Layers whose output shrank to next to nothing of what it was.

    Attributes:
        columns: column of the layer's output -> the step since when.
        column: the first of them.
        before: the largest standard deviation of its first rows.
        after: that at `known_step`.
        weight_factor: the norm of its kernels now over that in the first row, NaN where not read.
        is_of_weights: whether it is the kernels that shrank; the output may hold a bias still.
        multiple: of the largest kernel, what its gradient is; NaN where it is none, or is not known.
        guess: the loss of guessing among the model's classes, NaN where it has none.
    """

    columns: dict[int, int] = field(default_factory=dict)
    column: int = -1
    before: float = float("nan")
    after: float = float("nan")
    weight_factor: float = float("nan")
    is_of_weights: bool = False
    multiple: float = float("nan")
    guess: float = float("nan")

    @property
    def is_made_small(self) -> bool:
        """Whether the weights were made small, and with them the output."""
        return self.is_of_weights or self.weight_factor < SMALL_WEIGHTS


@dataclass(eq=False)
class Emptied(Episode):
    """Divisors in a model that are mostly 0, of which a division makes 0.

    Attributes:
        operation: that division.
        share: of the divisors, what was exactly 0 when it was known.
    """

    operation: Operation | None = None
    share: float = float("nan")


@dataclass(eq=False)
class Padded(Episode):
    """Sequences that end in padding, before a layer that reads it: one that hands on its state after the last step.

    Attributes:
        layer: that layer's path.
        lost: the slip that tells where a mask of the padding was lost on the way to it; None where none was made.
        start: the loss at the start, the median of some.
        loss: and when it was known, the mean of some.
    """

    layer: str = ""
    lost: Mapping[str, Any] | None = None
    start: float = float("nan")
    loss: float = float("nan")


@dataclass(eq=False)
class Posterior(Episode):
    """A latent code whose mean and log-variance are 0 for every sample.

    Attributes:
        column: of the output that gives the mean, or both.
        size: the root mean square of the larger one when it was known.
    """

    column: int = -1
    size: float = float("nan")


@dataclass(eq=False)
class Squashed(Episode):
    """Hidden layers, or functions in them, that gave hardly anything but their two ends from the first rows on.

    Attributes:
        columns: column of the output -> the step since when.
        column: the one nearest to the input.
        square: how near it comes to giving nothing else, at `known_step`: 1 for that, of a tanh its mean square.
        gain: the root of its inputs' number times the standard deviation of its kernel, NaN for functions in layers.
    """

    columns: dict[int, int] = field(default_factory=dict)
    column: int = -1
    square: float = float("nan")
    gain: float = float("nan")


@dataclass(eq=False)
class Stuck(Episode):
    """Recurrent cells of which most gates have no slope left.

    Attributes:
        positions: gradient positions of their biases.
        share: of the first one's biases, those with a gradient of exactly 0, at `known_step`.
    """

    positions: tuple[int, ...] = ()
    share: float = float("nan")


@dataclass(eq=False)
class Collapsed(Episode):
    """Layers that came to give (nearly) the same for every sample, up to its length.

    Attributes:
        columns: column of the layer's output -> the step since when.
        column: the one nearest to the input.
        before: the largest mean cosine distance between samples of its first rows.
        after: that at `known_step`.
        is_at_ends: whether nearly all that this one gives is then one number, or the negative of it.
        has_healed: whether it was over soon, and something is learned.
    """

    columns: dict[int, int] = field(default_factory=dict)
    column: int = -1
    before: float = float("nan")
    after: float = float("nan")
    is_at_ends: bool = False
    has_healed: bool = False


@dataclass(eq=False)
class Unreachable(Episode):
    """Targets that the last layer's function cannot give.

    Attributes:
        column: the last layer's output.
        low: the least that it can give.
        high: the most.
        smallest: the least target so far.
        largest: the largest.
        is_of_data: whether it is what a generator gives, and the targets are the data that it is to be like.
        is_one_of_several: whether other outputs have targets of their own, so that the loss does not tell of this one.
    """

    column: int = -1
    low: float = float("nan")
    high: float = float("nan")
    smallest: float = float("nan")
    largest: float = float("nan")
    is_of_data: bool = False
    is_one_of_several: bool = False


@dataclass(eq=False)
class Overclipped(Episode):
    """Clipping that leaves next to nothing of the gradient.

    Attributes:
        left: the usual share of the norm that is left, until it was known.
        norm: the usual norm before clipping, until then.
    """

    left: float = float("nan")
    norm: float = float("nan")


@dataclass(eq=False)
class Summed(Episode):
    """Gradients that are sums of all gradients so far.

    Attributes:
        grown: the usual global norm over that of the first rows, when it was known.
        ratio: von Neumann's ratio of the gradients' means, the median over tensors: near 0 of a walk. None where it was
            seen that nothing was written into the variables that gradients are read from, or seldom.
        uses: how many updates there are for each time that these are set back to zero; infinite if they never are.
    """

    grown: float = float("nan")
    ratio: float | None = None
    uses: float = float("inf")


@dataclass(eq=False)
class Relapse(Episode):
    """A loss that is back where it began.

    Attributes:
        name: the loss.
        start: the median of its first values.
        best: the lowest median since.
        best_step: and the step up to which that was.
        level: the newest median.
        is_judged: whether it is the loss that is trained on, and what it is asked for has one scale throughout.
    """

    name: str = ""
    start: float = float("nan")
    best: float = float("nan")
    best_step: int = -1
    level: float = float("nan")
    is_judged: bool = False


@dataclass(eq=False)
class Forgetting(Episode):
    """A loss that leaps above guessing whenever a class that was learned before comes again.

    Attributes:
        leap: the usual loss with which a class begins, until it was known.
        learned: and with which it ends.
        n_leaps: how many of the last changes of class were such, when it was known.
        n_classes: the classes seen by then.
        n_samples: in a batch.
        stay: the batches of one class on end, the median.
    """

    leap: float = float("nan")
    learned: float = float("nan")
    n_leaps: int = 0
    n_classes: int = 0
    n_samples: int = 0
    stay: float = float("nan")


@dataclass(eq=False)
class Behind(Episode):
    """A loss that stays where it began, though it had come down in the last healthy run of the same script.

    Attributes:
        name: the loss.
        start: the median of its first values.
        level: the newest median.
        baseline: the healthy run.
        there_start: the loss' start there.
        there_level: the lowest median there up to ``there_step``.
        there_step: a half of the steps that this run had taken when it was known.
        is_judged: whether it is the loss that is trained on.
    """

    name: str = ""
    start: float = float("nan")
    level: float = float("nan")
    baseline: Baseline | None = None
    there_start: float = float("nan")
    there_level: float = float("nan")
    there_step: int = -1
    is_judged: bool = False


@dataclass(eq=False)
class Runaway(Episode):
    """A loss far beyond its start that does not come back.

    Attributes:
        name: the loss.
        start: the least of its first values.
        times: that it has been at least, since its first step.
        level: the farthest median since.
        gradient_factor: the global gradient norm when it was known over that at the start, the largest of the streams.
        weight_factor: the norm of all kernels then over that at the start.
        is_far: whether it went so far that nothing else need be asked.
        is_alone: whether one optimizer trains the model on targets: it is no player's.
    """

    name: str = ""
    start: float = float("nan")
    times: float = float("nan")
    level: float = float("nan")
    gradient_factor: float = float("nan")
    weight_factor: float = float("nan")
    is_far: bool = False
    is_alone: bool = False


@dataclass(eq=False)
class Missing(Episode):
    """Gradients that were None since the first row, by gradient position.

    Attributes:
        positions: those that no other stream has reached either.
        is_left_out: whether the training does not give them to the optimizer, since they are None.
    """

    positions: tuple[int, ...] = ()
    is_left_out: bool = False


@dataclass(eq=False)
class Zero(Episode):
    """Gradients of kernels that stay exactly zero, or next to it.

    Attributes:
        positions: gradient position -> the step since when it is zero; none that a later optimizer has trained.
        is_first_row: whether it began with the run's first row.
        fed_zeros: a kernel among them whose bias does have a gradient: its layer's input is zero. -1 if there is none.
        share: the share of rows since its first step in which they were zero, when it was known.
        unread: those among them whose layer gave something, of which the loss took nothing.
        live_size: the root mean square of the other kernels' gradients when it was known, the largest; NaN for none.
        rounding: the largest of their norms over that of the whole gradient: rounding where it is not 0.
        is_outweighed: whether it is no rounding, as one of several outputs has a gradient of some size behind them.
        output: the smallest and the largest number that the last layer gave, where the loss does not depend on it: then
            it is the loss that is flat. None where it does, or where that is not known.
        zero_weights: gradient positions of variables, no biases, that hold nothing but zeros and get no gradient.
        is_unscaled: whether layers compute in float16 and the loss has no scale, while other kernels have a gradient.
        blank: a layer without a function that kills units, and whose whole output was 0 when it was known; or empty.
        closed: the last layer, where its relu gave nothing but 0 when it was known, and no other layer did; or empty.
        is_of_single: whether there is a softmax over an axis of one in the step: what stands before it learns nothing.
    """

    positions: dict[int, int] = field(default_factory=dict)
    is_first_row: bool = False
    fed_zeros: int = -1
    share: float = 1.0
    unread: tuple[int, ...] = ()
    live_size: float = float("nan")
    rounding: float = 0.0
    is_outweighed: bool = False
    output: tuple[float, float] | None = None
    zero_weights: tuple[int, ...] = ()
    is_unscaled: bool = False
    blank: str = ""
    closed: str = ""
    is_of_single: bool = False


@dataclass(eq=False)
class Rate(Episode):
    """Updates large against the weights.

    Attributes:
        ratio: the median over kernels and rows at the moment it was known.
        n_first: where it was the run's first updates that were large: in how many steps. ``ratio`` is then the mean of
            those that were captured.
        guess: the cross-entropy of guessing among the classes; infinite where the loss is none, or not known to be one.
    """

    ratio: float = float("nan")
    n_first: int = 0
    guess: float = math.inf


@dataclass(eq=False)
class Steep(Episode):
    """An operation that came near its singular point.

    Attributes:
        operation: the operation.
        margin_before: its usual distance from the singular point in the run's first rows.
        amplification_before: and its usual slope.
        norm_before: and the usual global gradient norm.
        margin: the smallest distance so far.
        amplification: the largest slope so far.
        norm: the largest global gradient norm so far.
        is_felt: whether the gradient grew with it; else it is about to reach the singular point.
    """

    operation: Operation | None = None
    margin_before: float = float("nan")
    amplification_before: float = float("nan")
    norm_before: float = float("nan")
    margin: float = float("nan")
    amplification: float = float("nan")
    norm: float = float("nan")
    is_felt: bool = False


@dataclass(eq=False)
class Flat(Episode):
    """Units whose output stands still over whole batches: dead (0 for every input) or saturated.

    Attributes:
        is_dead: units of ReLU and its like that give 0; else sigmoid or tanh units at their ends.
        columns: column of the layer's output -> the step since when.
        column: the first of them, and among equals the one nearest to the input.
        share_before: the usual share of such units in its first rows.
        share: their share at `known_step`.
        is_first_row: whether it was so from the first rows on.
        largest_input: the largest |value| that entered the step at `known_step`, NaN if not captured.
        next_function: the activation function that takes its output as it is, "" if there is no next layer, None if not
            known or behind a kernel of the next layer's own.
        is_of_zeros: whether the layer's kernels hold nothing but zeros at `known_step`.
        bias: the largest number in the layer's bias at `known_step`, NaN if it has none or was not captured.
        correlation: of outputs and targets, of late, the least of several; NaN where it is not known.
        has_adversary: whether a part of the loss is to stay as it is, so that its level does not tell what is learned.
        next_column: the output of the next layer, where that has a kernel, no function, and is not the last; else -1.
        next_share: the root mean square of that at `known_step`, of what it was at first.
    """

    is_dead: bool = True
    columns: dict[int, int] = field(default_factory=dict)
    column: int = -1
    share_before: float = float("nan")
    share: float = float("nan")
    is_first_row: bool = False
    largest_input: float = float("nan")
    next_function: str | None = None
    is_of_zeros: bool = False
    bias: float = float("nan")
    correlation: float = float("nan")
    has_adversary: bool = False
    next_column: int = -1
    next_share: float = float("nan")

    @property
    def is_whole(self) -> bool:
        """Whether all units of the layer are meant."""
        return self.share >= WHOLE_SHARE


@dataclass(eq=False)
class Cut(Episode):
    """Elements whose gradient is exactly zero where a steep operation stands: a clip hides it.

    Attributes:
        operation: the steep operation.
        column: the tensor whose elements are zero.
        share: the share of its elements without a gradient that should have one, when it was known.
        zeros: the share of its elements that are exactly zero, at the same time.
        zeros_before: and usually in its first rows.
        margin: the least distance of the operation's input from its singular point so far.
        amplification: its largest slope so far.
        is_first_row: whether it was so from the first rows on.
        largest_input: the largest |value| that entered the model when it was known, NaN if not captured.
    """

    operation: Operation | None = None
    column: int = -1
    share: float = float("nan")
    zeros: float = float("nan")
    zeros_before: float = float("nan")
    margin: float = float("nan")
    amplification: float = float("nan")
    is_first_row: bool = False
    largest_input: float = float("nan")


@dataclass(eq=False)
class Plateau(Episode):
    """A loss that never left what guessing gives.

    Attributes:
        name: the loss.
        level: its median.
        spread: its robust standard deviation.
        guess: the loss of guessing, NaN while not known.
        n_classes: among so many classes; 0 while not known.
        is_early: whether it stood still before it is known what guessing gives: it may be the loss of something else.
        is_from_start: whether these are its very first values: then it may be guessing among a batch's samples.
        mean: its mean, to be laid beside a variance.
        is_of_mean: whether ``guess`` is the variance of the targets, the squared error of their mean.
        is_of_zero: whether ``guess`` is the mean square of the targets, the squared error of giving 0.
        is_of_size: whether it is the mean |value| of the targets, the absolute error of giving 0.
        variance: of the targets, where that is so.
        is_of_input: whether the targets are the input, which the model is to give back.
        is_other_rank: whether targets and outputs have another number of dimensions.
        is_final: whether these are the last values of a run that has ended.
        start: of such a run, the median of its first values.
        n_gates: of the model's first recurrent layer, 0 where it has none.
        n_inputs: how many inputs the step is given.
        has_labels: whether classes may be told apart: the targets are not one and the same number all along, and not
            known to be none.
        softmax: a softmax in the user's own lines, outside all layers, of which no logarithm is taken there.
        from_step: of such a run, the step of its very first value, where none was ever better than guessing; else -1.
    """

    name: str = ""
    level: float = float("nan")
    spread: float = float("nan")
    guess: float = float("nan")
    n_classes: int = 0
    is_early: bool = False
    is_from_start: bool = False
    mean: float = float("nan")
    is_of_mean: bool = False
    is_of_zero: bool = False
    is_of_size: bool = False
    variance: float = float("nan")
    is_of_input: bool = False
    is_other_rank: bool = False
    is_final: bool = False
    start: float = float("nan")
    n_gates: int = 0
    n_inputs: int = 0
    has_labels: bool = True
    softmax: Operation | None = None
    from_step: int = -1

    @property
    def began_step(self) -> int:
        """From the first step on, where nothing was ever learned."""
        return self.from_step if self.from_step >= 0 else self.first_step


@dataclass(eq=False)
class Still(Episode):
    """Weights that stand still, since the first step or after they had moved; or that hardly move at all.

    Attributes:
        ratio: the largest update norm / weight norm of a kernel until it was known.
        gradient_norm: the median of the global gradient norm until then, above 0.
        has_moved: whether they had moved before.
        is_slow: whether they move, so slowly that it takes them tens of thousands of steps to get anywhere.
    """

    ratio: float = float("nan")
    gradient_norm: float = float("nan")
    has_moved: bool = False
    is_slow: bool = False


@dataclass(eq=False)
class Standing(Episode):
    """Layers that keep running statistics, and whose scale and offset are trained, but that no batch has gone into.

    Attributes:
        layers: their paths.
    """

    layers: tuple[str, ...] = ()


@dataclass(eq=False)
class Smoothed(Episode):
    """Layers that, as they were made, left next to nothing of what tells samples apart, one after another.

    Attributes:
        column: the layer's output in which least is left.
        of_first: the first layer's.
        distances: the mean cosine distance between two samples in the first and in that one, as they were made.
        n_layers: how many there are.
    """

    column: int = -1
    of_first: int = -1
    distances: tuple[float, float] = (math.nan, math.nan)
    n_layers: int = 0


@dataclass(eq=False)
class Lagging(Episode):
    """Layers whose running statistics, which evaluation uses, are not those of the batches.

    They never came near to them; or they keep next to nothing of what they were, and are those of the last one.

    Attributes:
        layers: their paths, the worst first; of that one the rest.
        momentum: the share that each batch leaves of them.
        share: the share that is still what the layer was made with, if each step is one batch.
        factor: the root of its running variance, divided by the root of the batches'.
        shift: between the mean of the batches and the running one, in deviations of the batches.
        jump: of those that keep next to nothing, the median change of the deviation from look to look, relative; NaN
            of the others.
        together: the product of the layers' factors, where none is far by itself; NaN of the others.
        is_seen: whether the validation shows it: its loss never came below where training began, or is far above its
            best and that of the training.
    """

    layers: tuple[str, ...] = ()
    momentum: float = float("nan")
    jump: float = float("nan")
    share: float = float("nan")
    factor: float = float("nan")
    shift: float = float("nan")
    together: float = float("nan")
    is_seen: bool = False


@dataclass(eq=False)
class ByHeart(Episode):
    """A validation loss that never came below where training began.

    Attributes:
        best: the lowest validation loss so far.
        newest: the newest.
        n_values: how many there were.
        start: what a model has that knows nothing: the cross-entropy of guessing, or else the first training loss.
        is_guess: whether that is what guessing gives.
        is_judged: whether the training loss and that of the validation are the same function.
        n_unseen: how many of the last classes no training sample has had so far; 0 where that is not known.
    """

    best: float = float("nan")
    newest: float = float("nan")
    n_values: int = 0
    start: float = 0.0
    is_guess: bool = False
    is_judged: bool = False
    n_unseen: int = 0


@dataclass(eq=False)
class Untaught(Episode):
    """Layers that are frozen, or given to no optimizer, and hold what they were made with.

    Attributes:
        layers: their paths.
        variables: the names of the weights that tell.
        is_left: whether no optimizer is given any of them, although they could be trained.
        is_unknown: whether some are random numbers in a `tf.Variable` that Keras does not know of.
        is_judge: whether they stand behind all that is trained, and the loss is what they make of its output.
        is_copy: whether they are a copy of what is trained, as both were made.
        is_of_statistics: whether they are not the weights of such a copy, but what its layers keep beside them.
        clone: the user's call that makes a clone of a model, which is then given no weights; None without one.
    """

    layers: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    is_left: bool = False
    is_unknown: bool = False
    is_judge: bool = False
    is_copy: bool = False
    is_of_statistics: bool = False
    clone: Mapping[str, Any] | None = None


@dataclass(eq=False)
class Remade(Episode):
    """Optimizers of one class that train the same variables, one after another; `n_rows` is how many.

    Attributes:
        n_steps: how many steps each took as a rule.
        first_rate: the learning rate with which the first one began, NaN where it is not known.
        last_rate: and with which it ended.
        has_schedule: whether these are so far apart that it has a schedule.
        newest: the stream of the last one.
        has_learned: whether the loss has come down to its end all the same.
    """

    n_steps: int = 0
    first_rate: float = float("nan")
    last_rate: float = float("nan")
    has_schedule: bool = False
    newest: int = -1
    has_learned: bool = False


@dataclass(eq=False)
class Outdated(Episode):
    """A number of Python's that the compiled step goes on with, though it would be another by now.

    Attributes:
        place: its place among the stream's `Setup.traced`.
    """

    place: int = 0


@dataclass(eq=False)
class Leaked(Episode):
    """A target that stands among the inputs.

    Attributes:
        number: of the input, from 0.
        column: of the input, from 0.
        is_last: whether it is that of a sequence's last time.
        time: of a window of a series, from 0, the time at which it stands; -1 elsewhere.
        is_whole: whether a whole sequence of integers is its own target.
        is_next: whether it is the target but for one step, and the model looks at the steps to come.
        pairs: what two inputs are to be that are one, ``returns`` (a state and the one that follows) or ``views`` (of a
            sample); empty where it is of a target.
        has_blank: whether it is of labels that are the blank of their loss; then of no input.
        masks: what masks 0 among the numbers of words, ``Embedding`` or a comparison; empty elsewhere.
        is_twice: whether the targets are the next numbers as they are given, and the loss moves them by another step.
        are_alike: whether it is of samples that are one and the same within a batch, with different targets.
        source: of the line that does, or of that loss.
    """

    number: int = 0
    column: int = 0
    is_last: bool = False
    time: int = -1
    is_whole: bool = False
    is_next: bool = False
    pairs: str = ""
    has_blank: bool = False
    masks: str = ""
    is_twice: bool = False
    are_alike: bool = False
    source: Mapping[str, Any] | None = None


@dataclass(eq=False)
class Dropped(Episode):
    """Layers that drop nearly all they are given, and scale up what is left.

    Attributes:
        columns: the outputs of all layers that did so when it was known, in order of depth.
        kept: the share of the elements that came through the first of them at `known_step`.
    """

    columns: tuple[int, ...] = ()
    kept: float = float("nan")


@dataclass(eq=False)
class Unskilled(Episode):
    """Predictions that are no better than guessing.

    Attributes:
        column: of the last layer's output.
        distance: the newest mean squared distance of the predictions from the targets.
        guess: that of guessing.
        farthest: the largest possible, infinite of a squared error.
        n_classes: how many there are to guess among; 1 for one label that is there or not.
        entropy: the cross-entropy of guessing, NaN of a squared error.
        is_worse: whether they are worse than guessing.
        is_final: whether these are the last rows of a run that has ended.
        is_hardly: whether they are a little better, which they were not before the samples came again.
        n_gates: of the model's first recurrent layer, 0 where it has none.
        is_judged: whether the model is the only one that is trained: in a game a player may well guess.
    """

    column: int = -1
    distance: float = float("nan")
    guess: float = float("nan")
    farthest: float = float("nan")
    n_classes: int = 1
    entropy: float = float("nan")
    is_worse: bool = False
    is_final: bool = False
    is_hardly: bool = False
    n_gates: int = 0
    is_judged: bool = False


@dataclass(eq=False)
class Unrelated(Episode):
    """Outputs that do not follow what they are asked for, or no more as they did, or run against it.

    Attributes:
        target: its name.
        correlation: of outputs and targets, of late.
        other: the target that was followed best by then, empty where there is no other.
        correlation_of_other: its correlation, NaN where there is no other.
        is_opposite: whether outputs run against it.
        best: what the correlation was once, where it fell while the loss fell too; NaN where it is something else.
        ratio: how many times as large as its own the gradient with respect to another head's output was all the while;
            NaN where no such thing is known.
        n_targets: how many targets are known.
        is_first: whether it is the first of them, which alone a linear fit is held to.
        linear_fit: how far a linear fit of the same inputs follows it, where that is more; NaN where it is something
            else.
        column: of several, from 0 on, the one that a linear fit follows and outputs do not; -1 where it is none.
        is_judged: whether the model is the only one that is trained.
    """

    target: str = ""
    correlation: float = float("nan")
    other: str = ""
    correlation_of_other: float = float("nan")
    is_opposite: bool = False
    best: float = float("nan")
    ratio: float = float("nan")
    n_targets: int = 1
    is_first: bool = True
    linear_fit: float = float("nan")
    column: int = -1
    is_judged: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether they followed it better before."""
        return not math.isnan(self.best)


@dataclass(eq=False)
class Allied(Episode):
    """A generator that is trained to do what its discriminator is trained for.

    Attributes:
        judge: the stream of the discriminator's own step; `stream` is the generator's.
        layer: the discriminator's last.
        mean: what it gave for what was generated, on the average of the last rows.
        is_lowered: whether both lower that.
        asked: what the discriminator's own step does to what it gives: ``apart`` (it raises it for what is real),
            ``reversed`` (it lowers that, and raises the other), ``alike`` (of both it does the same) or ``shared``
            (what the generator's step undoes, for that trains the discriminator as well).
    """

    judge: int = -1
    layer: str = ""
    mean: float = float("nan")
    is_lowered: bool = False
    asked: str = "apart"


@dataclass(eq=False)
class Contrary(Episode):
    """Class weights that let the rare label count for less than the common one.

    Attributes:
        label: the rare one, 0 or 1.
        share: of all labels, how many it is.
        weight: what it is weighed by.
        other_weight: what the other is.
    """

    label: int = 0
    share: float = 0.0
    weight: float = float("nan")
    other_weight: float = float("nan")


@dataclass(eq=False)
class Ordered(Episode):
    """Labels that come in order.

    Attributes:
        share: of their variance, what lies between batches.
        n_samples: in a batch.
    """

    share: float = 0.0
    n_samples: float = 0.0


@dataclass(eq=False)
class Decayed(Episode):
    """A learning rate that has come down to next to nothing long before the end.

    Attributes:
        highest: the highest rate by then.
        rate: the newest.
        every: steps from one cut of the rate to the next, on the mean of those seen.
        is_compounded: whether each of the newest changes took a larger part than the one before.
    """

    highest: float = float("nan")
    rate: float = float("nan")
    every: float = float("nan")
    is_compounded: bool = False


@dataclass(eq=False)
class Misset(Episode):
    """Settings of an optimizer, or a callback, that undo one another, or what it was given to do.

    Attributes:
        epsilon: one that is far above the gradients, NaN where that is not the trouble.
        gradient: the root mean square of the kernel's gradient that has the largest.
        first_share: of the averaged weights that `fit` put in place at its end, what was the first step's weights; NaN
            where that is not the trouble.
        n_updates: how often the weights were changed in all of the training; -1 where that is not the trouble.
        warm_up: the first learning rate, and the last of a training that ended while it rose; NaN where that is not the
            trouble.
        is_unclipped: whether gradients are clipped in the script, and applied as they were before.
        is_swapped: whether the optimizer forgets a gradient's size long before its direction.
    """

    epsilon: float = float("nan")
    gradient: float = float("nan")
    first_share: float = float("nan")
    n_updates: int = -1
    warm_up: tuple[float, float] = (float("nan"), float("nan"))
    is_unclipped: bool = False
    is_swapped: bool = False

    @property
    def is_driving(self) -> bool:
        """Whether it may drive the weights anywhere."""
        return self.is_unclipped or self.is_swapped


class MismatchKind(Enum):
    """How a last layer and its loss do not fit."""

    SOFTMAX_TWICE = "softmax twice"
    SIGMOID_TWICE = "sigmoid twice"
    SOFTMAX_OF_ONE = "softmax of one"
    SOFTMAX_OVER_BATCH = "softmax over batch"
    SCORES = "scores"
    SOFTMAX_OF_MANY = "softmax of many"
    SOFTMAX_OF_FEW = "softmax of few"
    MANY_LABELS = "many labels"
    NO_LABEL = "no label"
    SMALL_LABELS = "small labels"
    FILLED = "filled targets"
    FROM_ONE = "classes from 1"


@dataclass(eq=False)
class Mismatch(Episode):
    """A last layer that does not fit its loss.

    Attributes:
        kind: how.
        column: of the last layer's output, -1 where no layer's is captured.
        operation: the operation of the loss that shows it, where one does.
        low: the smallest number that the last layer gave when it was known.
        high: and the largest.
        label: where labels are too small, the one that is not 0.
        zero_share: where targets were filled with 0, their share when it was known.
        target: of classes that are counted from 1, the name of the labels.
        lacks_first: and whether the first class never occurs, as their columns tell.
    """

    kind: MismatchKind = MismatchKind.SCORES
    column: int = -1
    operation: Operation | None = None
    low: float = float("nan")
    high: float = float("nan")
    label: float = float("nan")
    zero_share: float = float("nan")
    target: str = ""
    lacks_first: bool = False


@dataclass(eq=False)
class Misshaped(Episode):
    """A slip in the compiled step: of shapes, of a mask, or of what is put together.

    Attributes:
        zero_share: of the targets, what was exactly 0 where errors are divided by them; NaN for another slip.
        what: what is wrong.
        slip: the entry of `Setup.broadcasts`, `Setup.reshapes` or `Setup.slips`.
        n_nodes: how many nodes the edges should reach, at the least; 0 for another slip.
        n_reached: and how many they do, at the most.
        n_first: how many of the first nodes no edge has, the median, where edges begin behind them; 0 for none.
        spread: of a sine's argument at the start, the deviation in radians.
        root_mean_square: of what a layer normalises, the least so far; NaN for another slip.
        narrow: of an input that is scaled as a whole, or not at all, the columns that hardly vary beside the widest.
        widest: that one.
        reach: between which numbers that one varies, or the first of the others where ``is_rounded``; of images, those
            that a layer makes of them, or that enter.
        turn: of a target that jumps, by how much at the most, and the column that does.
        is_rounded: whether these hold nothing but rounding errors.
        mean: of an input that hardly varies beside it; NaN elsewhere.
        deviation: its standard deviation.
        contrast: by how many deviations pairs that a loss pushes apart lie farther apart, as they enter and as they are
            described; NaN where there are none.
        validation: where dropouts drop nothing, the lowest validation loss and the newest; NaN where there are none.
        loss: and the training loss by then.
    """

    zero_share: float = float("nan")
    what: SlipKind = SlipKind.CUT
    slip: Mapping[str, Any] = field(default_factory=dict)
    n_nodes: int = 0
    n_reached: int = 0
    n_first: int = 0
    root_mean_square: float = float("nan")
    spread: float = float("nan")
    narrow: Sequence[int] = ()
    widest: int = -1
    reach: tuple[float, float] = (0.0, 0.0)
    turn: tuple[int, float] | None = None
    is_rounded: bool = False
    mean: float = float("nan")
    deviation: float = float("nan")
    contrast: tuple[float, float] = (float("nan"), float("nan"))
    validation: tuple[float, float] = (float("nan"), float("nan"))
    loss: float = float("nan")


@dataclass(eq=False)
class SharedTarget(Episode):
    """A squared error that gives all samples of a batch one target.

    Attributes:
        column: of the last layer's output.
        low: the smallest target of a batch so far.
        high: and the largest.
    """

    column: int = -1
    low: float = float("nan")
    high: float = float("nan")


@dataclass(eq=False)
class Unheard(Episode):
    """A loss that takes nothing of most samples, or of those that lie above a cap.

    Attributes:
        column: of the gradient with respect to the last layer's output.
        share: of the samples that had no gradient at all, at the least, when it was known.
        low: the smallest number that the last layer gave then.
        high: and the largest.
        cap: the slip that bounds the loss, None where it is another trouble.
        is_inverted: whether they are places, and just those whose label is not 0.
        is_of_words: whether the words of the input stand for labels that are not known.
    """

    column: int = -1
    share: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    cap: Mapping[str, Any] | None = None
    is_inverted: bool = False
    is_of_words: bool = False


@dataclass(eq=False)
class Starved(Episode):
    """Kernels that have moved by next to nothing since the first step, while the others have.

    Attributes:
        positions: gradient positions of the kernels.
        ratio: the largest update norm / weight norm of any of them, in any row until it was known.
        usual_ratio: the median over all kernels of the largest.
    """

    positions: tuple[int, ...] = ()
    ratio: float = float("nan")
    usual_ratio: float = float("nan")


@dataclass(eq=False)
class Undone(Episode):
    """Weights that something else puts back between steps, again and again; `n_rows` counts how often.

    Attributes:
        left: the part of what the optimizer did in between that was left, the median of all times.
        period: steps from one time to the next, the median.
        source: the user's line that did it, where the hook saw it.
        leaps: after how many times the loss was higher than before, of those that the hook saw, and after how many not.
    """

    left: float = float("nan")
    period: int = 0
    source: Mapping[str, Any] | None = None
    leaps: tuple[int, int] = (0, 0)


@dataclass(eq=False)
class Alike(Episode):
    """Layers that began with one number in all of a kernel, and whose units have been copies of one another since.

    Attributes:
        positions: gradient position of each such kernel -> the number it began with.
    """

    positions: dict[int, float] = field(default_factory=dict)


@dataclass(eq=False)
class Shrunk(Episode):
    """Weights that something besides the optimizer has made smaller at every step, by more than it moved them.

    Attributes:
        positions: gradient positions of the kernels.
        share: of the first one's norm, taken at each step; the geometric mean.
        ratio: update norm / weight norm of it, at the last of these steps.
        norms: its norm at the first of them, and at the last.
        source: the user's line that assigns weights in the step's graph; None where none is known.
    """

    positions: tuple[int, ...] = ()
    share: float = float("nan")
    ratio: float = float("nan")
    norms: tuple[float, float] = (float("nan"), float("nan"))
    source: Mapping[str, Any] | None = None


@dataclass(eq=False)
class Twins(Episode):
    """Kernels that began as copies of one another, and have been copies since.

    Attributes:
        positions: gradient positions of those of one group, in the order of the table.
        n_groups: how many such groups there are; all but the one with the most kernels are left out of ``positions``.
    """

    positions: tuple[int, ...] = ()
    n_groups: int = 1


@dataclass(eq=False)
class Trend(Episode):
    """A steady trend towards where numbers end: a forecast of the first NaN or Inf, and what became of it.

    Attributes:
        quantity: what moves: `gradient`, `loss`, `loss_scale`, `activation`, `backprop`, `weight` or `margin` (of an
            operation's input).
        column: the tensor, -1 for none.
        operation: the operation, of a margin.
        start: the trend's value when its window began, at `first_step`.
        end: and when it was known, at `known_step`.
        slope: per step, of the value's natural logarithm (of an exponential's headroom: of the value itself).
        limit: the value at which numbers end.
        dtype: of which type of numbers, where known.
        at_step: the step at which it should be reached.
        at_step_low: the earliest.
        at_step_high: the latest: after it the forecast did not come true.
        n_tensors: how many of its kind were on that way.
        has_come: whether it came true; None while that is open.
        outcome_step: the step of the first NaN or Inf, if it came true.
    """

    quantity: str = ""
    column: int = -1
    operation: Operation | None = None
    start: float = float("nan")
    end: float = float("nan")
    slope: float = float("nan")
    limit: float = float("nan")
    dtype: str = ""
    at_step: int = -1
    at_step_low: int = -1
    at_step_high: int = -1
    n_tensors: int = 1
    has_come: bool | None = None
    outcome_step: int | None = None
