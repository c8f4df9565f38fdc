"""Reads one optimizer's steps: which tensors, in which order, and the ops that turn a step into a row of its ring.

A `Stream` is made when an optimizer is first seen applying a set of variables. In every trace (or eager call) of
``apply`` it puts ops before the call (gradients; weights as they were) and after it (weights, updates), and writes
one row. No op runs on the host, so a row is the same under `tf.function`, XLA, ``steps_per_execution`` and eagerly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch import statistic
from gradwatch.alike import AlikeKernels
from gradwatch.assigned import Assignments
from gradwatch.cadence import Cadence
from gradwatch.contrast import find_contrast, measure_contrast
from gradwatch.correlation import correlate
from gradwatch.deferred import Kept
from gradwatch.eager import EagerReplay
from gradwatch.glance import Glance, as_scalar
from gradwatch.leakage import Compared, find_leaked
from gradwatch.linear_fit import LinearFit
from gradwatch.operation import Operation, find_operations, operation_block, row_of
from gradwatch.optimizer import Clipped, Slot, Treatment, measure_clipping, unscale
from gradwatch.protocol import OPERATION_STATISTICS, STATISTICS, Message, name_correlation
from gradwatch.replay import TRACES_MAX, Replay
from gradwatch.ring import Ring, create_untraced
from gradwatch.row import N_LOSSES_MAX, Layout
from gradwatch.slips.graph.blank import find_labels
from gradwatch.slips.graph.rounded import find_difference
from gradwatch.slips.graph.shifted import find_moved
from gradwatch.slips.graph.truncated import find_given
from gradwatch.sums import count_cleared
from gradwatch.tap import Tap, Tapped, Waiting, enclosing_graphs, unique_taps
from gradwatch.traced import Traced, find_outdated
from gradwatch.weight import STORED, Part, blocks_where, keep_nothing, keep_where, store_where, wait_for
from gradwatch.xla import cond, is_under_xla, math_here, once

if TYPE_CHECKING:
    from gradwatch.columns import Batch
    from gradwatch.heard import Pattern, Picked

__all__ = ["Before", "Beside", "Clock", "StepScalars", "Stream", "resource_of"]

Tensor = Any  # tensorflow ships no types
_N_ELEMENTS = STATISTICS.index("n_elements")
_NORM = STATISTICS.index("norm")
_COUNTS = slice(STATISTICS.index("n_nan"), STATISTICS.index("n_neg_inf") + 1)


class Clock:
    """The step that all optimizers of a run share: -1 before the first ``apply``.

    It advances when variables are applied that have already been applied in the current step.
    """

    def __init__(self) -> None:
        self.step = _counter("gradwatch_step", -1)
        self._on_host = -1
        self.is_mixed = False
        """Whether some steps are compiled, of which the host does not know when they run."""

    def read(self) -> int:
        """The newest step that has begun; from any thread."""
        with statistic.apart():
            return int(self.step.numpy())

    def peek(self, last: Any) -> Tensor:
        """The step that `tick` is going to give; updates nothing."""
        now = self.step.read_value()
        return now + tf.cast(last.read_value() == now, tf.int64)

    def tick(self, last: Any) -> Tensor:
        """The step of an ``apply`` to variables whose last step is in the variable ``last``; updates both."""
        step = self.peek(last)
        self.step.assign(step)
        last.assign(step)
        return step

    def read_on_host(self) -> int:
        """`read` without a look at the device, as long as all steps run eagerly."""
        if self.is_mixed:
            self._on_host = self.read()
        return self._on_host

    def peek_on_host(self, last: Sequence[int]) -> int:
        """`peek` likewise; ``last``: a list of one."""
        step = self.read_on_host()
        return step + (last[0] == step)

    def tick_on_host(self, last: list[int], step: Tensor) -> None:
        """`tick` likewise, once ``step`` has begun."""
        last[0] = self._on_host = int(step) if self.is_mixed else self.peek_on_host(last)


class StepScalars(NamedTuple):
    """The scalars of one step that are known when ``apply`` is called; None where unknown."""

    loss: Tensor | None
    learning_rate: Tensor | None
    loss_scale: Tensor | None
    treatment: Treatment = Treatment()


class Before(NamedTuple):
    """What is carried from before ``apply`` to after it.

    Attributes:
        step: the step.
        is_due: whether weights, updates and slots are due.
        measured: the first vectors of a `row.Layout`, end to end, up to what is told of weights.
        is_finite: whether every gradient is finite.
        are_wanted: for each part of `Stream._parts` whether it is.
        kept: what keeps the weights as they were.
        scalars: the values of the first scalars.
        present: which of them are known.
        seen: what was seen at a glance, the last vectors of a `row.Layout`.
    """

    step: Tensor
    is_due: Tensor
    measured: Tensor
    is_finite: Tensor
    are_wanted: Tensor
    kept: Sequence[Tensor]
    scalars: Tensor
    present: Tensor
    seen: Tensor


class Beside(NamedTuple):
    """What a step is measured by, beside its gradients.

    Attributes:
        tapped: rows of layers, and tensors of layers that wait to be measured.
        batch: what enters the step, if anything is known of it.
        rows: eagerly, in place of these: all rows, which are there, in the order of the table.
        operations: eagerly, if risky operations are known: their block, likewise.
        picked: what it is made of.
        compared: inputs, targets and outputs, of which is told how they fit one another.
        loss: what the gradients were asked of, where that is not the loss as such; None where it is, or is not known.
        repeat: called with the step and whether it is bad, a bool scalar: lets a bad step tell where it began. Under
            XLA it gives whether the weights as they are must be kept for that.
    """

    tapped: Sequence[Tapped | Waiting] = ()
    batch: Batch | None = None
    rows: Tensor | None = None
    operations: Tensor | None = None
    picked: Picked | None = None
    compared: Compared = Compared()
    loss: Tensor | None = None
    repeat: Callable[[Tensor, Tensor], Tensor | None] | None = None


class _Begun(NamedTuple):
    """A step that has begun; ``dense``: its gradients by the place of their variable."""

    step: Tensor
    is_due: Tensor
    gradients: Sequence[Any]
    dense: Mapping[int, Tensor]
    scalars: StepScalars
    beside: Beside
    glance: Glance


SUMS_CLEARED: Final = "sums_cleared"
"""1 once anything was written into the variables that gradients are read from, 0 before; not computed in the step."""
OUTDATED: Final = "outdated"
"""Which of the numbers that the step was traced with are others by now, a bit for each; not computed in the step."""
ALIKE: Final = "alike"
"""Of which kernels that began as one number all units are equal still, a bit for each; not computed in the step."""
UNFOLLOWED: Final = "unfollowed"
"""Which column of the first of the targets outputs do not follow, while a linear fit does; not computed in the step."""
CONTRASTS: Final = ("contrast_of_inputs", "contrast_of_outputs")
"""By how much pairs that a loss pushes apart lie farther apart than those that it draws together (`contrast`)."""
LINEAR_FIT: Final = "linear_fit"
"""How far a linear fit of the same inputs follows the first of the targets; NaN until that is known."""
_NOTHING_SET_UP: Final[Message] = {
    "untrained": [],
    "untracked": [],
    "script": {},
    "broken": None,
    "settings": {},
    "broadcasts": [],
    "cuts": [],
    "reshapes": [],
    "slips": [],
    "from_tape": False,
    "eager": False,
    "loss_source": None,
    "cleared_source": None,
}


class Stream:
    """One optimizer's rows.

    Args:
        index: the stream's number in the run.
        optimizer: the optimizer's name, for people.
        variables: the variables it applies to, in order of depth (Keras variables or `tf.Variable`), and those that
            are left out.
        names: their Keras paths, unique in the run.
        kinds: the kinds to capture, of ``gradient weight update``.
        clock: the run's clock.
        taps: the tensors tapped on the way, in the first trace; a later trace knows them by kind and name.
        slots: the optimizer's own variables to capture.
        states: what layers keep beside what is trained (running statistics), by Keras path; a weight like others.
        momenta: of some of these, by Keras path, the share that each batch leaves of them.
        untaught: weights that are as they were made in layers that are frozen, by Keras path; a weight like others too.
        left: and in layers that no optimizer is given.
        copied: weights of another model, a copy of what is trained when both were made, by a name of their own; weights
            like others too.
        taken: kinds and names that the taps of other streams have in the run.
        operations: the risky operations found in the first trace; a later trace knows them by name.
        cadence: when full rows are due.
        skips_nonfinite: leave weights and optimizer untouched at a step with a non-finite gradient.
        sums: the variables of the script's own that all gradients are read from, by handle; none if they are not.
        correlated: targets of which it is told how far outputs follow them, by their names in the table.
        heads: of targets what the layer gives that is held to them, both by their names in the table.
        is_fitted: whether a linear fit of the inputs is held beside the first of these targets: no measure of a model
            whose first layers were learned for another task.
        traced: numbers of Python's that the first trace took; a later trace knows them by name and line.
        is_left_out: for each whether it is not given to the optimizer, since a tape that was asked for its gradient
            with that of the others gave none; None: all are given.
        setup: how the training is set up beside its tensors: ``untrained untracked script settings broken broadcasts
            cuts reshapes slips from_tape eager loss_source cleared_source`` of the protocol.
        follows: a stream that trained some of these variables before: both count their steps together.
        replica: the replica whose own gradients these are, before the reduction; None: what is applied.

    Attributes:
        has_loss_of_tape: whether the loss is what a tape was asked to differentiate, for want of a better word.
        pattern: what is wanted of its steps that run eagerly, if one of them was heard whole and anything is.
        scalars: the names of those in its rows. From `N_FIRST_SCALARS` on they are told where full statistics are due,
            and NaN where they are not known.
    """

    SCALARS = (
        "loss",
        "learning_rate",
        "gradient_norm",
        "loss_scale",
        "skipped",
        "clipped_norm",
        "clipped_share",
        "is_update",
        "leaked",
    )
    N_FIRST_SCALARS = SCALARS.index("leaked")
    pattern: Pattern | None = None
    _kept: Kept | None = None

    def __init__(
        self,
        *,
        index: int,
        optimizer: str,
        variables: Sequence[Any],
        names: Sequence[str],
        kinds: Sequence[str],
        taps: Sequence[Tap],
        taken: Set[tuple[str, str]],
        operations: Sequence[Operation],
        clock: Clock,
        cadence: Cadence,
        skips_nonfinite: bool,
        slots: Sequence[Slot] = (),
        states: Mapping[str, Any] | None = None,
        momenta: Mapping[str, float] | None = None,
        untaught: Mapping[str, Any] | None = None,
        left: Mapping[str, Any] | None = None,
        copied: Mapping[str, Any] | None = None,
        sums: frozenset[int] = frozenset(),
        correlated: Sequence[str] = (),
        heads: Mapping[str, str] | None = None,
        is_fitted: bool = True,
        traced: Sequence[Traced] = (),
        is_left_out: Sequence[bool] | None = None,
        setup: Mapping[str, Any] | None = None,
        follows: Stream | None = None,
        replica: int | None = None,
    ) -> None:
        self.index = index
        self.replica = replica
        self.has_loss_of_tape = False
        self.assignments: Assignments | None = None
        self.optimizer = optimizer
        self.names = tuple(names)
        self.kinds = tuple(kinds)
        self.variables = tuple(resource_of(variable) for variable in variables)
        self._is_left_out = tuple(is_left_out or [False] * len(self.variables))
        self.alike = AlikeKernels(self.names, self.variables) if "weight" in self.kinds else AlikeKernels([], [])
        beside = {"traced": [one.to_message() for one in traced], "alike": list(self.alike.names)}
        self._setup = _NOTHING_SET_UP | dict(setup or {}) | beside
        self._must_differ, self._has_blank, self._is_rounded, self._is_moved, self._is_zero_masked, has_contrast = (
            any(field in slip for slip in self._setup["slips"])
            for field in ("pairs", "blank", "rounded", "shifts", "omits", "contrasts")
        )
        self._has_windows = any(call["role"] == "windows" for call in self._setup["script"].get("calls", ()))
        self._end_of = _find_length(self._setup["slips"])
        self._given = [place for place, is_out in enumerate(self._is_left_out) if not is_out]
        self.sizes = tuple(map(_size, self.variables))
        self.taps = tuple(unique_taps(taps, taken, optimizer))
        self._tap_slots = {(tap.kind, tap.tensor): i for i, tap in enumerate(taps)}
        self.operations = tuple(operations)
        self._slots = {operation.name: i for i, operation in enumerate(self.operations)}
        self.slots = tuple(slots)
        self.sums = sums
        self._correlated, self._heads = tuple(correlated), dict(heads or {})
        self.scalars = (*self.SCALARS, *map(name_correlation, correlated), *(CONTRASTS if has_contrast else ()))
        self.traced = tuple(traced)
        self._traced_at, self._was_outdated = -1, 0
        self._linear_fit, self._is_fitted = LinearFit(), is_fitted
        self._beside = self._find_looks()
        self._marks: dict[str, Message] = {path: {"momentum": share} for path, share in (momenta or {}).items()}
        self._marks |= {path: {"frozen": True} for path in untaught or {}}
        self._marks |= {path: {"frozen": True, "left": True} for path in left or {}}
        self._marks |= {path: {"copied": True} for path in copied or {}}
        kept = {**(states or {}), **(untaught or {}), **(left or {}), **(copied or {})}
        self.states = kept if "weight" in self.kinds else {}
        of_weights = [kind for kind in ("weight", "update") if kind in self.kinds]
        self._part_kinds = (*of_weights, *["slot"] * bool(self.slots), *["weight"] * bool(self.states))
        seen = [place for place, tap in enumerate(taps) if tap.kind == "input" and tf.as_dtype(tap.dtype).is_floating]
        self._input_places = {(taps[tap].kind, taps[tap].tensor): place for place, tap in enumerate(seen)}
        n_weights = (len(self.kinds) - 1) * len(self.variables) + len(self.slots) + len(self.states)
        self.layout = Layout(
            sizes=self.sizes,
            n_weights=n_weights,
            n_taps=len(self.taps),
            seen_taps=tuple(seen),
            n_operations=len(self.operations),
            n_first=self.N_FIRST_SCALARS,
            n_compared=len(self.scalars) - self.N_FIRST_SCALARS,
        )
        self.skips_nonfinite = skips_nonfinite
        self._clock, self._cadence = clock, cadence
        self._last: Any = _counter("gradwatch_last_step", -1) if follows is None else follows._last
        self._last_on_host: list[int] = [-1] if follows is None else follows._last_on_host
        self.replays: deque[Replay | EagerReplay] = deque(maxlen=TRACES_MAX)
        self.ring = Ring(self.layout.width)
        self._before_eagerly = tf.function(self._before, reduce_retracing=True)
        # It is traced anew where targets are known that are not at every step: nothing that the user could mend.
        self._before_eagerly._omit_frequent_tracing_warning = True
        self._after_eagerly = tf.function(self._after)

    @property
    def kept(self) -> Kept:
        """The weights as they were before a step, under XLA."""
        self._kept = self._kept or Kept(self.variables)
        return self._kept

    def tensors_message(self, seq: int | None = None) -> Message:
        """The stream's tensor table as a ``tensors`` message of the protocol."""
        tensors = [
            self._entry(kind, name, "", variable) | ({"left_out": True} if is_left_out else {})
            for kind in self.kinds
            for name, variable, is_left_out in zip(self.names, self.variables, self._is_left_out, strict=True)
        ]
        tensors += [self._entry("slot", self.names[slot.place], f"/{slot.name}", slot.variable) for slot in self.slots]
        tensors += [
            self._entry("weight", path, "", variable) | self._marks.get(path, {})
            for path, variable in self.states.items()
        ]
        heads = ((tap, self._heads.get(tap.tensor) if tap.kind == "input" else None) for tap in self.taps)
        tensors += [tap.to_message() | ({"head": head} if head else {}) for tap, head in heads]
        message = {
            "type": "tensors",
            "stream": self.index,
            "optimizer": self.optimizer,
            "tensors": tensors,
            "scalars": [*self.scalars, *self._beside],
            "operations": [operation._asdict() for operation in self.operations],
            "statistics": list(STATISTICS),
            **self._setup,
        }
        return message if seq is None else message | {"seq": seq}

    def _find_looks(self) -> dict[str, Callable[[npt.NDArray[np.int64]], Any]]:
        """What the reader looks up itself for steps, by the scalar's name."""
        looks: dict[str, tuple[Any, Callable[[npt.NDArray[np.int64]], Any]]] = {
            SUMS_CLEARED: (self.sums, partial(count_cleared, self.sums)),
            OUTDATED: (self.traced, self.find_outdated),
            ALIKE: (self.alike.names, lambda _: self.alike.find()),
            LINEAR_FIT: (self._correlated, lambda _: self._linear_fit.read()),
            UNFOLLOWED: (self._correlated, lambda _: self._linear_fit.unfollowed),
        }
        return {name: look for name, (wanted, look) in looks.items() if wanted}

    def beside(self, steps: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float32]]:
        """The scalars of rows that the reader looks up itself, in the order of the table's last; in its thread."""
        return [np.full(len(steps), look(steps), np.float32) for look in self._beside.values()]

    def _entry(self, kind: str, name: str, suffix: str, variable: Any) -> Message:
        entry = {
            "kind": kind,
            "tensor": name + suffix,
            "layer": name.rpartition("/")[0] or name,
            "variable": name.rpartition("/")[2] + suffix,
            "shape": [int(n) for n in variable.shape],
            "dtype": variable.dtype.name,
            "n_elements": _size(variable),
        }
        return entry if self.replica is None else entry | {"replica": self.replica}

    def note_trace(self, traced: Sequence[Traced]) -> None:
        """The step is traced anew: from now on it goes on with these numbers."""
        newest = {one.key: one for one in traced}
        self.traced = tuple(newest.get(one.key, one) for one in self.traced)
        with tf.init_scope():
            self._traced_at = self._clock.read() + 1
        self._was_outdated = 0

    def find_outdated(self, steps: Any) -> Any:
        """`traced.find_outdated` for each step after the one that was traced last; in the reader's thread.

        These steps were taken before they are read: what has changed only since the reading before is told of the next.
        """
        now = find_outdated(self.traced)
        always = sum(1 << place for place, one in enumerate(self.traced) if one.read is None)
        known, self._was_outdated = now & (self._was_outdated | always), now
        return np.where(steps > self._traced_at, known, 0)

    def find_tap(self, tap: Tap) -> Tap | None:
        """The entry of the stream's table for a tap seen now: named apart from other streams'; None if it has none."""
        place = self._tap_slots.get((tap.kind, tap.tensor))
        return None if place is None else self.taps[place]

    def read_next_step(self) -> Tensor:
        """The number of the step that `before` is going to begin."""
        return self._clock.peek(self._last)

    def next_pattern(self) -> Pattern | None:
        """What is wanted of the step that begins eagerly; None for nothing."""
        if self.pattern is None:
            return None
        step = self._clock.peek_on_host(self._last_on_host)
        wanted = self.pattern.narrow(partial(self._cadence.is_due_on_host, step))
        return wanted if wanted.numbers else None

    def before(self, gradients: Sequence[Any], scalars: StepScalars, beside: Beside) -> Before:
        """The ops that must run before ``apply``.

        Args:
            gradients: one for each variable that is given to the optimizer, in their order; None where there is none.
            scalars: what else is known of the step.
            beside: what else of the step is measured; eagerly rows alone, which are there.
        """
        found: Before
        with statistic.apart():
            if tf.executing_eagerly():
                rows = self._tap_block([one for one in beside.tapped if isinstance(one, Tapped)])
                own = Beside(rows=rows, compared=beside.compared, operations=self._picked_block(beside.picked))
                with self._cadence.eagerly():
                    found = self._before_eagerly(list(gradients), scalars, own)
                self._clock.tick_on_host(self._last_on_host, found.step)
            else:
                self._clock.is_mixed = True
                found = self._before(list(gradients), scalars, beside)
        return found

    def after(self, before: Before) -> None:
        """The ops that must run after ``apply``; they write the row."""
        run = self._after_eagerly if tf.executing_eagerly() else self._after
        with statistic.apart():
            run(before)

    def conditionally(self, before: Before, apply: Callable[[], Any]) -> Any:
        """Calls ``apply`` only where every gradient is finite."""
        if tf.executing_eagerly():
            return apply() if bool(before.is_finite) else None
        cond(before.is_finite, lambda: _run(apply), lambda: tf.constant(0))
        return None

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def _before(self, gradients: Sequence[Any], scalars: StepScalars, beside: Beside) -> Before:
        # Not before there is a gradient: `fit` learns that the data are at their end by beginning one step more.
        with tf.control_dependencies(_some(gradients)):
            step = self._clock.tick(self._last)
        treatment = scalars.treatment
        dense = self._dense(gradients)
        losses = [loss for loss in (scalars.loss, beside.loss) if loss is not None]
        glance = Glance(list(dense.values()), beside.batch.floating if beside.batch else [], losses)
        begun = _Begun(step, self._cadence.is_due(step), gradients, dense, scalars, beside, glance)
        is_wanted = begun.is_due | glance.is_bad()
        if treatment.is_update is not None:
            is_wanted |= self._is_weight_due(step, begun.is_due, treatment)
        where = once if is_under_xla() else statistic.where
        measured, is_finite, is_weight_due, are_wanted, *kept = where(
            is_wanted, lambda: self._look_closely(begun), lambda: self._pass_by(begun)
        )
        if is_under_xla():
            self._wait_for(kept.pop())
        # Once more: what a loop gives is no constant to XLA.
        is_weight_due = self._cadence.where_told(is_weight_due, treatment.n_micro_steps)
        seen = self._seen(begun)
        clipped = measure_clipping(
            treatment, gradients, lambda: self._norms(measured, seen), is_finite=is_finite, is_due=is_weight_due
        )
        values, flags = self._scalars(scalars, is_finite, clipped)
        return Before(step, is_weight_due, measured, is_finite, are_wanted, kept, values, flags, seen)

    def _look_closely(self, begun: _Begun) -> list[Tensor]:
        """What `Before` has of ``measured``, ``is_finite``, ``is_due``, ``are_wanted`` and ``kept``, if any is."""
        step, is_due, gradients, dense, scalars, beside, glance = begun
        is_free = self.kept.is_free() if is_under_xla() and beside.repeat is not None else None
        is_loss_bad = glance.is_loss_bad()
        block, is_full, is_finite = self._gradient_block(dense, is_due | is_loss_bad, glance.of_gradients())
        is_kept = None if beside.repeat is None else beside.repeat(step, ~is_finite | is_loss_bad)
        rows = beside.rows
        if rows is None:
            batch, squares = beside.batch, glance.of_others()
            tapped = [] if batch is None else [Tapped(batch.keys, batch.block(step, squares, is_due))]
            rows = self._tap_block(tapped + [self._measured(one, is_full) for one in beside.tapped])
        operations = beside.operations
        if operations is None:
            operations = self._operation_block(gradients, scalars.loss, is_full)
        is_weight_due = self._is_weight_due(step, is_full, scalars.treatment)
        are_wanted = self._wanted(is_weight_due, is_free)
        kept = [self._store(are_wanted, is_kept)] if is_under_xla() else self._keep(are_wanted)
        compared = self._compare(step, beside.compared, is_full & self._cadence.is_on("input"))
        measured = _end_to_end(unscale(block, scalars.treatment.scale), rows, operations, compared)
        return [measured, is_finite, is_weight_due, are_wanted, *kept]

    def _pass_by(self, begun: _Begun) -> list[Tensor]:
        """The same where nothing is: constants alone, for what was seen at a glance says the rest."""
        block = _missing(len(self.variables))
        block[list(begun.dense)] = statistic.NOTHING
        kept = [tf.constant(STORED)] if is_under_xla() else self._keep_nothing()
        are_wanted = tf.zeros([len(self._part_kinds)], tf.bool)
        measured = self._alone(block, begun.beside.rows)
        return [measured, tf.constant(True), tf.constant(False), are_wanted, *kept]

    def _alone(self, block: Any, rows: Tensor | None = None) -> Tensor:
        """`Before.measured`, if beside gradients nothing was, or the rows of taps."""
        rows = np.tile(statistic.NOTHING, (len(self.taps), 1)) if rows is None else rows
        return _end_to_end(block, rows, self._no_operations(), self._nothing_compared())

    def _seen(self, begun: _Begun) -> Tensor:
        """What was seen at a glance, as a `row.Layout` has it: without a loss scale, NaN for what there is not."""
        seen, n, n_of_gradients = begun.glance.numbers, len(self.variables), len(begun.dense)
        scale, batch = begun.scalars.treatment.scale, begun.beside.batch
        if scale is not None:
            seen = tf.concat([seen[:n_of_gradients] / tf.square(scale), seen[n_of_gradients:]], 0)
        floating = [] if batch is None else batch.keys[: len(batch.floating)]
        places = [*begun.dense, *(n + self._input_places[key] for key in floating)]
        nothing = self._nothing_seen()
        if places != list(range(self.layout.n_seen)):
            seen = _placed(seen[: len(places)], places, nothing[: self.layout.n_seen])
        n_missing = self.layout.n_seen + N_LOSSES_MAX - seen.shape[0]
        sizes = nothing[self.layout.n_seen + N_LOSSES_MAX :]
        if batch is not None and floating:
            found = tf.stack([tf.cast(size, tf.float32) for size in batch.sizes()[: len(floating)]])
            sizes = _placed(found, [self._input_places[key] for key in floating], sizes)
        return tf.concat([seen, nothing[:n_missing], sizes], 0)

    def _nothing_seen(self) -> Any:
        return np.full(self.layout.n_seen + N_LOSSES_MAX + len(self._input_places), np.nan, np.float32)

    def _norms(self, measured: Tensor, seen: Tensor) -> Tensor:
        """The norms of the gradients that are given to the optimizer, looked at closely or not."""
        n = len(self.variables)
        exact = tf.reshape(measured[: n * len(STATISTICS)], [n, len(STATISTICS)])[:, _NORM]
        norms = tf.where(math_here().is_nan(exact), math_here().sqrt(2 * seen[:n]), exact)
        return norms if len(self._given) == n else tf.gather(norms, self._given)

    def _compare(self, step: Tensor, compared: Compared, is_wanted: Tensor) -> Tensor:
        """The scalars from `N_FIRST_SCALARS` on: what inputs, targets and outputs tell of one another."""
        nothing = self._nothing_compared()
        labels = find_labels(enclosing_graphs()) if self._has_blank else None
        difference = find_difference(enclosing_graphs()) if self._is_rounded else None
        moved = find_moved(enclosing_graphs()) if self._is_moved and compared.inputs else None
        contrast = find_contrast(enclosing_graphs()) if CONTRASTS[0] in self.scalars else None
        casts = [slip["name"] for slip in self._setup["slips"] if "truncates" in slip]
        truncated = find_given(enclosing_graphs(), casts) if casts else []
        compared = compared._replace(
            must_differ=self._must_differ,
            labels=labels,
            end_of=self._end_of,
            difference=difference,
            moved=moved,
            are_windows=self._has_windows,
            is_zero_masked=self._is_zero_masked,
            truncated=truncated,
        )
        pairs = {pair.name: pair for pair in compared.pairs if pair.name in self._correlated}
        is_alone = compared.must_differ or self._end_of is not None or self._is_zero_masked
        has_two = compared.inputs and (compared.targets or is_alone)
        if not (pairs or has_two) and all(one is None for one in (labels, difference, moved, contrast, *truncated)):
            return nothing

        def look() -> Tensor:
            found = [find_leaked(compared)]
            first = pairs.get(self._correlated[0]) if self._correlated and self._is_fitted else None
            if first is not None:
                self._linear_fit.keep(step, compared.inputs, first)
            for name in self._correlated:
                pair = pairs.get(name)
                found.append(tf.constant(np.nan, tf.float32) if pair is None else correlate(pair.target, pair.output))
            if CONTRASTS[0] in self.scalars:
                found += [tf.constant(np.nan)] * 2 if contrast is None else measure_contrast(contrast)
            return tf.stack(found)

        return cond(is_wanted, look, lambda: tf.constant(nothing))

    def _nothing_compared(self) -> Any:
        return np.full(self.layout.n_compared, np.nan, np.float32)

    def _is_weight_due(self, step: Tensor, is_full: Tensor, treatment: Treatment) -> Tensor:
        """Weights change at the last of several micro-steps only: what was due at any of them is taken there."""
        n = treatment.n_micro_steps
        if treatment.is_update is not None:
            is_full = treatment.is_update & (is_full | self._cadence.is_due(step, within=n))
        return self._cadence.where_told(is_full, n)

    def _measured(self, one: Tapped | Waiting, is_due: Tensor) -> Tapped:
        """The rows of layers' tensors, those that wait measured where they are due."""
        if isinstance(one, Tapped):
            return one
        is_wanted = is_due & self._cadence.is_on(one.keys[0][0])
        return Tapped(one.keys, statistic.layer_rows_where(is_wanted, one.tensors, one.outputs))

    def _tap_block(self, tapped: Sequence[Tapped]) -> Tensor:
        """The rows in the order of the table, ``[n_taps, 12]``; NaN for what was not seen in this step."""
        nothing = np.tile(statistic.NOTHING, (len(self.taps), 1))
        keys = [key for one in tapped for key in one.keys]
        places = {self._tap_slots[key]: row for row, key in enumerate(keys) if key in self._tap_slots}
        if not places:
            return tf.constant(nothing)
        found = tf.concat([one.block for one in tapped], 0)
        if list(places.items()) == [(row, row) for row in range(len(keys))]:  # inputs, which come first in the table
            return found if len(keys) == len(nothing) else tf.concat([found, nothing[len(keys) :]], 0)
        rows = np.array(list(places.values()))
        return _placed(tf.gather(found, rows), list(places), nothing)

    def _dense(self, gradients: Sequence[Any]) -> dict[int, Tensor]:
        """The gradients that there are, dense, by the place of their variable."""
        given = zip(self._given, gradients, strict=True)
        return {place: statistic.dense_values(gradient) for place, gradient in given if gradient is not None}

    def _gradient_block(
        self, dense: Mapping[int, Tensor], is_due: Tensor, squares: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients' block, whether it is full, and whether every element is finite."""
        places = list(dense)
        found, is_full = statistic.step_block(
            list(dense.values()), [self.sizes[place] for place in places], is_due, squares
        )
        is_finite = tf.reduce_all(found[:, _COUNTS] == 0)
        return _placed(found, places, _missing(len(self.variables))), is_full, is_finite

    def _operation_block(self, gradients: Sequence[Any], loss: Tensor | None, is_due: Tensor) -> Tensor:
        nothing = self._no_operations()
        found: dict[int, Any] = {}
        if self.operations and not tf.inside_function():
            return tf.constant(nothing)
        if self.operations:
            found = {self._slots[op.name]: op for op in find_operations(gradients, loss) if op.name in self._slots}
        if not found:
            return tf.constant(nothing)
        slots = sorted(found)
        return statistic.where(
            is_due & self._cadence.is_on("operation"),
            lambda: _placed(operation_block([found[slot] for slot in slots]), slots, nothing),
            lambda: tf.constant(nothing),
        )

    def _picked_block(self, picked: Picked | None) -> Tensor | None:
        """The same of a step that runs eagerly; None where it can tell of none."""
        if self.pattern is None or not self.operations:
            return None
        if picked is None:
            return tf.constant(self._no_operations())
        return self._measure_eagerly([None if one is None else list(one) for one in picked.operations])

    @cached_property
    def _measure_eagerly(self) -> Any:
        return tf.function(self._measure_picked, reduce_retracing=True, autograph=False)

    def _measure_picked(self, picked: Sequence[Any]) -> Tensor:
        there = [place for place, one in enumerate(picked) if one is not None]
        rows = [row_of([*picked[i][0], *picked[i][1]], len(picked[i][0]), self.operations[i].type) for i in there]
        return _placed(tf.stack(rows), there, self._no_operations()) if there else tf.constant(self._no_operations())

    def _no_operations(self) -> Any:
        return np.full((len(self.operations), len(OPERATION_STATISTICS)), np.nan, np.float32)

    def _scalars(
        self, scalars: StepScalars, is_finite: Tensor, clipped: Clipped | None = None
    ) -> tuple[Tensor, Tensor]:
        """The values of the first scalars, and which of them are known."""
        is_skipped = ~is_finite if self.skips_nonfinite or scalars.treatment.skips_nonfinite else None
        is_update = scalars.treatment.is_update
        if is_update is not None and is_skipped is not None:
            is_update &= ~is_skipped
        values = {
            "loss": scalars.loss,
            "learning_rate": scalars.learning_rate,
            "gradient_norm": None,  # the reader makes it of the gradients' norms
            "loss_scale": scalars.loss_scale,
            "skipped": is_skipped,
            "clipped_norm": None if clipped is None else clipped.norm,
            "clipped_share": None if clipped is None else clipped.share,
            "is_update": is_update,
        }
        present = {name: tf.constant(value is not None) for name, value in values.items()}
        if clipped is not None:
            present["clipped_norm"] = present["clipped_share"] = clipped.is_known
        first = self.SCALARS[: self.N_FIRST_SCALARS]
        row = [0.0 if value is None else as_scalar(value) for value in map(values.get, first)]
        flags = [present[name] for name in first]
        return tf.stack([tf.cast(value, tf.float32) for value in row]), tf.cast(tf.stack(flags), tf.float32)

    def _weights_before(self, is_due: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        """For each of `_parts` whether it is wanted, and what keeps the weights as they are."""
        are_wanted = self._wanted(is_due)
        if is_under_xla():
            self._wait_for(self._store(are_wanted))
            return are_wanted, []
        return are_wanted, self._keep(are_wanted)

    def _wanted(self, is_due: Tensor, is_free: Tensor | None = None) -> Tensor:
        """Whether each of `_part_kinds` is; ``is_free``: of what updates are computed from nothing is wanted longer."""
        wanted = [is_due & self._cadence.is_on(kind) for kind in self._part_kinds]
        if is_free is not None and "update" in self._part_kinds:
            wanted[self._part_kinds.index("update")] &= is_free
        return tf.stack(wanted) if wanted else tf.zeros([0], tf.bool)

    def _keep(self, are_wanted: Tensor) -> list[Tensor]:
        if "update" not in self._part_kinds:
            return []
        return keep_where(are_wanted[self._part_kinds.index("update")], self.variables)

    def _keep_nothing(self) -> list[Tensor]:
        return keep_nothing(self.variables) if "update" in self._part_kinds else []

    def _store(self, are_wanted: Tensor, is_kept: Tensor | None = None) -> Tensor:
        """Keeps the weights as they are, under XLA: for the statistics of updates, and where a bad step keeps them.

        Gives what `_wait_for` needs.
        """
        reasons = [] if is_kept is None else [is_kept]
        if "update" in self._part_kinds:
            reasons.append(are_wanted[self._part_kinds.index("update")])
        if not reasons:
            return tf.constant(STORED)
        return store_where(reasons[0] | reasons[-1], self.kept.variables, self.kept.copies)

    def _wait_for(self, stored: Tensor) -> None:
        wait_for(stored, self._kept.variables if self._kept else [])

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def _after(self, before: Before) -> None:
        of_weights = []
        if parts := self._parts(before.kept):
            others = [slot.variable for slot in self.slots] + list(self.states.values())
            copies = self.kept.copies[: len(self.variables)] if is_under_xla() and "update" in self.kinds else []
            variables = [*self.variables, *others, *copies]
            of_weights.append(blocks_where(before.is_due, variables, parts, before.are_wanted))
        self.ring.write(before.step, before.measured, *of_weights, before.scalars, before.present, before.seen)

    def _parts(self, kept: Sequence[Tensor]) -> list[Part]:
        """What is told of weights, of updates, of slots and of states, which lie one behind another."""
        n, n_slots = len(self.variables), len(self.slots)
        parts = []
        if "weight" in self.kinds:
            parts.append(Part(0, n))
        if "update" in self.kinds:
            parts.append(Part(0, n, kept, n + n_slots + len(self.states) if is_under_xla() else None))
        if self.slots:
            parts.append(Part(n, n_slots))
        if self.states:
            parts.append(Part(n + n_slots, len(self.states)))
        return parts


def _placed(found: Tensor, places: Sequence[int], default: Any) -> Tensor:
    """The rows of ``default`` with those at ``places`` replaced by the rows found."""
    if list(places) == list(range(len(default))):
        return found
    order = np.arange(len(default))
    order[list(places)] = len(default) + np.arange(len(places))
    return tf.gather(tf.concat([tf.constant(default), found], 0), order)


def _end_to_end(*blocks: Any) -> Tensor:
    """Tensors and arrays as one vector; a constant where all are arrays."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return tf.constant(np.concatenate([block.ravel() for block in blocks]))
    return tf.concat([tf.reshape(block, [-1]) for block in blocks], 0)


def _some(gradients: Sequence[Any]) -> list[Tensor]:
    """One of the gradients that are there: the last, which arrives first."""
    found = [gradient for gradient in gradients if gradient is not None][-1:]
    return [getattr(gradient, "values", gradient) for gradient in found]


def _missing(n: int) -> Any:
    """The block of ``n`` gradients that are None: all NaN, ``n_elements`` 0."""
    rows = np.full((n, len(STATISTICS)), np.nan, np.float32)
    rows[:, _N_ELEMENTS] = 0
    return rows


def _find_length(slips: Sequence[Mapping[str, Any]]) -> int | None:
    """How long the sequences are whose padding is looked for, 0 where that is not known; None where none is."""
    told = [slip[key] for key in ("end_of", "n_steps") for slip in slips if key in slip]
    return next(iter(told), None)


def _size(variable: Any) -> int:
    return int(np.prod(variable.shape))


def _run(apply: Callable[[], Any]) -> Tensor:
    apply()
    return tf.constant(0)


def resource_of(variable: Any) -> Any:
    """The `tf.Variable` behind a Keras variable, or the variable itself."""
    return variable.value if hasattr(variable, "path") and not isinstance(variable, tf.Variable) else variable


def _counter(name: str, value: int) -> Any:
    return create_untraced(lambda: tf.Variable(value, dtype=tf.int64, trainable=False, name=name))
