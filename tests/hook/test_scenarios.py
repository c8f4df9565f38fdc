"""The demo's sick trainings, run for real: what the hook captures of the operation that breaks, its line and its step.

Each script runs as it stands, with fewer steps and no server. What is right is told by a witness that stands within the
same training and shares nothing with the hook: it counts the non-finite elements of every gradient that an optimizer
is given.
"""

import re
import runpy
import sys

import numpy as np
import pytest
import tensorflow as tf
from keras.src.optimizers.base_optimizer import BaseOptimizer

import gradwatch
from gradwatch import session
from gradwatch_server.demo import SCENARIOS


class Witness:
    """Counts what is not finite in the gradients of each optimizer, call by call, in the graph of the step."""

    def __init__(self, n_max=1024):
        self._n_max = n_max
        self._counts, self._n = {}, {}

    def note(self, optimizer, gradients):
        counts, n = self._variables(optimizer.name)
        n_bad = tf.add_n([tf.math.count_nonzero(~tf.math.is_finite(gradient)) for gradient in gradients])
        counts.assign(tf.tensor_scatter_nd_update(counts, [[n]], [n_bad]))
        n.assign_add(1)

    def n_nonfinite(self, optimizer):
        """How many elements of the gradients were not finite, at each call of ``apply``."""
        return self._counts[optimizer].numpy()[: int(self._n[optimizer])]

    def first(self, optimizer):
        """The first call with a non-finite gradient, or None."""
        found = np.flatnonzero(self.n_nonfinite(optimizer))
        return int(found[0]) if len(found) else None

    def _variables(self, optimizer):
        if optimizer not in self._counts:
            with tf.init_scope():
                self._counts[optimizer] = tf.Variable(tf.zeros([self._n_max], tf.int64))
                self._n[optimizer] = tf.Variable(0)
        return self._counts[optimizer], self._n[optimizer]


@pytest.fixture
def play(tmp_path, monkeypatch, collectors, read):
    """Runs a scenario's script with some of its constants changed; gives what was captured, and the witness."""
    witness, begun = Witness(), []
    apply = BaseOptimizer.apply

    def noted(self, grads, trainable_variables=None):
        witness.note(self, [gradient for gradient in grads if gradient is not None])
        return apply(self, grads, trainable_variables)

    def watch(*targets, **options):
        begun.append(session.watch(*targets, **options, budget=0))
        begun[-1].collector = collectors[-1]
        return begun[-1]

    monkeypatch.setattr(BaseOptimizer, "apply", noted)
    monkeypatch.setattr(gradwatch, "watch", watch, raising=False)

    def run(name, jit, **constants):
        source = SCENARIOS[name].script.read_text(encoding="utf-8")
        for constant, value in constants.items():
            source, n_replaced = re.subn(rf"^{constant} = .*$", f"{constant} = {value}", source, flags=re.MULTILINE)
            assert n_replaced == 1, constant
        script = tmp_path / SCENARIOS[name].script.name
        script.write_text(source, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", [str(script), *(["--jit"] if jit else [])])
        runpy.run_path(str(script), run_name="__main__")
        return Captured(read(begun[-1]), script), witness

    return run


class Captured:
    """The operations of a recording, by their line in the script."""

    def __init__(self, recording, script):
        self.recording, self.script = recording, script

    def stream(self, optimizer):
        (found,) = [i for i, table in self.recording.tables.items() if table["optimizer"] == optimizer]
        return found

    def steps(self, stream):
        return self.recording.steps(stream)

    def numbers(self, stream):
        """float32 ``[n_steps, n_operations, 6]``."""
        return np.concatenate([rows["operations"] for rows in self.recording.rows[stream]])
