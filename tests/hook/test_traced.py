"""Numbers of Python's that a compiled step goes on with as they were when it was traced."""

import gc
import importlib
import random
import sys
import time
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.traced import find_outdated, find_traced
from gradwatch_server.health.outdated import CONFIRM_ROWS
from tests.hook.diagnosis import diagnose, find_line

CAPTURE = ("gradient",)

X = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
Y = X @ np.random.default_rng(1).normal(size=(4, 1)).astype(np.float32)
N_STEPS = 60
RNG = np.random.default_rng(2)
BETA = 0.0
TABLE = np.linspace(0, 1, 5)
UNIT = 2.0


def mean_square(model, x, y):
    return tf.reduce_mean(tf.square(model(x) - y))


def shaken(x):
    return x + 0.1 * RNG.normal(size=(32, 4)).astype(np.float32)  # shaken


def with_draw(model, x, y):
    return mean_square(model, x + np.random.uniform(size=(32, 4)), y)  # with_draw


def with_generator_of_its_own(model, x, y):
    return mean_square(model, x + np.random.default_rng(0).normal(size=(32, 4)), y)  # with_generator_of_its_own


def with_choice(model, x, y):
    x = -x if random.random() < 0.5 else x  # noqa: S311 # with_choice
    return mean_square(model, x, y)


def with_draw_further_in(model, x, y):
    return mean_square(model, shaken(x), y)


def with_draw_of_tensorflow(model, x, y):
    return mean_square(model, x + tf.random.normal((32, 4)), y)


def with_draw_apart(model, x, y):
    noise = tf.numpy_function(lambda: RNG.normal(size=(32, 4)).astype(np.float32), [], tf.float32)
    return mean_square(model, x + tf.ensure_shape(noise, (32, 4)), y)


class Clock:
    """What a simulator keeps: it goes on whenever the step asks it to."""

    def __init__(self):
        self.now = 0.0

    def shift(self, x):
        self.now = self.now + 1
        return (x + 1e-3 * (self.now % 7)).astype(np.float32)  # shift


CLOCK = Clock()


@tf.numpy_function(Tout=tf.float32)
def shifted_by_the_host(x):
    return CLOCK.shift(x) + RNG.normal(size=(32, 4)).astype(np.float32)


def with_a_clock_of_the_host(model, x, y):
    return mean_square(model, tf.ensure_shape(shifted_by_the_host(x), (32, 4)), y)


def with_a_clock(model, x, y):
    CLOCK.now = CLOCK.now + 1
    return mean_square(model, x + 1e-3 * CLOCK.now, y)  # with_a_clock


def with_table(model, x, y):
    return mean_square(model, x, y) * UNIT + float(TABLE[1])


def with_beta(model, x, y):
    return mean_square(model, x, y) + BETA * tf.reduce_sum(tf.square(model.trainable_variables[0]))  # with_beta


def with_branch(model, x, y):
    if BETA > 0:  # with_branch
        return mean_square(model, x, y)
    return 2.0 * mean_square(model, x, y)


def with_beta_in_words_only(model, x, y):
    print(f"beta is {BETA}", BETA)
    return mean_square(model, x, y)


def train(watch, loss_of, between=None, n_steps=N_STEPS, **options):
    """A loop of the user's own; ``between`` is called with the step's number before each."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(1e-3)
    watched = watch(model, optimizer)

    @tf.function(**options)
    def step(x, y, _=0):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    for number in range(n_steps):
        at = number * 32 % 256
        step(X[at : at + 32], Y[at : at + 32], *([] if between is None else [between(number)]))
        time.sleep(0.01)  # rows are read every 100 ms, and say what holds then
    return watched


def told(recording):
    return [one for one in diagnose(recording).findings() if "compiled" in one.title]


def line_of(name):
    return find_line(name, sys.modules[__name__])


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"autograph": False}], ids=str)
def test_random_numbers_of_python_are_drawn_once(watch, read, options):
    (found,) = told(read(train(watch, with_draw, **options)))
    assert found.severity == "warning"
    assert "random numbers are used all the time: np.random.uniform(size=(32, 4)) was drawn once" in found.title
    assert found.source["line"] == line_of("with_draw")
    assert found.first_step == 1


@pytest.mark.parametrize("loss_of", [with_generator_of_its_own, with_choice])
def test_other_ways_to_draw(watch, read, loss_of):
    (found,) = told(read(train(watch, loss_of)))
    assert found.source["line"] == line_of(loss_of.__name__)


def test_what_the_step_calls_draws(watch, read):
    (found,) = told(read(train(watch, with_draw_further_in)))
    assert found.source["line"] == line_of("shaken")


HEALTHY = [
    with_draw_of_tensorflow,
    with_draw_apart,
    with_a_clock_of_the_host,
    with_table,
    with_beta_in_words_only,
]


@pytest.mark.parametrize("loss_of", HEALTHY)
def test_what_is_well(watch, read, loss_of):
    assert told(read(train(watch, loss_of))) == []


def test_a_step_that_is_traced_each_time_draws_each_time(watch, read):
    assert told(read(train(watch, with_draw, between=lambda number: number, n_steps=CONFIRM_ROWS + 5))) == []


@pytest.mark.parametrize("loss_of", [with_beta, with_branch])
def test_a_number_that_changes_later(watch, read, monkeypatch, loss_of):
    def change(number):
        monkeypatch.setattr(sys.modules[__name__], "BETA", number / N_STEPS)
        return 0

    (found,) = told(read(train(watch, loss_of, between=change)))
    assert found.title.startswith("The step goes on with BETA = 0: ")
    assert found.source["line"] == line_of(loss_of.__name__)


def test_a_number_that_others_change_and_no_host_reads(watch, read, monkeypatch):
    def change(number):
        monkeypatch.setattr(CLOCK, "now", float(number))
        return 0

    (found,) = told(read(train(watch, with_a_clock, between=change)))
    assert found.source["line"] == line_of("with_a_clock")


def test_a_number_that_changes_with_a_new_trace(watch, read, monkeypatch):
    def change(number):
        monkeypatch.setattr(sys.modules[__name__], "BETA", number // 30 / 2)
        return number // 30

    assert told(read(train(watch, with_beta, between=change))) == []


def test_a_number_that_stays(watch, read):
    assert told(read(train(watch, with_beta))) == []


class Penalized(keras.Model):
    """Its penalty grows, as those of variational autoencoders do."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.beta = 0.0
        self.gamma = 0.5

    def call(self, inputs):
        return self.dense(inputs)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            penalty = tf.reduce_sum(tf.square(self.dense.kernel)) * self.gamma
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y)) + self.beta * penalty  # penalized
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        time.sleep(0)
        return {"loss": loss}


class Annealing(keras.callbacks.Callback):
    """Lets the penalty grow from epoch to epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta = min(1.0, epoch / 2)  # annealed

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.02)


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}], ids=str)
def test_an_attribute_that_a_callback_changes(watch, read, options):
    model = Penalized()
    model(X[:1])
    model.compile(optimizer=keras.optimizers.SGD(1e-3), **options)
    watched = watch(model)
    model.fit(X, Y, batch_size=16, epochs=4, callbacks=[Annealing()], verbose=0)
    found = told(read(watched))
    if "run_eagerly" in options:
        assert found == []
        return
    assert [one.title.partition(":")[0] for one in found] == ["The step goes on with self.beta = 0"]
    assert found[0].source["line"] == line_of("penalized")
    assert f"(test_traced.py:{line_of('annealed')})" in found[0].evidence["summary"]
    assert 8 <= found[0].first_step < 16 + 16  # rows are told of as they are read


def shaken_by_numpy(x, y):
    return x + np.random.normal(size=4), y  # shaken_by_numpy


def shaken_by_tensorflow(x, y):
    return x + tf.random.normal((4,)), y


def shaken_apart(x, y):
    noise = tf.numpy_function(np.random.normal, [], tf.float64)
    return x + tf.cast(tf.ensure_shape(noise, ()), tf.float32), y


@pytest.mark.parametrize(("shake", "n_told"), [(shaken_by_numpy, 1), (shaken_by_tensorflow, 0), (shaken_apart, 0)])
def test_what_a_pipeline_of_fit_draws(watch, read, shake, n_told):
    x = X.astype(np.float64) if shake is shaken_by_numpy else X
    data = tf.data.Dataset.from_tensor_slices((x, Y)).map(shake).batch(8).prefetch(2)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
    watched = watch(model)
    model.fit(data, epochs=2, shuffle=False, verbose=0)
    found = told(read(watched))
    assert len(found) == n_told
    assert all(one.source["line"] == line_of("shaken_by_numpy") for one in found)


SCRIPT = """
import numpy as np, tensorflow as tf

def shake(x):
    return x + np.random.normal()

data = tf.data.Dataset.range(8).map(lambda n: tf.cast(n, tf.float64)).map(shake).batch(2)

@tf.function
def step(x):
    found.extend(find_traced([]))
    return x + np.float64(1)

for batch in data:
    step(batch)
"""
LOCAL = """
import numpy as np, tensorflow as tf

def shake(x):
    return x + np.random.normal()

@tf.function
def step(x):
    found.extend(find_traced([]))
    return x + np.float64(1)

def main():
    data = tf.data.Dataset.range(8).map(lambda n: tf.cast(n, tf.float64)).map(shake).batch(2)
    for batch in data:
        step(batch)

main()
"""


@pytest.mark.parametrize("script", [SCRIPT, LOCAL], ids=["beside the step", "of what calls it"])
def test_a_pipeline_of_a_loop_draws(tmp_path, script):
    path = tmp_path / "train.py"
    path.write_text(script)
    space = {"found": [], "find_traced": find_traced}
    exec(compile(script, str(path), "exec"), space)  # noqa: S102 a script of its own, with its globals
    assert [(one.name, one.source["line"]) for one in space["found"]] == [("np.random.normal()", 5)]


ELSEWHERE = """
class Raising:
    def begin(self, settings):
        settings.weight = 0.5
"""
CONFIGURED = """
import tensorflow as tf

class Settings:
    weight, units = 0.0, 8

settings = Settings()

@tf.function
def step(x):
    found.extend(find_traced([]))
    return x * settings.weight + settings.units

step(tf.constant(1.0))
"""


def test_a_number_that_another_file_changes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "raising_elsewhere.py").write_text(ELSEWHERE)
    path = tmp_path / "train.py"
    path.write_text(CONFIGURED)
    space = {"found": [], "find_traced": find_traced}
    callbacks = importlib.import_module("raising_elsewhere")
    exec(compile(CONFIGURED, str(path), "exec"), space)  # noqa: S102 a script of its own, with its globals
    monkeypatch.delitem(sys.modules, "raising_elsewhere")
    (weight,) = space["found"]
    assert (weight.name, weight.source["line"]) == ("settings.weight", 12)
    assert (weight.changed_at["file"], weight.changed_at["line"]) == (str(tmp_path / "raising_elsewhere.py"), 4)
    assert not weight.is_outdated()
    callbacks.Raising().begin(space["settings"])
    assert weight.is_outdated()


class Trainer:
    """A step that is a method, and a `tf.function`."""

    def __init__(self, model):
        self.model, self.optimizer, self.rate = model, keras.optimizers.SGD(1e-3), 0.0
        self.rng = np.random.default_rng(0)
        self.optimizer.build(model.trainable_variables)

    def loss(self, x, y):
        return mean_square(self.model, x + self.rng.normal(size=(1, 4)), y)  # trainer

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = (1 + self.rate) * self.loss(x, y)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))


def test_a_method_knows_its_object(watch, read):
    trainer = Trainer(keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)]))
    watched = watch(trainer.model)
    for number in range(N_STEPS):
        trainer.step(X[:32], Y[:32])
        trainer.rate = number / N_STEPS
        time.sleep(0.01)
    draw, rate = sorted(told(read(watched)), key=lambda one: one.title)
    assert "self.rng.normal(size=(1, 4))" in draw.title
    assert draw.source["line"] == line_of("trainer")
    assert "self.rate = 0" in rate.title


def test_nothing_is_kept_alive():
    found = []

    def build():
        trainer = Trainer(keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)]))
        tf.function(lambda: found.extend(find_traced([])) or trainer.loss(X[:32], Y[:32]))()
        return weakref.ref(trainer)

    known = build()
    gc.collect()
    assert [one.name for one in found] == ["self.rng.normal(size=(1, 4))"]
    assert known() is None
    assert find_outdated(found) == 1


def test_code_that_cannot_be_read_says_nothing():
    space = {"tf": tf, "np": np}
    exec("def loss(x):\n    return x + np.random.normal()", space)  # noqa: S102 as of code that was typed in
    found = []
    tf.function(lambda x: found.extend(find_traced([])) or space["loss"](x), autograph=False)(1.0)
    assert found == []


def fine_tuned(watch, *, compiles, options):
    """A trunk that is frozen for a first `fit` and thawed for a second one."""
    trunk = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu")], name="trunk")
    model = keras.Sequential([keras.Input((4,)), trunk, keras.layers.Dense(1)])
    trunk.trainable = False
    model.compile(keras.optimizers.SGD(1e-3), "mse", **options)
    watched = watch(model)
    pause = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: time.sleep(0.02))
    model.fit(X, Y, batch_size=16, epochs=2, callbacks=[pause], verbose=0)
    trunk.trainable = True  # thawed
    if compiles:
        model.compile(keras.optimizers.SGD(1e-3), "mse", **options)
    model.fit(X, Y, batch_size=16, epochs=8, callbacks=[pause], verbose=0)
    return watched


@pytest.mark.parametrize("options", [{"jit_compile": False}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize("compiles", [False, True])
def test_a_layer_that_is_thawed_without_the_step_being_compiled_anew(watch, read, compiles, options):
    found = told(read(fine_tuned(watch, compiles=compiles, options=options)))
    title = "trunk is trainable again, but the compiled step still leaves it frozen"
    assert [one.title for one in found] == [title] * (not compiles)
    assert all(one.source["line"] == line_of("thawed") for one in found)
    assert all("model.compile(" in one.hypotheses[0].code for one in found)


def test_a_layer_that_another_step_trains_in_turn(watch, read):
    """As a discriminator is frozen for the generator's step, and thawed for its own."""
    judge = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)], name="judge")
    judge.compile(keras.optimizers.SGD(1e-3), "mse", jit_compile=False)
    maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4), judge], name="maker")
    judge.trainable = False
    maker.compile(keras.optimizers.SGD(1e-3), "mse", jit_compile=False)
    watched = watch(maker, judge)
    for _ in range(40):
        judge.trainable = True
        judge.train_on_batch(X[:16], Y[:16])
        time.sleep(0.02)
        judge.trainable = False
        maker.train_on_batch(X[:16], Y[:16])
    assert not [one for one in told(read(watched)) if "trainable again" in one.title]
