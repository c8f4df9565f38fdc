"""Training under `tf.distribute`: each replica's own gradients, what is applied after their reduction, whose run it is.

Under a mirrored strategy every replica calls ``apply`` in a thread of its own, with the gradients of its part of the
batch; the optimizer adds them up over all replicas and applies the sum to each replica's copy of the weights. So each
replica has a stream of its own, with its gradients before the reduction, and the first replica of a process has one
more, the optimizer's: the gradients that were applied, the weights and their updates, once.

All replicas must meet each other equally often, or the training stops: what may fail here is tried between the
meetings, never around one. Owns nothing but the reduced gradients that pass through its hands.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

import tensorflow as tf
from tensorflow.python.eager import context as eager_context

from gradwatch import statistic
from gradwatch.errors import ConfigurationError, NonFiniteError, TrainingStoppedError
from gradwatch.optimizer import unscale
from gradwatch.probe import Before, Beside, StepScalars, Stream, resource_of
from gradwatch.ring import create_untraced

__all__ = [
    "ReducedStream",
    "Replica",
    "UnsupportedStrategyError",
    "agree_on_run",
    "check_skipping",
    "find_replica",
    "find_strategy",
    "find_worker",
    "is_further_replica",
    "note_reduced",
    "record_replica",
]

AGREEMENT_TIMEOUT_S: Final = 60.0
"""How long a worker waits for the chief's run: both call ``watch()`` at the same place of the same script."""

SUPPORTED: Final = "MirroredStrategy, MultiWorkerMirroredStrategy and OneDeviceStrategy"
Tensor = Any  # tensorflow ships no types
Result = TypeVar("Result")
_MIRRORED: Final = (tf.distribute.MirroredStrategy, tf.distribute.MultiWorkerMirroredStrategy)
_reduced = threading.local()
_agreements = itertools.count()


class UnsupportedStrategyError(NotImplementedError):
    """The training runs in a way of `tf.distribute` that is not captured."""


@dataclass(frozen=True)
class Replica:
    """One replica of a mirrored strategy, the one whose code runs now.

    Attributes:
        strategy: the strategy.
        number: its number among all replicas of the run.
        index: its number among those of this process.
    """

    strategy: Any
    number: int
    index: int

    @property
    def device(self) -> str:
        """The device that it runs on."""
        return str(self.strategy.extended.worker_devices[self.index])

    @property
    def count(self) -> int:
        """Replicas of the run."""
        return int(self.strategy.num_replicas_in_sync)

    @property
    def is_first(self) -> bool:
        """Whether it is the first of this process."""
        return self.index == 0

    def unscale(self, scalars: StepScalars) -> StepScalars:
        """The loss as it were on one device: Keras divides it by the number of replicas, for gradients are added up."""
        return scalars if scalars.loss is None else scalars._replace(loss=scalars.loss * self.count)

    def own(self, variable: Any) -> Any:
        """This replica's copy of a variable: a `tf.Variable`."""
        copies = self.strategy.experimental_local_results(resource_of(variable))
        return copies[self.index] if len(copies) > self.index else copies[0]


def find_replica() -> Replica | None:
    """The replica whose code runs now; None outside `tf.distribute`, where one device is no different from none.

    Raises:
        UnsupportedStrategyError: another strategy, or an ``apply`` outside of ``strategy.run``.
    """
    if not tf.distribute.has_strategy():
        return None
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.OneDeviceStrategy):
        return None
    name = name_of_strategy(strategy)
    if not isinstance(strategy, _MIRRORED):
        raise UnsupportedStrategyError(f"training under {name} is not captured; {SUPPORTED} are")
    context = tf.distribute.get_replica_context()
    if context is None:
        raise UnsupportedStrategyError(f"an apply() outside of strategy.run(...) under {name} is not captured")
    number = int(tf.get_static_value(context.replica_id_in_sync_group))
    return Replica(strategy, number, number % len(strategy.extended.worker_devices))


def is_further_replica() -> bool:
    """Whether the code that runs now is that of a replica other than the first of its process."""
    if not tf.distribute.has_strategy() or not isinstance(tf.distribute.get_strategy(), _MIRRORED):
        return False
    if tf.distribute.in_cross_replica_context():
        return False
    replica = find_replica()
    return replica is not None and not replica.is_first


def name_of_strategy(strategy: Any) -> str:
    """The name under which a strategy is known to who made it."""
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return "MultiWorkerMirroredStrategy"
    return type(strategy).__name__.removesuffix("V2")


def find_strategy(targets: Sequence[Any]) -> Any:
    """The strategy in whose scope we are, or else the one in whose scope the targets were made; None for none."""
    if tf.distribute.has_strategy():
        return tf.distribute.get_strategy()
    for target in targets:
        for name in ("_distribute_strategy", "_distribution_strategy"):  # a model's, an optimizer's
            strategy = getattr(target, name, None)
            if strategy is not None and strategy is not tf.distribute.get_strategy():
                return strategy
    return None


def check_skipping(strategy: Any) -> None:
    """Lets pass only a strategy under which a step can be left out.

    Raises:
        ConfigurationError: the optimizer reduces the gradients, which TensorFlow allows in no conditional.
    """
    if isinstance(strategy, _MIRRORED):
        raise ConfigurationError(
            "on_nonfinite",
            "skip",
            f"'record' or 'raise' under {name_of_strategy(strategy)}, where no step can be left out",
        )


def find_worker(strategy: Any) -> int | None:
    """This process' number among the workers of a multi-worker strategy, the chief's being 0; None for a lone one."""
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return None
    resolver = strategy.cluster_resolver
    cluster = resolver.cluster_spec().as_dict() if resolver is not None else {}
    if sum(len(cluster.get(job, ())) for job in ("chief", "worker")) < 2:
        return None
    if resolver.task_type == "chief":
        return 0
    return int(resolver.task_id) + len(cluster.get("chief", ()))


def agree_on_run(run_id: str, worker: int, timeout_s: float = AGREEMENT_TIMEOUT_S) -> str:
    """The chief's run, for all workers of a multi-worker strategy.

    It travels by the key-value store of the service that such a strategy starts to coordinate its processes. No
    collective is used: where only some of the workers call ``watch()``, none of them hangs.

    Args:
        run_id: this worker's own run, used if it is the chief.
        worker: this worker.
        timeout_s: how long to wait for the chief's word, in seconds.

    Raises:
        tf.errors.OpError: the chief has not spoken in time, or there is no such service.
    """
    key = f"gradwatch/run/{next(_agreements)}"
    service = eager_context.context()
    if worker == 0:
        service.set_config_key_value(key, run_id)
        return run_id
    return str(service.get_config_key_value(key, timeout_in_ms=int(timeout_s * 1000)))


def note_reduced(original: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of the method with which a Keras optimizer reduces gradients: keeps what it gives."""
    pairs = original(optimizer, *args, **kwargs)
    if tf.distribute.has_strategy():
        _reduced.pairs = pairs
    return pairs


class Begun(NamedTuple):
    """What is known of a step before the gradients are reduced; ``is_finite``: the first replica's own are."""

    step: Tensor
    is_due: Tensor
    is_finite: Tensor
    weights: tuple[Tensor, Sequence[Tensor]]


class Applied(NamedTuple):
    """The gradients after the reduction, in the order of the variables, and the loss scale that is still on them."""

    gradients: list[Any]
    scale: Tensor | None


class ReducedStream(Stream):
    """What is applied: the gradients after the reduction, the weights and their updates."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._begin_eagerly = tf.function(self._begin)
        self._end_eagerly = tf.function(self._end, reduce_retracing=True)

    def begin(self, is_due: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        """The ops that must run before ``apply``: the weights as they are, where they are wanted."""
        run = self._begin_eagerly if tf.executing_eagerly() else self._begin
        with statistic.apart():
            weights: tuple[Tensor, Sequence[Tensor]] = run(is_due)
        return weights

    def end(self, begun: Begun, applied: Applied, scalars: StepScalars) -> None:
        """The ops that must run after ``apply``; they write the row."""
        run = self._end_eagerly if tf.executing_eagerly() else self._end
        with statistic.apart():
            run(begun, applied, scalars)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def _begin(self, is_due: Tensor) -> tuple[Tensor, Sequence[Tensor]]:
        return self._weights_before(is_due)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def _end(self, begun: Begun, applied: Applied, scalars: StepScalars) -> None:
        step, is_due, is_finite, (are_wanted, kept) = begun
        # Weights are due where they were before ``apply``; the sum may overflow where no replica's gradient did.
        block, *_ = self._gradient_block(self._dense(applied.gradients), is_due)
        measured = self._alone(unscale(block, applied.scale))
        # Keras takes the first replica's word for whether a loss scale met an overflow.
        values, flags = self._scalars(scalars, is_finite)
        self._after(Before(step, is_due, measured, is_finite, are_wanted, kept, values, flags, self._nothing_seen()))


class Step(NamedTuple):
    """A replica's step: what its ``apply`` is given, and what else is known; no scalars where they cannot be read."""

    gradients: Sequence[Any]
    variables: Sequence[Any]
    scalars: StepScalars | None


class Streams(NamedTuple):
    """The streams of a replica: its own and, of the first of a process, the optimizer's."""

    own: Callable[[], Stream]
    reduced: Callable[[], ReducedStream]


@tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
def record_replica(
    replica: Replica, streams: Streams, step: Step, apply: Callable[[], Any], fail: Callable[[Exception], None]
) -> Any:
    """Runs a replica's ``apply`` with its part of the step recorded around it.

    Args:
        replica: where we are.
        streams: makes or finds its streams.
        step: what is known of the step, the loss this replica's.
        apply: to be run once, whatever happens.
        fail: told what went wrong; must not raise.
    """
    attempt = _Attempt(replica, fail)
    if replica.count == 1:
        return _record_alone(streams, step, apply, attempt)
    scalars = step.scalars
    own = None if scalars is None else attempt(lambda: _record_own(streams.own(), step.gradients, scalars))
    told = _meet(own, None if scalars is None else scalars.loss, attempt)
    weights = None
    if replica.is_first and own is not None and told is not None:
        weights = attempt(lambda: streams.reduced().begin(told.is_due))
    _reduced.pairs = None
    result = apply()
    applied = _applied_gradients(step, attempt)
    if own is not None and told is not None and scalars is not None and weights is not None and applied is not None:
        begun = Begun(own.step, told.is_due, own.is_finite, weights)
        of_all = scalars._replace(loss=told.loss)
        attempt(lambda: streams.reduced().end(begun, applied, of_all))
    return result


def _record_alone(streams: Streams, step: Step, apply: Callable[[], Any], attempt: _Attempt) -> Any:
    """Of a single replica there is nothing to reduce: one stream has it all."""
    scalars = step.scalars
    before = None if scalars is None else attempt(lambda: streams.own().before(list(step.gradients), scalars, Beside()))
    result = apply()
    if before is not None:
        attempt(lambda: streams.own().after(before))
    return result


class _Attempt:
    """Tries something that must not harm the training; None where it failed."""

    def __init__(self, replica: Replica, fail: Callable[[Exception], None]) -> None:
        self._replica, self._fail = replica, fail

    def __call__(self, do: Callable[[], Result], *, is_own: bool = True) -> Result | None:
        """Tries ``do``, which concerns this replica alone if ``is_own``."""
        try:
            return self._outside(do) if is_own and tf.executing_eagerly() else do()
        except (NonFiniteError, TrainingStoppedError):  # the user's own wish, arriving while we are here
            raise
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail(error)
            return None

    def _outside(self, do: Callable[[], Result]) -> Result:
        """Eagerly each step is a new context of the strategy, for which a `tf.function` would be traced anew."""

        def on_device() -> Result:
            with tf.device(self._replica.device):
                return do()

        result: Result = create_untraced(on_device)
        return result


class _Told(NamedTuple):
    """What the replicas of a process tell each other before they apply."""

    is_due: Tensor
    loss: Tensor | None


def _record_own(stream: Stream, gradients: Sequence[Any], scalars: StepScalars) -> Before:
    before = stream.before(list(gradients), scalars._replace(learning_rate=None), Beside())
    stream.after(before)
    return before


def _meet(own: Before | None, loss: Tensor | None, attempt: _Attempt) -> _Told | None:
    """Whether full statistics are due to any replica of this process, and the mean of their losses.

    Without meetings (XLA on GPUs compiles each replica alone) the first replica speaks for itself.
    """
    if tf.__internal__.distribute.strategy_supports_no_merge_call():
        return None if own is None else _Told(own.is_due, loss)
    is_due = tf.constant(True) if own is None else own.is_due
    known = tf.constant(float("nan")) if loss is None else tf.reduce_mean(tf.cast(loss, tf.float32))

    def tell(strategy: Any, is_due: Any, losses: Any) -> Any:
        return attempt(
            lambda: (
                tf.reduce_any(tf.stack(strategy.experimental_local_results(is_due))),
                tf.reduce_mean(tf.stack(strategy.experimental_local_results(losses))),
            ),
            is_own=False,
        )

    met = tf.distribute.get_replica_context().merge_call(tell, args=(is_due, known))
    return None if met is None else _Told(met[0], None if loss is None else met[1])


def _applied_gradients(step: Step, attempt: _Attempt) -> Applied | None:
    pairs = getattr(_reduced, "pairs", None)
    if pairs is not None:
        found = {id(variable): gradient for gradient, variable in pairs}
        return Applied([found.get(id(resource_of(variable))) for variable in step.variables], None)
    # The optimizer reduced them where they cannot be read, as one that scales the loss does: once more, here.
    present = [gradient for gradient in step.gradients if gradient is not None]
    context = tf.distribute.get_replica_context()
    summed = attempt(lambda: iter(context.all_reduce(tf.distribute.ReduceOp.SUM, present)), is_own=False)
    if summed is None or step.scalars is None:
        return None
    sums = [None if gradient is None else next(summed) for gradient in step.gradients]
    return Applied(sums, step.scalars.treatment.scale)
