"""Brings a running training to an end between two of its steps: a gradient broke, or a person asked for it.

Owns the ways in which that is done: the model's own ``stop_training`` while a ``fit`` runs, an error at the next step
of an eager loop, an error in the training's thread where its steps are compiled.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from gradwatch.errors import GradwatchError, NonFiniteError, TrainingStoppedError
from gradwatch.interception import find_fit

__all__ = ["WANTED_ERRORS", "Ending"]

WANTED_ERRORS: Final = (NonFiniteError, TrainingStoppedError)
"""What is raised in the training on its user's wish; nothing else of the hook's may be."""
N_QUIET_LOOKS: Final = 3


class Ending:
    """How one run's training may end before its time.

    Args:
        models: gives the watched models.
        clock: gives the newest step that has begun.

    Attributes:
        thread_id: the thread that trains.
        is_eager: whether its steps run eagerly.
        reason: why a person stopped it, None if nobody did.
    """

    def __init__(self, models: Callable[[], Sequence[Any]], clock: Callable[[], int]) -> None:
        self.thread_id = threading.get_ident()
        self.is_eager = False
        self.reason: str | None = None
        self._models, self._clock = models, clock
        self._asked_at_step = -1
        self._error: GradwatchError | None = None
        self._is_raised = False
        self._quiet_at_step, self._n_quiet_looks = -1, 0

    def check(self, *, is_eager: bool) -> None:
        """Called as a step begins, or is traced.

        Args:
            is_eager: whether it runs eagerly.

        Raises:
            NonFiniteError: an earlier step of an eager training was not finite, and that is to end it.
            TrainingStoppedError: a person stopped an eager training.
        """
        self.is_eager = is_eager
        if self._error is not None:
            self._is_raised = True
            raise self._error

    def fail(self, error: GradwatchError) -> None:
        """Ends the training with an error, wherever it is trained."""
        if self.is_eager:
            self._error = error
        else:
            _raise_in_thread(self.thread_id, error)

    def ask(self, reason: str) -> None:
        """A person asks for the end: at the next step boundary, see `insist`."""
        self._asked_at_step = self._clock()
        self.reason = reason
        self.insist()

    def insist(self) -> None:
        """Called again and again: does what a person asked for, as soon as the training is where it can be done.

        A ``fit`` begins by forgetting that it was to stop, so one word is not enough. Outside of ``fit`` the error is
        raised only once a step has begun since it was asked for: who trains no more is not disturbed.
        """
        if self.reason is None or self._is_raised:
            return
        model = find_fit(self.thread_id, self._models())
        error = TrainingStoppedError(f"training was stopped by a person: {self.reason}")
        if model is not None:
            model.stop_training = True
            self._error = None
        elif self.is_eager:
            self._error = error
        elif self._clock() > self._asked_at_step:
            self._is_raised = True
            _raise_in_thread(self.thread_id, error)

    @property
    def is_over(self) -> bool:
        """Whether a training that was ended by an error has come to rest; asked at each reading."""
        if not self._is_raised:
            return False
        step = self._clock()
        self._n_quiet_looks = self._n_quiet_looks + 1 if step == self._quiet_at_step else 0
        self._quiet_at_step = step
        return self._n_quiet_looks >= N_QUIET_LOOKS


def _raise_in_thread(thread_id: int, error: GradwatchError) -> None:
    """Raises an error in a thread at its next bytecode, as an interrupt would.

    Training inside a `tf.function` or `fit` offers no place where Python could look for news; CPython raises classes,
    not instances, so the message travels in a class of its own. Keras makes a new error of the class, with a text of
    its own around the message, where it meets one within a layer.
    """
    cls = type(error)

    def with_message(self: GradwatchError, text: str = str(error)) -> None:
        Exception.__init__(self, text)

    one = type(cls.__name__, (cls,), {"__init__": with_message, "__module__": "gradwatch"})
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(one))
