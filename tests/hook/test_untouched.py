"""What the hook leaves behind: nothing. In classes, in files, in graphs, in the numbers of the training."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.patch import MethodPatch, defining_classes
from tests.hook import training
from tests.hook.test_capture import X, Y, adam, compiled, fit
from tests.hook.training import LOSS

ROOT = Path(__file__).parents[2]


class OwnOptimizer(keras.optimizers.SGD):
    """Overrides the method that the hook wraps."""

    n_calls = 0

    def apply(self, grads, trainable_variables=None):
        type(self).n_calls += 1
        return super().apply(grads, trainable_variables)


class OwnLoss(training.Subclassed):
    def compute_loss(self, **arguments):
        return super().compute_loss(**arguments)


def namespaces():
    """Every class attribute that the hook might touch, by identity."""
    optimizers = defining_classes(keras.optimizers.Optimizer, "apply")
    models = [cls for model in (keras.Model, OwnLoss, keras.Sequential) for cls in model.__mro__]
    return {(cls, name): value for cls in {*optimizers, *models} for name, value in vars(cls).items()}


def compiled_functions(function):
    """The `tf.function` objects that Keras' training function closes over."""
    if hasattr(function, "pretty_printed_concrete_signatures"):
        yield function
    for cell in getattr(function, "__closure__", None) or ():
        yield from compiled_functions(cell.cell_contents)


def operations(model):
    """The names and types of the operations in the training function's graphs, those of inner functions too."""
    names = []
    for function in compiled_functions(model.train_function):
        for concrete in function._list_all_concrete_functions():
            definition = concrete.graph.as_graph_def()
            inner = [node for one in definition.library.function for node in one.node_def]
            names += [f"{node.name} {node.op}" for node in [*definition.node, *inner]]
    return names


def test_close_restores_every_class(watch):
    before = namespaces()
    watched = watch(compiled(OwnLoss(), OwnOptimizer(0.1)))
    assert namespaces() != before
    watched.close()
    assert namespaces() == before


def test_classes_are_restored_when_the_last_watch_ends(watch):
    before = namespaces()
    watches = [watch(training.sequential()), watch(training.functional()), watch(OwnOptimizer(0.1))]
    for watched in watches:
        assert namespaces() != before
        watched.close()
    assert namespaces() == before


def test_an_own_apply_is_called_once_for_each_step_and_recorded_once(watch, read):
    model = training.sequential()
    OwnOptimizer.n_calls = 0
    optimizer = OwnOptimizer(0.1)
    watched = watch(compiled(model, optimizer, run_eagerly=True))
    fit(model)
    assert OwnOptimizer.n_calls == 8
    assert read(watched).steps() == list(range(8))


def test_a_wrapper_put_over_ours_is_left_alone():
    class Target:
        def apply(self):
            return "original"

    patch = MethodPatch("apply", lambda original, self: "wrapped " + original(self))
    patch.install([Target])
    assert Target().apply() == "wrapped original"
    ours = Target.apply
    Target.apply = lambda self: "theirs over " + ours(self)
    patch.restore()
    assert Target().apply() == "theirs over wrapped original"


def test_next_fit_after_close_has_no_operation_of_the_hook(watch):
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    fit(model)
    assert any("gradwatch" in name for name in operations(model))
    watched.close()
    fit(model)
    assert operations(model)
    assert not any("gradwatch" in name for name in operations(model))


def test_no_operation_in_the_graph_runs_on_the_host(watch):
    """They fail or lie under XLA."""
    model = compiled(training.sequential(), adam())
    watch(model)
    fit(model)
    host = ("pyfunc", "eagerpyfunc", "print", "checknumerics", "summary", "numpyfunction")
    assert not [name for name in operations(model) if any(word in name.lower() for word in host)]


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_what_is_saved_holds_nothing_of_the_hook(watch, tmp_path):
    paths = []
    for is_watched in (False, True):
        keras.utils.set_random_seed(1)
        model = compiled(training.sequential(), keras.optimizers.Adam(0.01, name="adam"))
        if is_watched:
            watch(model)
        fit(model)
        paths.append(tmp_path / f"{is_watched}.keras")
        model.save(paths[-1])
        assert "gradwatch" not in json.dumps(model.get_config(), default=str)
        assert "gradwatch" not in json.dumps(model.optimizer.get_config(), default=str)
        assert b"gradwatch" not in pickle.dumps(model.optimizer.get_config())
        assert b"gradwatch" not in pickle.dumps(model)
        assert not any("gradwatch" in name for name in (*vars(model), *vars(model.optimizer)))
        assert b"gradwatch" not in paths[-1].read_bytes()
        clone = keras.models.clone_model(model)
        assert [v.path for v in clone.trainable_variables] == [v.path for v in model.trainable_variables]
    plain, watched = (keras.models.load_model(path) for path in paths)
    for a, b in zip(plain.get_weights(), watched.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_optimizer_of_a_custom_loop_is_built_as_without_the_hook(watch):
    """The names of its variables are the keys under which checkpoints keep them."""
    paths = []
    for is_watched in (False, True):
        model, optimizer = training.sequential(), keras.optimizers.Adam(0.01, name="mine")
        if is_watched:
            watch(model)

        @tf.function
        def step(x, y, model=model, optimizer=optimizer):
            with tf.GradientTape() as tape:
                loss = LOSS(y, model(x))
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

        step(X[:16], Y[:16])
        paths.append([variable.path for variable in optimizer.variables])
    assert paths[0] == paths[1]


def test_results_of_fit_and_apply_are_handed_through(watch):
    model, optimizer = training.sequential(), adam()
    watch(model)
    gradients = [tf.zeros_like(variable) for variable in model.trainable_variables]
    iterations = optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    assert int(iterations) == 1


def test_mistakes_of_the_user_stay_their_own(watch, capsys):
    """Keras' own errors come through as they are."""
    model, optimizer = training.sequential(), adam()
    watch(model)
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply([None] * 4, model.trainable_variables)
    with pytest.raises(ValueError, match=r"[Uu]nknown variable|not recognized"):
        optimizer.apply([tf.zeros([5, 8])], training.sequential().trainable_variables[:1])
    optimizer.apply([], [])
    assert int(optimizer.iterations) == 0


def test_weights_are_the_same_bit_for_bit():
    """With op determinism, in a process of its own: three kinds of model in fit, plain and under XLA, and a loop."""
    script = ROOT / "tests" / "hook" / "bitwise.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=280, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    assert len(answers) == 7
    assert all(answers.values()), {name: same for name, same in answers.items() if not same}
