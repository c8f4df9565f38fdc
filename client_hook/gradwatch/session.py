"""`watch` and `Watch`: ties probe, reader and sender together, from ``watch()`` to ``close()``."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import itertools
import secrets
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np
import tensorflow as tf

from gradwatch import __version__, legacy
from gradwatch.adding import Added, Adding
from gradwatch.assigned import Assignments
from gradwatch.by_hand import ByHand, Given, HandWritten
from gradwatch.cadence import Cadence
from gradwatch.callback import Callbacks, is_dismissed
from gradwatch.columns import ColumnLog
from gradwatch.deferred import DeferredReplay
from gradwatch.distribution import (
    ReducedStream,
    Replica,
    Step,
    Streams,
    UnsupportedStrategyError,
    agree_on_run,
    check_skipping,
    find_replica,
    find_strategy,
    find_worker,
    is_further_replica,
    record_replica,
)
from gradwatch.eager import Backward, EagerReplay
from gradwatch.ending import WANTED_ERRORS, Ending
from gradwatch.errors import ConfigurationError, NonFiniteError, ServerError, ServerTimeoutError, TrainingStoppedError
from gradwatch.governor import Governor
from gradwatch.heard import Drawn, Ear, Pattern, Picked
from gradwatch.intake import Entered, Intake
from gradwatch.interception import active_observers, add_observer, remove_observer
from gradwatch.layer import LayerProbe
from gradwatch.operation import Operation, describe_operations, find_operations
from gradwatch.optimizer import find_slots, read_treatment
from gradwatch.origin import find_source, source_of
from gradwatch.plan import Control, Plan
from gradwatch.probe import Before, Beside, Clock, StepScalars, Stream, resource_of
from gradwatch.reader import LoggedValue, Reader, ScalarLog
from gradwatch.replay import Replay
from gradwatch.ring import create_untraced
from gradwatch.script import files_near, find_script, is_assigned, is_to_train
from gradwatch.sender import Sender
from gradwatch.settings import CAPTURED_KINDS, Settings, resolve
from gradwatch.slips.graph.cuts import find_cuts
from gradwatch.slips.graph.opposed import is_opposed
from gradwatch.slips.graph.penalty import added_losses
from gradwatch.slips.graph.undropped import dropouts_of
from gradwatch.slips.in_graph import find_in_graph
from gradwatch.slips.in_script import find_in_models, find_in_script
from gradwatch.slips.script.maskless import Masks
from gradwatch.slips.script.outside import outside_layers
from gradwatch.spool import Spool, spool_path
from gradwatch.statistic import apart, layer_row
from gradwatch.sums import are_from_tape, cleared_from, find_sums
from gradwatch.surroundings import find_cell, find_crash, is_imported_by_worker
from gradwatch.tap import Tap, Tapped, Taps, captured_handles, captured_variables, enclosing_graphs, is_visible
from gradwatch.tape import Taken, TapeLog, insert_left_out
from gradwatch.target import (
    LooseVariables,
    are_variables,
    copies_as_made,
    describe_environment,
    describe_targets,
    frozen_as_made,
    has_frozen,
    is_read,
    layer_paths,
    left_as_made,
    module_paths,
    name_of,
    optimizer_settings,
    path_of,
    running_momenta,
    running_states,
    sort_targets,
    trainable_variables,
    untracked_variables,
    walk,
)
from gradwatch.traced import TRACED_MAX, Traced, find_frozen, find_traced
from gradwatch.way import find_learned
from gradwatch.within import Function, find_functions
from gradwatch.witness import Trained, Witness, count_iterations, sample_weights
from gradwatch.xla import is_under_xla

__all__ = ["Watch", "watch"]

VERDICT_TIMEOUT_S: Final = 3.0
CLOSE_TIMEOUT_S: Final = 5.0
BEGINNING_STEPS: Final = 20
"""Of another run, at the most, to be trained side by side with this one: not before it, as what is fine-tuned is."""
OPTIMIZERS_MAX: Final = 12
"""That an eager loop gives the same variables to: a new one in each step is a mistake, and told by then."""
Finding = dict[str, Any]
Callback = TypeVar("Callback", bound=Callable[[Finding], object])
StreamType = TypeVar("StreamType", bound=Stream)
Found = TypeVar("Found")


def watch(
    *targets: Any,
    name: str | None = None,
    project: str = "default",
    config: Mapping[str, Any] | None = None,
    tags: Iterable[str] | str = (),
    url: str | None = None,
    token: str | None = None,
    every: int = 1,
    capture: Iterable[str] | str = CAPTURED_KINDS,
    on_nonfinite: str = "record",
    budget: float = 0.02,
) -> Watch:
    """Watches the gradients of a training, live: the one line.

    A run lasts from ``watch()`` to `Watch.close`, the end of the process, or the end of the models: it goes on over as
    many calls of ``fit`` as there are, counting steps on. For a run of its own for each, watch again before each (that
    ends the run before), or write ``with gradwatch.watch(model): model.fit(...)``. Another process is another run.

    Call it before the training function is first called. ``fit`` is traced anew where it was traced already; a
    `tf.function` of your own keeps its old graph, and that is said.

    In a notebook a cell that fails or is interrupted leaves the run going: train on, or run the cell again, which
    begins a new run. Processes that a watched training starts, by fork or by spawn, are not watched and send nothing.

    Args:
        *targets: Keras models (compiled or not), layers and optimizers, one or several, of Keras 3 or of Keras 2
            (``tf_keras``), any `tf.Module`, and each `tf.Variable`, alone or in a list. A model alone is enough in a
            custom loop too: its optimizer is known by the variables it applies, and a loop that assigns the weights
            itself by the gradients that it asks a tape for. Layers that a module holds when it is watched are looked
            at as a model's are.
        name: the run's name; made from the model's name by default.
        project: the project that the run belongs to (``GRADWATCH_PROJECT``).
        config: what you want to compare runs by, e.g. ``{"batch_size": 64}``.
        tags: words to find the run by.
        url: the server's address (``GRADWATCH_URL``, by default http://127.0.0.1:8470).
        token: the server's token, if it has one (``GRADWATCH_TOKEN``).
        every: take full statistics at most every so many steps. The norm and the non-finite counts of every
            gradient are taken at every step.
        capture: the kinds to capture, of ``gradient``, ``weight``, ``update``, ``operation``; always with ``gradient``.
        on_nonfinite: at a step with a non-finite gradient: ``"record"`` it; ``"skip"`` the update, leaving weights and
            optimizer as they are; or ``"raise"`` `gradwatch.NonFiniteError` in the training thread.
        budget: the share of step time that full statistics may cost; they are thinned to keep it. 0: never thinned.

    Returns:
        The `Watch`; closing it is never needed, the end of the process does it.

    Raises:
        TargetError: a target is none of these, or a model has nothing to train.
        ConfigurationError: another argument or environment variable has a value that cannot be used.
    """
    settings = resolve(
        name=name,
        project=project,
        config=config,
        tags=tags,
        url=url,
        token=token,
        every=every,
        capture=capture,
        on_nonfinite=on_nonfinite,
        budget=budget,
    )
    if is_imported_by_worker():
        settings = dataclasses.replace(settings, is_disabled=True)
    return Watch(targets, settings)


class Watch:
    """One run being watched. Made by `watch`; a context manager.

    Attributes:
        run_id: the run's id.
        url: the run's page.
    """

    def __init__(self, targets: Sequence[Any], settings: Settings) -> None:
        self._settings = settings
        models, optimizers, modules = sort_targets(targets)
        self._loose = [module for module in modules if isinstance(module, LooseVariables)]
        named = [target for target in targets if not are_variables(target)]
        self._subject = " and ".join(repr(name_of(one)) for one in (*named, *self._loose))
        # Weakly: a run must not keep a model that its user has done with.
        self._model_refs = [weakref.ref(model) for model in models]
        self._optimizer_refs = [weakref.ref(optimizer) for optimizer in optimizers]
        self._module_refs = [weakref.ref(module) for module in modules]
        strategy = find_strategy((*models, *optimizers, *modules))
        if settings.on_nonfinite == "skip":
            check_skipping(strategy)
        self.run_id = time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)
        self._worker = 0
        if not settings.is_disabled:
            self._join(strategy)
        self.url = f"{settings.url}/runs/{self.run_id}"
        self._lock = threading.RLock()
        self._is_closed = settings.is_disabled
        self._failures: list[str] = []
        self._findings: list[Finding] = []
        self._callbacks = Callbacks(_say)
        self._began_at = time.time()
        if settings.is_disabled:
            return
        self._open(settings)

    def _join(self, strategy: Any) -> None:
        """Under a multi-worker strategy all workers speak for one run."""
        worker = find_worker(strategy)
        if worker is None:
            return
        self._worker = worker
        try:
            self.run_id = agree_on_run(self.run_id, worker)
        except Exception as error:  # the boundary: a run of its own harms no training
            reason = str(error).splitlines()[0]
            _say(f"worker {worker} was not told the chief's run ({reason}), and is a run of its own: {self.run_id}")

    def _open(self, settings: Settings) -> None:
        self._cell = find_cell()
        for other in active_observers():
            if isinstance(other, Watch) and other.shares_targets(self):
                _say(f"run {other.run_id} watched the same objects and is closed; a new run begins")
                other.close()
            elif isinstance(other, Watch) and other.is_repeated_by(self):
                _say(f"run {other.run_id} was begun by this cell and is closed; a new run begins")
                other.close()
            elif isinstance(other, Watch) and self._shared_with(other):
                _say(f"run {other.run_id} watches some of the same layers; to have both in one: gradwatch.watch(a, b)")
        self._clock = Clock()
        self._clocks = {0: self._clock}  # of this process' replicas: no step waits for another device's
        self._cadence = Cadence(settings.every)
        self._taps = Taps()
        self._layers = LayerProbe(
            models=lambda: self._models,
            taps=self._taps,
            cadence=self._cadence,
            clock=self._clock,
            place=lambda: self._ear.n_operations,
            kinds=[kind for kind in settings.capture if kind in ("activation", "backprop")],
        )
        self._intake = Intake(lambda: self._models, lambda: layer_paths(self._models))
        self._columns = ColumnLog(self._cadence)
        self._streams: list[Stream] = []
        self._stream_of: dict[tuple[int, tuple[int, ...]], Stream] = {}
        self._own_streams: dict[int, dict[tuple[int, tuple[int, ...]], Stream]] = {}  # by replica
        self._labels: dict[tuple[int, tuple[int, ...]], str] = {}
        self._kept: list[Any] = []
        self._tapes = TapeLog()
        self._hand = HandWritten()
        self._by_hand = ByHand(partial(self._claims, self._hand), self._begin_by_hand, self._complain)
        self._adding = Adding(partial(self._claims, self._hand), self._clock, lambda: layer_paths(self._models))
        self._masks = Masks()
        self._ear = Ear()
        self._heard: set[int] = set()
        self._noted = threading.local()  # the loss of the step that a thread is in
        self._samples: dict[int, list[Any]] = {}
        self._witness = Witness(self._find_trained, _say)
        self._ending = Ending(lambda: self._models, self._clock.read)
        self._applied_graphs: weakref.WeakSet[Any] = weakref.WeakSet()
        self._scalar_log = ScalarLog()
        self._spool = Spool(spool_path(settings.directory, self.run_id, self._worker))
        self._sender = Sender(
            url=settings.url,
            token=settings.token,
            run=self._describe(),
            worker=self._worker,
            spool=self._spool,
            on_findings=self._take_findings,
            on_notice=_say,
            on_control=self._take_control,
        )
        self._reader = Reader(
            streams=self._streams,
            log=self._scalar_log,
            columns=self._columns,
            put=self._sender.put,
            plan=Plan(settings.every, settings.capture, Governor(settings.budget)),
            cadence=self._cadence,
            clock=self._clock.read,
            delivery_s=lambda: self._sender.busy_s,
            on_nonfinite=self._meet_nonfinite,
            on_error=partial(self._fail, "reading its statistics"),
            look_around=self._look_around,
        )
        self._forget_traces()
        add_observer(self, self._holders, self._optimizers)
        self._sender.start()
        self._reader.start()
        atexit.register(self._close_at_exit)
        _say(f"watching {self._subject} · {self.url}")

    def __enter__(self) -> Watch:
        """The watch itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        """Closes the run: finished, or crashed with the error."""
        self.close(error)

    @property
    def is_closed(self) -> bool:
        """Whether the run is over (or was disabled by ``GRADWATCH_DISABLED=1``)."""
        return self._is_closed

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def log(self, **scalars: Any) -> None:
        """Adds scalars to the step: ``watch.log(loss=loss)``.

        In a `tf.function` the values are tensors, taken at every execution; outside, tensors or Python numbers.
        Called after the optimizer's ``apply`` they belong to the step just applied, before it to the coming one.
        Of the replicas of a `tf.distribute` strategy the first one's values are taken; log what you have reduced.

        Args:
            **scalars: name=value; a value with more than one element is averaged.

        Raises:
            ConfigurationError: a value that is no number.
        """
        if self._is_closed or is_further_replica():
            return
        for name, value in scalars.items():
            if tf.executing_eagerly():
                self._log_eagerly(name, value)
            else:
                self._log_in_graph(name, value)

    def findings(self, timeout_s: float = 10.0) -> list[Finding]:
        """The server's findings, after it has seen every step trained so far.

        Args:
            timeout_s: how long to wait for the server's word, in seconds.

        Returns:
            Findings as in the JSON of ``GET /api/runs/ID/findings``, the leading one first; empty for a healthy run.

        Raises:
            ServerTimeoutError: the server did not answer in time (none is running, or it is too slow).
            ServerError: the server refused the run.
        """
        if self._is_closed:
            return list(self._findings)
        self._reader.read()
        found: list[Finding] = self._sender.wait_for_findings(timeout_s)
        return found

    def on_finding(self, callback: Callback) -> Callback:
        """Has a function called with each finding when the server reports it; a decorator too: ``@watch.on_finding``.

        It is called once for each finding, and once more if a warning becomes critical; those known already come first.
        It is not called when a finding is over, nor for what was dismissed at the dashboard. The calls come one after
        the other from a thread of the hook's own, never from the training's; what the function raises is said once, and
        training goes on. `close` waits up to 5 s for calls that are due. Without a server nothing is reported.

        Args:
            callback: takes a finding as in the JSON of ``GET /api/runs/ID/findings``, a copy of its own.

        Returns:
            The function itself.

        Raises:
            ConfigurationError: it cannot be called.
        """
        if not callable(callback):
            raise ConfigurationError("on_finding", callback, "a function that takes a finding")
        if not self._is_closed:
            self._callbacks.add(callback)
        return callback

    def close(self, error: BaseException | None = None) -> None:
        """Ends the run, delivers what waits, says the verdict in one line and restores every class. Idempotent.

        Args:
            error: what ended the training, if it crashed.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        remove_observer(self)
        atexit.unregister(self._close_at_exit)
        try:
            self._by_hand.end()
        except Exception as failed:  # the boundary: the hook must not harm training
            self._fail("reading the last training step", failed)
        self._ear.close()
        self._forget_traces()
        self._reader.close()
        self._sender.put(self._state(error))
        verdict = self._verdict()
        self._sender.close(CLOSE_TIMEOUT_S if self._sender.is_connected else 0.5)
        self._callbacks.close(CLOSE_TIMEOUT_S)
        _say(verdict)

    def _state(self, error: BaseException | None) -> dict[str, Any]:
        """The ``state`` message of the run's end."""
        reason = self._ending.reason
        if reason is not None and (error is None or isinstance(error, TrainingStoppedError)):
            state, text = "finished", f"Stopped by a person: {reason}"
        elif error is None:
            state, text = "finished", None
        else:
            state, text = "crashed", f"{type(error).__name__}: {error}"
        return {
            "type": "state",
            "state": state,
            "error": None if text is None else text[:4000],
            "last_step": self._reader.last_step,
        }

    def disown(self) -> None:
        """Makes this a watch that does nothing, in a process forked from the one that is watched."""
        self._is_closed = True
        self._ear.close()
        self._lock = threading.RLock()  # a thread that was not forked may hold the old one
        atexit.unregister(self._close_at_exit)

    @property
    def _models(self) -> list[Any]:
        """The models to watch, those that still exist."""
        return [model for ref in self._model_refs if (model := ref()) is not None]

    @property
    def _optimizers(self) -> list[Any]:
        return [optimizer for ref in self._optimizer_refs if (optimizer := ref()) is not None]

    @property
    def _modules(self) -> list[Any]:
        """What holds variables to train and is nothing of Keras'."""
        return [module for ref in self._module_refs if (module := ref()) is not None]

    @property
    def _holders(self) -> list[Any]:
        """What holds the variables that are trained: modules and models."""
        return [*self._modules, *self._models]

    @property
    def _targets(self) -> list[Any]:
        """What is watched, loose variables one by one."""
        loose = [variable for module in self._loose for variable in module.variables]
        return [*(one for one in self._holders if one not in self._loose), *loose, *self._optimizers]

    def is_repeated_by(self, other: Watch) -> bool:
        """Whether the same line of a notebook, run again, begins another run, after this one has been trained."""
        if other._cell is None or not other._cell.repeats(self._cell):
            return False
        self._reader.read()
        return self._reader.n_steps > 0

    def shares_targets(self, other: Watch) -> bool:
        """Whether both watch one of the same objects."""
        mine = set(map(id, self._targets))
        return any(id(target) in mine for target in other._targets)

    def _shared_with(self, other: Watch) -> list[str]:
        """The paths of layers with something to train that the models of both have."""
        try:
            own = set(map(id, walk(self._models)))
            return [path_of(one) for one in walk(other._models) if id(one) in own and one.variables]
        except Exception as error:  # the boundary: a layer may not have its weights yet
            self._fail("looking at what another run watches", error)
            return []

    def claims(self, optimizer: Any, variables: Sequence[Any]) -> bool:
        """Whether an optimizer that applies these variables belongs to what is watched."""
        try:
            return self._claims(optimizer, variables)
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("finding whose step it is", error)
            return False

    def _claims(self, optimizer: Any, variables: Sequence[Any]) -> bool:
        if self._is_target(optimizer):
            return True
        for model in self._holders:
            if getattr(model, "optimizer", None) is optimizer:
                return True
            own = {id(variable) for variable in trainable_variables(model)}
            if any(id(variable) in own for variable in variables):
                return True
        return False

    def enter_layer(self, layer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A layer is about to be called, with these arguments; what is returned goes to `leave_layer`."""
        try:
            self._ear.enter_layer(layer)
            if self._captures_inputs:
                n_rows, whole = self._intake.note_call(layer, args, kwargs), self._ear.whole
                if n_rows is not None and whole is not None:
                    whole.sketch.n_rows = n_rows
            return self._layers.enter(layer), self._masks.enter(layer, args, kwargs)
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("looking at a layer", error)
            return None

    def leave_layer(self, layer: Any, entered: Any, output: Any) -> None:
        """A layer was called, and gave an output (None if it raised)."""
        try:
            self._ear.leave_layer(layer)
            before, masked = (None, None) if entered is None else entered
            self._layers.leave(layer, before, output)
            self._masks.leave(masked, output)
            if self._captures_inputs:
                self._intake.note_output(layer, output, is_drawn=self._ear.whole is not None)
        except Exception as error:  # likewise
            self._fail("looking at a layer's output", error)

    def enter_applied(self, variable: tf.Variable) -> bool:
        """Somebody is about to assign a variable: whether that is a part of a step which no optimizer applies.

        Raises:
            NonFiniteError: as `record` does, where such a step begins.
            TrainingStoppedError: likewise.
        """
        try:
            return self._by_hand.enter(variable)
        except WANTED_ERRORS:
            raise
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("looking at a weight that is assigned", error)
            return False

    def leave_applied(self, variable: tf.Variable) -> None:
        """A variable was assigned, as such a part."""
        try:
            self._by_hand.leave(variable)
        except Exception as error:  # likewise
            self._fail("reading the training step", error)

    def enter_assign(self, variable: tf.Variable) -> Callable[[], None] | None:
        """Somebody is about to assign a variable; what is returned is called when that is done."""
        try:
            entered = (stream.assignments.enter(variable) for stream in self._streams if stream.assignments is not None)
            leaving = [leave for leave in entered if leave is not None]
        except Exception as error:  # likewise
            self._fail("looking at a weight that is assigned", error)
            return None
        return partial(self._leave_assign, leaving) if leaving else None

    def note_traced_assign(self, variable: tf.Variable, op: Any) -> None:
        """Somebody assigns a variable in a graph, by an operation."""
        try:
            for stream in self._streams:
                if stream.assignments is not None:
                    stream.assignments.note_traced(variable, op)
            self._adding.note_traced(variable, op)
            for stream in self._streams:
                stream.replays.extend(replay for _, replay in self._adding.take(stream.variables))
        except Exception as error:  # likewise
            self._fail("looking at a weight that is assigned in a graph", error)

    def _leave_assign(self, leaving: Sequence[Callable[[], None]]) -> None:
        try:
            for leave in leaving:
                leave()
        except Exception as error:  # likewise
            self._fail("looking at a weight that was assigned", error)

    def sources(self, asked: Any) -> list[tuple[Tap, Any]]:
        """Tensors whose gradient is wanted too where the user asks a tape for these gradients."""
        try:
            return self._layers.sources(_resources(asked))
        except Exception as error:  # likewise
            self._fail("finding the layers' outputs", error)
            return []

    def note_scaled(self, loss: Any, scaled: Any) -> None:
        """Keeps what an optimizer's scaled loss is made of, for the tape that is asked to differentiate it."""
        self._tapes.note_scaled(loss, scaled)

    def enter_tape(self) -> None:
        """A tape is about to record: what runs eagerly from here on may be a step."""
        try:
            self._by_hand.end()
            if self.captures_operations:
                self._ear.enter(self._is_unheard, self._find_patterns)
        except Exception as error:  # likewise
            self._fail("listening to a step", error)

    def note_other(self) -> None:
        """Another training has applied a step: what comes is no part of it."""
        self._ear.end()

    def _is_unheard(self) -> bool:
        """Whether there is something to train of which no step was heard; a model may not have its weights yet."""
        try:
            trained = itertools.chain.from_iterable(trainable_variables(one) for one in self._holders)
            return not self._heard or any(id(one) not in self._heard for one in (*trained, *self._optimizers))
        except Exception as error:  # the boundary: any object may be a model's attribute
            self._fail("looking at what is trained", error)
            return False

    def _find_patterns(self) -> list[Pattern]:
        return [wanted for stream in self._streams if (wanted := stream.next_pattern()) is not None]

    def note_asked(self, target: Any, sources: Any, gradients: Any, backward: Backward | None) -> None:
        """Keeps what a loop of the user's own asks a tape for, and what it got, for the ``apply`` that follows."""
        try:
            if any(isinstance(one, tf.Variable) for one in _resources(sources)):
                self._ear.note_asked()
            self._tapes.note(target, sources, gradients, backward)
            self._by_hand.note_asked(target, sources, gradients)
            if self.captures_operations:
                self._adding.note_asked(target, sources, gradients)
        except Exception as error:  # likewise
            self._fail("looking at a tape's gradients", error)

    def note_jacobian(self, target: Any, sources: Any, jacobian: Any) -> None:
        """Keeps what a loop asks the gradients of each sample of, for the ``apply`` of what it makes of them."""
        try:
            if not any(isinstance(one, tf.Variable) for one in _resources(sources)):
                return
            with apart():
                means = [tf.reduce_mean(one) for one in tf.nest.flatten(target) if one.dtype.is_floating]
            self._tapes.note(means, sources, jacobian, None)
        except Exception as error:  # likewise
            self._fail("looking at a tape's Jacobian", error)

    def _trained(self) -> dict[str, Any]:
        """All that the watched models train now, by path; without what several variables are called."""
        every = {id(one): one for owner in self._holders for one in trainable_variables(owner)}
        paths = dict(zip(every, self._paths(every.values()), strict=True))
        n_named = Counter(paths.values())
        return {path: every[key] for key, path in paths.items() if n_named[path] == 1}

    def _paths(self, variables: Iterable[Any]) -> list[str]:
        """What variables are called: by Keras, by the attributes of the modules that hold them, else by TensorFlow."""
        held = module_paths(self._modules)
        return [held.get(id(one)) or str(getattr(one, "path", None) or one.name).split(":")[0] for one in variables]

    def note_gradients(self, sources: Sequence[tuple[Tap, Any]], gradients: Sequence[Any], asked: Any) -> None:
        """The gradients of what `sources` gave, in its order; None where a tensor is not connected."""
        try:
            self._layers.note_gradients(sources, gradients, _resources(asked))
        except Exception as error:  # likewise
            self._fail("looking at a layer's gradient", error)

    def note_loss(self, model: Any, loss: Any) -> None:
        """Keeps the loss that a watched model just computed, for the ``apply`` that follows."""
        if any(model is target for target in self._models) or self._is_target(getattr(model, "optimizer", None)):
            self._noted.loss = loss

    def note_batch(self, model: Any, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Takes note of what a watched model computed its loss from, for the ``apply`` that follows."""
        try:
            is_mine = any(model is one for one in self._models) or self._is_target(getattr(model, "optimizer", None))
            if is_mine and self._captures_inputs:
                self._intake.note_step(x, y, y_pred, sample_weight)
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("looking at the batch", error)

    def note_validation(self, model: Any, results: Mapping[str, Any]) -> None:
        """Logs what ``fit`` has measured of a watched model: ``val_loss`` and its like."""
        try:
            if any(model is one for one in self._models) or self._is_target(getattr(model, "optimizer", None)):
                self.log(**{f"val_{name}": value for name, value in results.items() if np.ndim(value) == 0})
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("reading the validation", error)

    def note_targets(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Takes note of what a loss is about to be computed from."""
        try:
            if self._captures_inputs:
                self._intake.note_loss(y, y_pred, sample_weight)
        except Exception as error:  # likewise
            self._fail("looking at the targets", error)

    @property
    def captures_operations(self) -> bool:
        """Whether single operations are looked at."""
        return "operation" in self._settings.capture

    @property
    def _captures_inputs(self) -> bool:
        return "input" in self._settings.capture

    def _is_target(self, optimizer: Any) -> bool:
        # Keras wraps an optimizer by itself where it scales the loss: the user knows the inner one.
        known = (optimizer, getattr(optimizer, "inner_optimizer", optimizer))
        return any(one is target for one in known for target in self._optimizers)

    def record(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], apply: Callable[[], Any]
    ) -> Any:
        """Runs ``apply`` with one step recorded around it; whatever fails in recording, ``apply`` runs once.

        Raises:
            NonFiniteError: ``on_nonfinite="raise"``, and an earlier step of an eager training was not finite.
            TrainingStoppedError: a person stopped an eager training.
        """
        self._by_hand.refuse(variables)
        with self._ear.applying(self._is_unheard):
            return self._record(optimizer, gradients, variables, apply)

    def _record(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], apply: Callable[[], Any]
    ) -> Any:
        self._ending.check(is_eager=tf.executing_eagerly())
        try:
            sums = find_sums(gradients) if _key_of(optimizer, variables) not in self._stream_of else frozenset()
            gradients = _as_tensors(gradients)
            replica = find_replica()
        except UnsupportedStrategyError as error:
            self._complain(str(error))
            return apply()
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("reading the training step", error)
            return apply()
        if replica is not None:
            return self._record_replica(replica, optimizer, gradients, variables, apply)
        if self._is_one_too_many(optimizer, variables):
            return apply()
        begun = self._begin(optimizer, gradients, variables, sums)
        if begun is None:
            return apply()
        stream, before = begun
        result = stream.conditionally(before, apply) if stream.skips_nonfinite else apply()
        self._end(stream, before)
        return result

    def _begin(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], sums: frozenset[int]
    ) -> tuple[Stream, Before] | None:
        """Records what there is of a step before it is applied; None where that fails."""
        self._ending.thread_id = threading.get_ident()  # a replica's thread is not the training's
        try:
            _build(optimizer, variables)
            scalars = self._step_scalars(optimizer, variables)
            taken = self._tapes.take(variables, gradients)
            loss = taken.loss if scalars.loss is None else scalars.loss
            drawn, picked = self._read_heard(optimizer, gradients, variables, loss)
            functions = self._look_within(variables, loss, drawn)
            tapped_taps, tapped = self._taps.take(frozenset(map(id, _resources(variables))))
            self._layers.forget()
            entered = self._take_entered(gradients, scalars, variables, drawn=drawn, picked=picked)
            taps = [*(entry.tap for entry in entered.entries), *tapped_taps]
            added = self._adding.take(variables)
            self._adding.forget(variables)
            stream = self._stream(
                optimizer,
                variables,
                gradients,
                scalars,
                loss=loss,
                drawn=drawn,
                taps=taps,
                entered=entered,
                functions=functions,
                left_out=taken.left_out,
                sums=sums,
                made=[*self._layers.take_made(variables), *_exchanged(taken.strangers)],
                added=[one for one, _ in added],
            )
            stream.replays.extend(replay for _, replay in added)
            told = _with_loss_of_tape(scalars, taken)
            stream.has_loss_of_tape |= told is not scalars
            if tf.executing_eagerly():
                rows = [*self._columns.record(stream, entered.entries), *tapped, *_rows_of(picked)]
                beside = Beside(tapped=rows, picked=picked, compared=entered.compared)
                before = stream.before(gradients, told, beside)
                self._note_backwards(stream, taken.backwards, loss, before)
            else:
                beside = Beside(
                    tapped=tapped,
                    batch=self._columns.enter(stream, entered.entries),
                    compared=entered.compared,
                    loss=None if loss is told.loss else loss,
                    repeat=self._replay(stream, gradients, loss),
                )
                before = stream.before(gradients, told, beside)
        except WANTED_ERRORS:  # ours, which the user asked for, arriving while we are here
            raise
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("reading the training step", error)
            return None
        return stream, before

    def _end(self, stream: Stream, before: Before) -> None:
        """Records what there is of a step after it was applied."""
        try:
            stream.after(before)
            self._applied_graphs.update(enclosing_graphs())
        except WANTED_ERRORS:
            raise
        except Exception as error:  # likewise
            self._fail("reading the training step", error)

    def _begin_by_hand(self, given: Given) -> Callable[[], None] | None:
        """Records a step that no optimizer applies; what is returned ends it. None where that fails."""
        if tf.distribute.has_strategy():
            self._complain("weights that the script assigns itself are not captured under a tf.distribute strategy")
            return None
        if self._settings.on_nonfinite == "skip":
            self._complain(
                "on_nonfinite='skip' cannot keep the script from assigning weights itself", "steps are recorded"
            )
        self._ending.check(is_eager=tf.executing_eagerly())
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._ear.applying(self._is_unheard))
            begun = self._begin(self._hand, _as_tensors(given.gradients), given.variables, frozenset())
            if begun is None:
                return None
            stack.callback(self._end, *begun)
            return stack.pop_all().close

    def _take_entered(
        self, gradients: Sequence[Any], scalars: StepScalars, variables: Sequence[Any], **heard: Any
    ) -> Entered:
        return self._intake.take(gradients, scalars.loss, variables, **heard) if self._captures_inputs else Entered()

    def _read_heard(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], loss: Any
    ) -> tuple[Drawn | None, Picked | None]:
        """The step that is about to be applied, if it is the first that was heard whole; of another, what is picked."""
        known, whole = self._stream_of.get(_key_of(optimizer, variables)), self._ear.whole
        if whole is not None:
            self._heard |= set(map(id, (optimizer, *variables)))
        try:
            drawn = None if whole is None or known is not None else whole.draw(gradients, loss)
            return drawn, None if known is None else self._ear.pick(known.next_pattern())
        except Exception as error:  # the boundary: any code may have been heard
            self._fail("looking at an eager step", error)
            return None, None

    def _is_one_too_many(self, optimizer: Any, variables: Sequence[Any]) -> bool:
        """Whether an eager loop makes a new optimizer for its steps: to follow one more costs a second."""
        key = _key_of(optimizer, variables)
        if not tf.executing_eagerly() or key in self._stream_of:
            return False
        n_known = sum(variable_ids == key[1] for _, variable_ids in self._stream_of)
        if n_known < OPTIMIZERS_MAX:
            return False
        self._complain(
            f"optimizers found for the same variables: {n_known} so far, and another; expected one that is made once, "
            "before the loop",
            then="training goes on, unwatched from here",
        )
        return True

    def _record_replica(
        self,
        replica: Replica,
        optimizer: Any,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        apply: Callable[[], Any],
    ) -> Any:
        """What `record` does in each replica of a mirrored strategy."""
        if self._settings.on_nonfinite == "skip":
            self._complain("on_nonfinite='skip' cannot be done under this tf.distribute strategy", "steps are recorded")
        scalars = None
        is_loss_of_tape, left_out = False, frozenset[int]()
        try:
            _build(optimizer, variables)
            known = self._step_scalars(optimizer, variables)
            taken = self._tapes.take(variables)
            told = _with_loss_of_tape(known, taken)
            is_loss_of_tape, left_out = told is not known, taken.left_out
            scalars = replica.unscale(told)
        except Exception as error:  # the boundary: the hook must not harm training
            self._fail("reading the training step", error)
        loss = None if scalars is None else scalars.loss
        stream = partial(
            self._replica_stream,
            replica=replica,
            optimizer=optimizer,
            variables=variables,
            left_out=left_out,
            is_loss_of_tape=is_loss_of_tape,
        )
        streams = Streams(
            own=lambda: stream(Stream, operations=partial(self._operations, gradients, loss)),
            reduced=lambda: stream(ReducedStream, operations=tuple),
        )
        fail = partial(self._fail, "reading a replica's step")
        result = record_replica(replica, streams, Step(gradients, variables, scalars), apply, fail)
        self._applied_graphs.update(enclosing_graphs())
        return result

    def _replica_stream(
        self,
        kind: type[StreamType],
        *,
        replica: Replica,
        optimizer: Any,
        variables: Sequence[Any],
        left_out: Set[int],
        is_loss_of_tape: bool,
        operations: Callable[[], Sequence[Operation]],
    ) -> StreamType:
        """The stream of what is applied (`ReducedStream`), or of a replica's own gradients."""
        number = replica.number if kind is Stream and replica.count > 1 else None
        known = self._stream_of if number is None else self._own_streams.setdefault(number, {})
        key = _key_of(optimizer, variables)
        kinds = ("gradient",) if number is not None else ("gradient", "weight", "update")
        with self._lock:
            if key not in known:
                clock = self._clocks.setdefault(replica.index, self._clock if replica.is_first else Clock())
                found, names, is_left_out = self._with_left_out(variables, left_out if number is None else frozenset())
                stream = kind(
                    index=len(self._streams),
                    optimizer=self._label(key, optimizer, variables) + ("" if number is None else f"@replica_{number}"),
                    variables=[replica.own(variable) for variable in found],
                    is_left_out=is_left_out,
                    setup=self._setup(optimizer, variables, names) if number is None else None,
                    names=names,
                    kinds=[kind for kind in self._settings.capture if kind in kinds],
                    taps=(),
                    taken=frozenset(),
                    operations=operations(),
                    clock=clock,
                    cadence=self._cadence,
                    skips_nonfinite=False,
                    follows=_followed(key, known),
                    replica=number,
                )
                self._keep(stream, key, known, [optimizer, *variables])
            known[key].has_loss_of_tape |= is_loss_of_tape
            return known[key]  # type: ignore[return-value]

    def _stream(
        self,
        optimizer: Any,
        variables: Sequence[Any],
        gradients: Sequence[Any],
        scalars: StepScalars,
        *,
        loss: Any,
        drawn: Drawn | None,
        taps: Sequence[Tap],
        entered: Entered,
        functions: Mapping[Tap, Any],
        left_out: Set[int],
        sums: frozenset[int],
        made: Sequence[dict[str, Any]],
        added: Sequence[Added],
    ) -> Stream:
        key = _key_of(optimizer, variables)
        traced = self._traced()
        pairs = entered.compared.pairs
        outputs = [pair.output for pair in pairs]
        of_scalars = scalars.loss
        if drawn is not None:
            gradients, loss, of_scalars = drawn.gradients, drawn.loss, drawn.loss
            outputs = list(map(drawn.sketch.find, outputs))
        with self._lock:
            if key not in self._stream_of:
                found, names, is_left_out = self._with_left_out(variables, left_out)
                followed = _followed(key, self._stream_of)
                # A loss scale that meets an overflow skips the update by itself, and must hear of it to come down.
                skips = self._settings.on_nonfinite == "skip" and not scalars.treatment.skips_nonfinite
                skips &= optimizer is not self._hand
                computed = (added[-1].of(variables), added[-1].loss) if added else (gradients, loss)
                slips = self._slips(made, variables, found, *computed, outputs)
                states, untaught, left, copied = self._all_states(variables, found, followed, drawn, loss)
                risky = self._risky(gradients, of_scalars)
                named = zip(pairs, outputs, strict=True)
                opposed = {slip["name"] for slip in slips["slips"] if "opposes" in slip}
                stream = Stream(
                    index=len(self._streams),
                    optimizer=self._label(key, optimizer, variables),
                    variables=found,
                    is_left_out=is_left_out,
                    setup=self._setup(optimizer, variables, names)
                    | {"broken": self._broken(found, names), "eager": tf.executing_eagerly()}
                    | {"from_tape": optimizer is self._hand or are_from_tape(gradients)}
                    | {"loss_source": find_source(loss) if tf.is_symbolic_tensor(loss) else None}
                    | {"cleared_source": cleared_from(sums)}
                    | slips,
                    names=names,
                    kinds=[kind for kind in self._settings.capture if kind in ("gradient", "weight", "update")],
                    taps=taps,
                    correlated=[pair.name for pair, output in named if not is_opposed(output, opposed)],
                    heads={one.name: head for one in pairs if (head := self._layers.name_of(one.output))},
                    is_fitted=not has_frozen(self._models),
                    taken={(tap.kind, tap.tensor) for other in self._streams for tap in other.taps},
                    operations=describe_operations(risky, layer_paths(self._models)),
                    clock=self._clock,
                    cadence=self._cadence,
                    skips_nonfinite=skips,
                    slots=find_slots(optimizer, found) if "slot" in self._settings.capture else (),
                    momenta=running_momenta(self._owners(variables)),
                    states=states,
                    untaught=untaught,
                    left=left,
                    copied=copied,
                    sums=sums,
                    traced=traced,
                    follows=followed,
                )
                if drawn is not None and (whole := self._ear.whole) is not None:
                    pattern = whole.describe(risky, *entered.drawn, functions, n_tapes=self._ear.n_tapes)
                    stream.pattern = pattern if pattern.numbers else None
                stream.assignments = Assignments(stream.variables, self._clock.read)
                self._keep(stream, key, self._stream_of, [optimizer, *variables])
            if not tf.executing_eagerly():
                self._stream_of[key].note_trace(traced)
            return self._stream_of[key]

    def _with_left_out(self, variables: Sequence[Any], ids: Set[int]) -> tuple[list[Any], list[str], list[bool]]:
        """The variables that are applied with those that are left out, their names, and whether each is left out."""
        return insert_left_out(variables, self._names(variables), ids, self._trained() if ids else {})

    def _owners(self, variables: Sequence[Any]) -> list[Any]:
        """The watched models that train some of these variables."""
        ids = set(map(id, variables))
        return [model for model in self._models if ids.intersection(map(id, trainable_variables(model)))]

    def _setup(self, optimizer: Any, variables: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
        """How this training is set up, beside its tensors: as in the ``tensors`` message of the protocol."""
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        settings = {"class": type(inner).__name__, **optimizer_settings(inner)}
        untracked = self._untracked(variables)
        return {
            "untrained": self._untrained(variables, names),
            "untracked": untracked,
            "script": self._script(inner, variables, settings, untracked),
            "settings": {key: value for key, value in settings.items() if 0 < len(str(value)) <= 200},
        }

    def _script(
        self, optimizer: Any, variables: Sequence[Any], settings: Mapping[str, Any], untracked: Sequence[str]
    ) -> dict[str, Any]:
        """Where the user's own code makes what is trained."""
        try:
            return find_script(self._owners(variables), optimizer, settings, untracked)
        except Exception as error:  # the boundary: it is any code that is looked into
            self._fail("looking for the calls that made the model", error)
            return {}

    def _broken(self, variables: Sequence[Any], names: Sequence[str]) -> list[str] | None:
        """Names of those that hold a NaN or an Inf before they are trained; None where that is not known."""
        try:
            with tf.init_scope():
                values = [resource_of(variable).read_value() for variable in variables]
                finite = [bool(tf.reduce_all(tf.math.is_finite(value))) for value in values]
        except Exception:  # one that is not made yet, or of a type that is always finite
            return None
        return [name for name, is_finite in zip(names, finite, strict=True) if not is_finite]

    def _untrained(self, variables: Sequence[Any], names: Sequence[str]) -> list[str]:
        """Names of what the models that train these variables could train too, and no stream has."""
        taken = {*names, *(name for stream in self._streams for name in stream.names)}
        found = [one for model in self._owners(variables) for one in trainable_variables(model)]
        return [path for path in dict.fromkeys(self._paths(found)) if path not in taken]

    def _untracked(self, variables: Sequence[Any]) -> list[str]:
        """Names of what layers of the models that train these variables hold unknown to Keras, and no optimizer has."""
        try:
            found = untracked_variables(self._owners(variables), partial(is_to_train, files_near(self._models)))
        except Exception as error:  # the boundary: any object may be a layer's attribute
            self._fail("looking for variables that Keras does not train", error)
            return []
        given = set(map(id, map(resource_of, variables)))
        given |= {id(one) for stream in self._streams for one in stream.variables}
        return [name for name, variable in found.items() if id(variable) not in given]

    def _all_states(
        self, variables: Sequence[Any], found: Sequence[Any], followed: Stream | None, drawn: Drawn | None, loss: Any
    ) -> list[dict[str, Any]]:
        """What is told of weights that the step does not train: `Stream`'s states, untaught, left and copied."""
        finds = (
            running_states,
            self._find_untaught,
            partial(self._find_left, found, loss),
            partial(self._find_copies, found),
        )
        with contextlib.nullcontext() if drawn is None else drawn.sketch.graph.as_default():
            return [self._states(variables, find, followed) for find in finds]

    def _states(
        self, variables: Sequence[Any], find: Callable[..., dict[str, Any]], followed: Stream | None
    ) -> dict[str, Any]:
        """What layers keep beside what is trained, each in one stream only, or in that which follows it.

        Of replicas each has its own, so none is told.
        """
        if tf.distribute.in_cross_replica_context() or tf.distribute.get_strategy().num_replicas_in_sync > 1:
            return {}
        taken = {path for stream in self._streams if stream is not followed for path in stream.states}
        return {path: variable for path, variable in find(self._owners(variables)).items() if path not in taken}

    def _find_untaught(self, models: Sequence[Any]) -> dict[str, Any]:
        """Weights of frozen layers that nothing has moved; of models that this step reads."""
        try:
            read = captured_handles()
            others = [one for one in self._models if one not in models and not trainable_variables(one)]
            return frozen_as_made([*models, *(one for one in others if is_read(one.variables, read))])
        except Exception as error:  # the boundary: any object may be a layer's attribute
            self._fail("looking for what nothing trains", error)
            return {}

    def _find_left(self, variables: Sequence[Any], loss: Any, models: Sequence[Any]) -> dict[str, Any]:
        """The same of layers that could be trained, and no optimizer is given, of models that this step reads."""
        try:
            read, given = captured_handles(), [*variables, *self._kept]
            files = files_near(self._models)

            def is_learned(name: str, variable: Any) -> bool:
                return _has_gradient(variable, loss) and not is_assigned(files, name)

            is_meant = partial(is_to_train, files)
            find = partial(left_as_made, given=given, read=read, is_learned=is_learned, is_meant=is_meant)
            found = find(models)
            # A model of which nothing is given is trained by an optimizer of its own later in a step, or by none.
            # One of the same shapes is a copy of what is trained.
            trained = [[tuple(variable.shape) for variable in one.variables] for one in models]
            for one in self._models if models else ():
                if one not in models and [tuple(variable.shape) for variable in one.variables] not in trained:
                    found |= find([one], are_whole=True)
            outside = (one for one in outside_layers(models) if _is_taught(one, loss))
            return found | find(list(outside))
        except Exception as error:  # the boundary: any object may be a layer's attribute
            self._fail("looking for what no optimizer is given", error)
            return {}

    def _find_copies(self, variables: Sequence[Any], models: Sequence[Any]) -> dict[str, Any]:
        """Weights of another model, which this step reads: a copy of what it trains, as both are made.

        Of several models one may have a copy alone: what a predictor (BYOL) is put on is copied without it.
        """
        try:
            known = set(map(id, map(resource_of, [*variables, *(one for model in models for one in model.variables)])))
            others = [one for one in captured_variables() if id(one) not in known]
            found = copies_as_made(variables, running_states(models), others)
            for model in () if found else models:
                held = set(map(id, map(resource_of, model.variables)))
                own = [one for one in variables if id(resource_of(one)) in held]
                found |= copies_as_made(own, running_states([model]), others) if own else {}
            return found
        except Exception as error:  # the boundary: any object may be captured
            self._fail("looking for copies of what is trained", error)
            return {}

    def _label(self, key: Any, optimizer: Any, variables: Sequence[Any]) -> str:
        """The optimizer's name, with that of the model it trains or a number where the run has the name already."""
        if key not in self._labels:
            name, owners = name_of(optimizer), map(name_of, self._owners(variables))
            details = itertools.chain(owners, map(str, itertools.count(2)))
            labels = itertools.chain([name], (f"{name} ({detail})" for detail in details))
            self._labels[key] = next(label for label in labels if label not in self._labels.values())
        return self._labels[key]

    def _keep(self, stream: Stream, key: Any, known: dict[Any, Stream], named: Sequence[Any]) -> None:
        # The optimizer and variables are kept, so that their ids stay theirs.
        known[key] = stream
        self._kept += named
        self._streams.append(stream)

    def _operations(self, gradients: Sequence[Any], loss: Any) -> list[Operation]:
        return describe_operations(self._risky(gradients, loss), layer_paths(self._models))

    def _risky(self, gradients: Sequence[Any], loss: Any) -> list[Any]:
        """The risky operations of the step being traced, or drawn; of another eager step there is no graph."""
        some = [one for one in (*gradients, loss) if one is not None]
        is_graph = all(tf.is_symbolic_tensor(getattr(one, "values", one)) for one in some)
        return find_operations(gradients, loss) if self.captures_operations and is_graph else []

    def _slips(self, made: Sequence[dict[str, Any]], *step: Any) -> dict[str, Any]:
        """The slips of a step, in its graph or eagerly ``made``, and of the models; the rest as `_graph` has it."""
        files = self._tried("the user's files", lambda: files_near(self._models))
        found = {"slips": []} | self._graph(*step, files=files)
        fed = find_in_script(files, self._models, partial(self._tried, "what feeds the training"))
        # What the graph has told of already.
        if any("unread" in one for one in found["slips"]):
            fed = [one for one in fed if "unread" not in one]
        told = [one["source"] for one in found.get("reshapes", ())]
        fed = [one for one in fed if "after" not in one or one["source"] not in told]
        lost = self._tried("the masks of padding", lambda: self._masks.take(files))
        tried = partial(self._tried, "what the models are built of")
        built = [*find_in_models(self._models, files, tried), *tried(self._find_players)]
        return found | {"slips": [*made, *found["slips"], *built, *lost, *fed]}

    def _find_players(self) -> list[dict[str, Any]]:
        """Layers that another run trains against this one's: it watches them too, and both have just begun."""
        runs = [one for one in active_observers() if isinstance(one, Watch)]
        if any(one._reader.n_steps >= BEGINNING_STEPS for one in runs):
            return []
        shared = {one.run_id: self._shared_with(one) for one in runs if one is not self}
        place = {"type": "Watch", "layer": "", "source": None}
        return [{**place, "name": run_id, "opposes": paths} for run_id, paths in shared.items() if paths]

    def _tried(self, where: str, find: Callable[[], Iterable[Found]]) -> list[Found]:
        """What is found somewhere; nothing where looking fails, as any code may be read and any object be a layer."""
        try:
            return list(find())
        except Exception as error:
            self._fail(f"looking at {where}", error)
            return []

    def _graph(
        self,
        variables: Sequence[Any],
        found: Sequence[Any],
        gradients: Sequence[Any],
        loss: Any,
        outputs: Sequence[Any] = (),
        *,
        files: Sequence[str],
    ) -> dict[str, Any]:
        """Where shapes slip and gradients end in the step being traced; a part of the ``tensors`` message.

        Args:
            variables: what the optimizer is given.
            found: these and what is left out.
            gradients: of what is given.
            loss: what they were asked of, or None.
            outputs: what is compared with targets.
            files: the user's files that are looked at.
        """
        is_drawn = not tf.executing_eagerly() if loss is None else tf.is_symbolic_tensor(loss)
        if not self.captures_operations or not is_drawn:
            return {}
        reached = {id(one) for one, gradient in zip(variables, gradients, strict=True) if gradient is not None}
        try:
            paths = layer_paths(self._models)
            missing = {int(resource_of(one).handle._id) for one in found if id(one) not in reached}
            trained = {int(resource_of(one).handle._id) for one in variables}
            regularised = (one for one in variables if getattr(one, "regularizer", None) is not None)
            penalised = {int(resource_of(one).handle._id): str(one.path) for one in regularised}
            added = added_losses(self._models, set(map(id, variables)), files)
            return {
                **find_in_graph(
                    gradients,
                    loss,
                    paths,
                    outputs,
                    trained,
                    penalised=penalised,
                    added=added,
                    models=self._models,
                    dropouts=dropouts_of(self._models, trained),
                    files=files,
                    tried=partial(self._tried, "the step's graph"),
                ),
                "cuts": find_cuts(missing, trained, loss, paths),
            }
        except Exception as error:  # the boundary
            self._fail("looking for slips in the step", error)
            return {}

    def _look_within(self, variables: Sequence[Any], loss: Any, drawn: Drawn | None) -> dict[Tap, Any]:
        find = partial(self._find_functions, variables, loss if drawn is None else drawn.loss)
        return self._layers.look_within(find, None if drawn is None else drawn.sketch)

    def _find_functions(self, variables: Sequence[Any], loss: Any, tapped: Set[int]) -> list[Function]:
        """The activation functions that the user's own code calls in the step being traced."""
        try:
            handles = {int(resource_of(one).handle._id) for one in variables}
            learned = find_learned(handles, loss if tf.is_symbolic_tensor(loss) else None)
            return find_functions(list(learned), layer_paths(self._models), tapped)
        except Exception as error:  # the boundary
            self._fail("looking for functions in the step", error)
            return []

    def _traced(self) -> list[Traced]:
        """The numbers of Python's that the step being traced goes on with; eagerly each step takes them anew."""
        if tf.executing_eagerly():
            return []
        try:
            frozen = find_frozen(self._models, files_near(self._models), self._is_trained)
            return [*frozen, *find_traced(self._models)][:TRACED_MAX]
        except Exception as error:  # the boundary: it is any code that is looked into
            self._fail("looking at the step's own code", error)
            return []

    def _is_trained(self, layer: Any) -> bool:
        """Whether any optimizer is given a variable of a layer."""
        given = {id(one) for stream in self._streams for one in stream.variables}
        return any(id(resource_of(one)) in given for one in layer.trainable_weights)

    def _replay(self, stream: Stream, gradients: Sequence[Any], loss: Any) -> Callable[[Any, Any], Any] | None:
        """What lets a bad step of the graph being traced tell which operation it began with."""
        if not self.captures_operations:
            return None
        try:
            replay = self._create_replay(stream, gradients, loss)
        except Exception as error:  # the boundary; the step itself is recorded without it
            self._fail("preparing to compute a bad step again", error)
            return None
        if not replay.is_possible:
            return None

        def record(step: Any, is_bad: Any) -> Any:
            try:
                is_kept = replay.record(step, is_bad)
                stream.replays.append(replay)
            except Exception as error:  # likewise
                self._fail("preparing to compute a bad step again", error)
                return None
            return is_kept

        return record

    def _create_replay(self, stream: Stream, gradients: Sequence[Any], loss: Any) -> Replay:
        paths = layer_paths(self._models)
        if not is_under_xla():
            return Replay(gradients, loss, paths)
        return DeferredReplay(
            gradients,
            loss,
            paths,
            kept=stream.kept,
            trained=[resource_of(one) for model in self._models for one in trainable_variables(model)],
            on_error=partial(self._fail, "computing a bad step again"),
        )

    def _note_backwards(self, stream: Stream, backwards: Sequence[Backward], loss: Any, before: Before) -> None:
        """Lets a bad step that runs eagerly tell which operation it began with."""
        if not self.captures_operations or not backwards:
            return
        replay = next((one for one in stream.replays if isinstance(one, EagerReplay)), None)
        if replay is None:
            replay = EagerReplay(layer_paths(self._models))
            stream.replays.append(replay)
        replay.record(before.step, before.is_finite, loss, backwards, self._ear.whole)

    def _names(self, variables: Sequence[Any]) -> list[str]:
        names: list[str] = []
        for path in self._paths(variables):
            n, unique = 1, path
            while unique in names:
                n += 1
                unique = f"{path} ({n})"
            names.append(unique)
        return names

    def _step_scalars(self, optimizer: Any, variables: Sequence[Any]) -> StepScalars:
        if legacy.is_optimizer(optimizer):
            rate, scale = legacy.learning_rate(optimizer), legacy.loss_scale(optimizer)
        else:  # one made of several optimizers has no rate of its own
            rate, scale = getattr(optimizer, "learning_rate", None), getattr(optimizer, "dynamic_scale", None)
        loss, self._noted.loss = getattr(self._noted, "loss", None), None
        return StepScalars(
            loss=loss if is_visible(loss) else None,
            learning_rate=None if rate is None else tf.cast(tf.convert_to_tensor(rate), tf.float32),
            loss_scale=None if scale is None else tf.cast(tf.convert_to_tensor(scale), tf.float32),
            treatment=read_treatment(optimizer, variables),
        )

    def _log_eagerly(self, name: str, value: Any) -> None:
        with tf.init_scope():  # no trace that is under way may turn what is kept for the reader into symbols
            # The step is read as a tensor, not waited for: the device may still be computing it.
            with apart():
                step = self._clock.step.read_value()
            logged = LoggedValue(name, _as_number(name, value), step, time.time())
        self._scalar_log.add(logged)

    def _log_in_graph(self, name: str, value: Any) -> None:
        is_after = any(graph in self._applied_graphs for graph in enclosing_graphs())
        step = self._clock.step.read_value() + (0 if is_after else 1)
        value = tf.reduce_mean(tf.cast(tf.convert_to_tensor(value), tf.float32))
        self._scalar_log.ring(name).write(step, tf.reshape(value, [1]))

    def _take_findings(self, findings: list[Finding]) -> None:
        self._findings = findings
        self._callbacks.take(findings)

    def _meet_nonfinite(self, stream: Stream, step: int, tensor: str) -> None:
        if self._settings.on_nonfinite != "raise":
            return
        words = f"the gradient of {tensor} ({stream.optimizer}) became non-finite at step {step}"
        with contextlib.suppress(ServerError, ServerTimeoutError):
            self._sender.wait_for_findings(1.0)
            if standing := self._standing():
                words = str(standing[0].get("title") or words)
        if not self._is_closed:
            self._ending.fail(NonFiniteError(f"{words}. See {self.url}"))

    def _take_control(self, message: Mapping[str, Any]) -> None:
        """What a person asks for; in the sender's thread."""
        control = Control.of(dict(message))
        self._reader.ask(control)
        if control.stop is not None:
            _say(f"a person stops the training: {control.stop}")
            self._ending.ask(control.stop)

    def leave_fit(self) -> None:
        """A ``fit`` has come back; if a person ended it, that was the run."""
        if self._ending.reason is not None:
            self.close()

    def _look_around(self) -> None:
        """Now and then, in the reader's thread: is the model still there, is all its training seen?"""
        self._ending.insist()
        if (self._model_refs and not self._models) or self._ending.is_over:
            # Not a daemon: the interpreter waits for what is still to be delivered. The reader cannot wait for itself.
            threading.Thread(target=self.close, name="gradwatch-close").start()
        elif not self._failures:
            try:
                self._witness.look()
            except Exception as error:  # the boundary: the hook must not harm training
                self._fail("looking for steps that are not seen", error)

    def _find_trained(self) -> list[Trained]:
        """What training changes, and how much of it was recorded."""
        with self._lock:
            streams = list(self._stream_of.items())
        if not self._model_refs and not self._module_refs:
            n_rows = sum(stream.ring.n_read for _, stream in streams)
            return [Trained(id(one), name_of(one), count_iterations(one), n_rows) for one in self._optimizers]
        found = []
        for model in self._holders:
            sample = self._samples[id(model)] = self._samples.get(id(model)) or sample_weights(model)
            own = {id(variable) for variable in sample}
            n_rows = sum(stream.ring.n_read for (_, ids), stream in streams if own.intersection(ids))
            mark = b"".join(variable.numpy().tobytes() for variable in sample) or None
            found.append(Trained(id(model), name_of(model), mark, n_rows))
        return found

    def _fail(self, doing: str, error: Exception) -> None:
        self._complain(f"{doing} failed: {type(error).__name__}: {error}".splitlines()[0])

    def _complain(self, text: str, then: str = "training goes on, unwatched where this happens") -> None:
        if text not in self._failures:
            self._failures.append(text)
            _say(f"{text} · {then}")

    def _forget_traces(self) -> None:
        """Lets `fit` trace its step anew: with the hook's ops after ``watch()``, without them after ``close()``."""
        for model in self._models:
            if getattr(model, "train_function", None) is not None:
                # Made anew at once, not at the next `fit`: we may be in the middle of one, in a callback.
                model.make_train_function(force=True)

    def _verdict(self) -> str:
        steps = f"{self._reader.last_step + 1:,} steps"
        if self._reader.n_steps == 0 and self._failures:
            return "no training step was recorded, for the reason given before"
        if self._reader.n_steps == 0:
            return (
                "no training step was seen. Call gradwatch.watch(...) before the training function is first called; "
                "a tf.function that was traced before keeps its old graph. Steps are seen where an optimizer applies "
                "them, or where weights are assigned whose gradients a tape was asked for"
            )
        try:
            self._findings = self._sender.wait_for_findings(VERDICT_TIMEOUT_S if self._sender.is_connected else 0.0)
        except (ServerError, ServerTimeoutError):
            return f"{steps}; no verdict, for no server answered at {self._settings.url}"
        standing = self._standing()
        if not standing:
            dismissed = f", {len(self._findings)} dismissed" if self._findings else ""
            return f"healthy{dismissed} · {steps} · {self.url}"
        leading = standing[0]
        what = f"{leading.get('severity', 'finding')}: {leading.get('title', leading.get('kind'))}"
        return f"{what} · {steps} · {self.url}"

    def _standing(self) -> list[Finding]:
        """The findings that nobody dismissed."""
        return [finding for finding in self._findings if not is_dismissed(finding)]

    def _close_at_exit(self) -> None:
        self.close(find_crash())

    def _describe(self) -> dict[str, Any]:
        first = [*self._holders, *self._optimizers][0]
        return {
            "run_id": self.run_id,
            "name": self._settings.name or name_of(first),
            "project": self._settings.project,
            "tags": list(self._settings.tags),
            "config": {**describe_targets(self._holders, self._optimizers), **self._settings.config},
            "started_at": self._began_at,
            "environment": describe_environment(__version__),
        }


def _has_gradient(variable: Any, loss: Any) -> bool:
    """Whether a loss of the step being traced, or drawn, has a gradient for a `tf.Variable`."""
    if not tf.is_symbolic_tensor(loss):
        return False
    return any(op is loss.op for op in find_learned({int(variable.handle._id)}, loss))


def _is_taught(layer: Any, loss: Any) -> bool:
    """Whether a loss has a gradient for any weight of a layer."""
    return any(_has_gradient(resource_of(one), loss) for one in layer.trainable_variables)


def _resources(asked: Any) -> list[Any]:
    """What a tape or an optimizer is given, in one list, each the `tf.Variable` where it is one."""
    return [resource_of(one) for one in tf.nest.flatten(asked)]


def _as_tensors(gradients: Sequence[Any]) -> list[Any]:
    """Gradients as tensors: sums over several steps may be handed over as the variables, or arrays, that hold them."""
    known = (type(None), tf.Tensor, tf.IndexedSlices)
    with apart():
        return [one if isinstance(one, known) else tf.convert_to_tensor(one) for one in gradients]


def _build(optimizer: Any, variables: Sequence[Any]) -> None:
    """Lets an optimizer make its own variables, as its ``apply`` would: what it does is read off them.

    Keras' own make them outside of the trace: TensorFlow traces a function again from which a variable came, and all
    that is recorded with it. But what scales the loss does so by another number once it is built, and counts on that.
    """
    if legacy.is_optimizer(optimizer) or optimizer.built:
        return
    is_plain = type(optimizer).__module__.startswith("keras.") and not hasattr(optimizer, "inner_optimizer")
    if is_plain and not tf.executing_eagerly() and not tf.distribute.has_strategy():
        create_untraced(partial(optimizer.build, list(variables)))
    else:
        optimizer.build(list(variables))


def _key_of(optimizer: Any, variables: Sequence[Any]) -> tuple[int, tuple[int, ...]]:
    """What the stream of an optimizer's variables is known by."""
    return id(optimizer), tuple(id(variable) for variable in variables)


def _followed(key: Any, known: Mapping[Any, Stream]) -> Stream | None:
    """A stream that trains some of the same variables: a step of one is no part of a step of the other."""
    return next((stream for other, stream in known.items() if set(key[1]) & set(other[1])), None)


def _rows_of(picked: Picked | None) -> list[Tapped]:
    """The rows of what the user's own code took functions of in an eager step."""
    if picked is None:
        return []
    with apart():
        rows = {tap: layer_row(one, tap.output)[tf.newaxis] for tap, one in picked.functions.items()}
    return [Tapped([(tap.kind, tap.tensor)], row) for tap, row in rows.items()]


def _exchanged(strangers: Sequence[tuple[Any, Any]]) -> list[dict[str, Any]]:
    """A slip of variables that are given others' gradients, with the line that asked for these; none for none."""
    if not strangers:
        return []
    variable, gradient = strangers[0]
    name, made = str(getattr(variable, "path", variable.name)), getattr(gradient, "values", gradient)
    place = {"layer": name.rpartition("/")[0], "source": source_of(made.op)}
    return [{"type": "Gradient", "name": name, **place, "strangers": len(strangers)}]


def _with_loss_of_tape(scalars: StepScalars, taken: Taken) -> StepScalars:
    """A loop that says nothing of its loss has asked a tape for its gradients; scaled, it would be another's."""
    if scalars.loss is not None or taken.loss is None or (scalars.loss_scale is not None and not taken.is_unscaled):
        return scalars
    return scalars._replace(loss=taken.loss)


def _as_number(name: str, value: Any) -> Any:
    """A logged value as it is now: a number, or a tensor that the device may still be computing.

    Raises:
        ConfigurationError: it is no number.
    """
    found, expected = value, "a number or a tensor"
    try:
        if tf.is_symbolic_tensor(value):
            found = f"{value.name}, a tensor of a function being traced"
            expected = "a value returned by the tf.function, or log() called within it"
        elif tf.is_tensor(value):
            value = tf.convert_to_tensor(value)
            if value.dtype.is_floating or value.dtype.is_integer or value.dtype.is_bool:
                return value
        elif isinstance(value, np.ndarray) and value.size:
            return float(np.mean(value))
        else:
            return float(value)
    except (TypeError, ValueError):
        pass
    raise ConfigurationError(f"log({name}=...)", found, expected) from None


def _say(text: str) -> None:
    """One line on the console; on stderr, so that a script's own output stays its own."""
    print(f"gradwatch: {text}", file=sys.stderr, flush=True)  # noqa: T201 the hook's few lines for its user
