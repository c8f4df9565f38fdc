"""Gradients that a script adds up in variables of its own: what they are read from, and whether they are cleared."""

import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import interception
from gradwatch.sums import find_sums, is_cleared
from tests.hook.diagnosis import diagnose

CAPTURE = ("gradient",)

X = np.random.default_rng(0).normal(size=(512, 8)).astype(np.float32)
Y = X @ np.random.default_rng(1).normal(size=(8, 1)).astype(np.float32) + 3
N_MICRO = 4


def given_tensors(sums):
    return [tf.convert_to_tensor(one) for one in sums]


def given_values(sums):
    return [one.value() for one in sums]


def given_means(sums):
    return [one.read_value() / float(N_MICRO) for one in sums]


def given_clipped(sums):
    return tf.clip_by_global_norm([one.read_value() for one in sums], 1e9)[0]


def given_variables(sums):
    return list(sums)


WAYS = [given_tensors, given_values, given_means, given_clipped, given_variables]


def cleared_in_place(sums):
    for one in sums:
        one.assign(tf.zeros_like(one))


def cleared_by_itself(sums):
    for one in sums:
        one.assign_sub(one)


def rebound(sums):
    for one in sums:
        one = tf.zeros_like(one)  # noqa: PLW2901 the mistake


def kept(sums):
    pass


class Loop:
    """Adds up the gradients of four batches, and applies them."""

    def __init__(self, watch, give, clear, *, is_clear_apart=False, is_jit=False, is_update_eager=False):
        keras.utils.set_random_seed(0)
        layers = [keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
        self.model = keras.Sequential([keras.Input((8,)), *layers])
        optimizer = keras.optimizers.SGD(1e-4)
        optimizer.build(self.model.trainable_variables)
        sums = [tf.Variable(tf.zeros_like(one.value), trainable=False) for one in self.model.trainable_variables]
        self.watched = watch(self.model, optimizer, budget=0)

        @tf.function(jit_compile=is_jit)
        def add(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.model(x) - y))
            for one, gradient in zip(sums, tape.gradient(loss, self.model.trainable_variables), strict=True):
                one.assign_add(gradient)

        def update():
            optimizer.apply_gradients(zip(give(sums), self.model.trainable_variables, strict=True))
            if not is_clear_apart:
                clear(sums)

        self.add, self.sums = add, sums
        self.update = update if is_update_eager else tf.function(update, jit_compile=is_jit)
        self.clear = (lambda: clear(sums)) if is_clear_apart else (lambda: None)

    def run(self, n_updates, every=1):
        for step in range(n_updates * N_MICRO):
            if step % (N_MICRO * every) == 0 and every > 1:
                self.clear()
            rows = slice(16 * step % 512, 16 * step % 512 + 16)
            self.add(tf.constant(X[rows]), tf.constant(Y[rows]))
            if step % N_MICRO == N_MICRO - 1:
                self.update()
                if every == 1:
                    self.clear()
        return self.watched

    def await_rows(self, step):
        """Until the rows up to a step are read."""
        deadline = time.monotonic() + 20
        while self.watched._reader.last_step < step and time.monotonic() < deadline:
            time.sleep(0.05)


def cleared(recording):
    """What was said at the last row; None: that gradients are read from no variables."""
    ((stream, table),) = recording.tables.items()
    if "sums_cleared" not in table["scalars"]:
        return None
    place = table["scalars"].index("sums_cleared")
    assert all((m["scalars_present"][:, place] == 1).all() for m in recording.rows[stream])
    return float(recording.rows[stream][-1]["scalars"][-1, place])


def is_about(found, expected):
    """Whether it is as often as expected; the last row may be read before the sums are cleared after its step."""
    return found in ((expected - 1, expected) if expected else (0,))


def seldom(recording):
    return [one for one in diagnose(recording).findings() if "set back to zero only then" in one.title]


def told(recording):
    return [one.title for one in diagnose(recording).findings() if "add up from step to step" in one.title]


@pytest.mark.parametrize("give", WAYS)
def test_what_is_never_cleared_is_told(watch, read, give):
    recording = read(Loop(watch, give, kept).run(30))
    assert cleared(recording) == 0
    assert len(told(recording)) == 1


@pytest.mark.parametrize("is_update_eager", [False, True])
def test_what_is_cleared_before_the_first_step_alone_is_told(watch, read, is_update_eager):
    loop = Loop(watch, given_values, kept, is_update_eager=is_update_eager)
    cleared_in_place(loop.sums)
    recording = read(loop.run(30))
    assert cleared(recording) == 0
    assert len(told(recording)) == 1


@pytest.mark.parametrize("give", WAYS)
def test_an_update_that_runs_eagerly(watch, read, give):
    for clear, expected in ((kept, 0), (cleared_in_place, 31)):
        recording = read(Loop(watch, give, clear, is_update_eager=True).run(30))
        assert is_about(cleared(recording), expected)
        assert len(told(recording)) == (expected == 0)


def test_what_is_cleared_late_is_over(watch, read):
    loop = Loop(watch, given_values, kept)
    loop.run(30)
    watched = loop.watched
    loop.await_rows(29)
    cleared_in_place(loop.sums)
    loop.run(5)
    (title,) = told(read(watched)) or [""]
    assert title == ""
    (found,) = [one for one in diagnose(read(watched)).findings() if "added up from step to step" in one.title]
    assert found.title.endswith(", until step 30")


@pytest.mark.parametrize("give", WAYS)
def test_what_is_cleared_is_not_told(watch, read, give):
    recording = read(Loop(watch, give, cleared_in_place).run(30))
    assert is_about(cleared(recording), 31)
    assert told(recording) == []


@pytest.mark.parametrize(
    ("clear", "is_apart", "expected"),
    [(cleared_in_place, True, 31), (cleared_by_itself, False, 31), (cleared_by_itself, True, 31), (rebound, False, 0)],
)
def test_ways_of_clearing(watch, read, clear, is_apart, expected):
    recording = read(Loop(watch, given_tensors, clear, is_clear_apart=is_apart).run(30))
    assert is_about(cleared(recording), expected)
    assert len(told(recording)) == (expected == 0)
    assert seldom(recording) == []


def in_function(clear):
    return tf.function(clear)


def in_nested(clear):
    inner = tf.function(clear)

    def clear_within(sums):
        inner(sums)

    return tf.function(clear_within)


def in_cond(clear):
    def clear_if(sums):
        if tf.reduce_sum(sums[0]) != 1e9:
            clear(sums)

    return tf.function(clear_if)


def in_loop(clear):
    def clear_twice(sums):
        for _ in tf.range(2):
            clear(sums)

    return tf.function(clear_twice)


def traced_before(clear):
    compiled = tf.function(clear)
    compiled.get_concrete_function([tf.Variable(tf.zeros(shape)) for shape in ((8, 8), (8,), (8, 1), (1,))])
    return compiled


def as_it_is(clear):
    return clear


EVERY = 6
FORMS = [as_it_is, in_function, in_nested, in_cond]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_update_eager", [False, True])
def test_what_is_cleared_once_in_several_updates_is_told(watch, read, form, is_update_eager):
    loop = Loop(watch, given_means, form(cleared_in_place), is_clear_apart=True, is_update_eager=is_update_eager)
    recording = read(loop.run(60, EVERY))
    assert is_about(cleared(recording), 60 / EVERY)
    (found,) = seldom(recording)
    assert told(recording) == []
    assert ("one.assign" if form is as_it_is else "lambda: clear(sums)") in found.source["code"]
    assert f"about {EVERY}" in found.title


@pytest.mark.parametrize("form", FORMS)
def test_what_is_cleared_at_once_by_a_call_is_not(watch, read, form):
    recording = read(Loop(watch, given_means, form(cleared_in_place), is_clear_apart=True).run(60))
    assert is_about(cleared(recording), 61)
    assert [*seldom(recording), *told(recording)] == []


def test_a_function_that_was_traced_before_may_clear_whenever_it_is_called(watch, read):
    other = traced_before(cleared_in_place)
    loop = Loop(watch, given_means, cleared_in_place, is_clear_apart=True)
    update, apart = loop.update, [tf.Variable(one) for one in loop.sums]
    loop.update = lambda: (update(), other(apart))
    recording = read(loop.run(60, EVERY))
    assert is_about(cleared(recording), 60 / EVERY + 60)
    assert seldom(recording) == []


def test_clearings_in_a_compiled_loop_are_not_counted(watch, read):
    recording = read(Loop(watch, given_means, in_loop(cleared_in_place), is_clear_apart=True).run(60, EVERY))
    assert cleared(recording) > 50
    assert seldom(recording) == []


def test_updates_and_clearings_in_a_compiled_loop_are_not_told(watch, read):
    loop = Loop(watch, given_means, kept)

    @tf.function
    def epoch():
        for number in tf.range(6):
            loop.add(tf.constant(X[:16]), tf.constant(Y[:16]) * tf.cast(number + 1, tf.float32))
            loop.update()
            cleared_in_place(loop.sums)

    for _ in range(10):
        epoch()
    recording = read(loop.watched)
    assert sum(len(m["steps"]) for m in recording.rows[0]) == 60
    assert [*seldom(recording), *told(recording)] == []


def test_compiled_by_xla(watch, read):
    recording = read(Loop(watch, given_values, kept, is_jit=True).run(30))
    assert cleared(recording) == 0
    assert len(told(recording)) == 1


def test_the_numbers_are_those_without_a_watch(watch):
    def weights(make):
        loop = Loop(make, given_means, cleared_in_place)
        loop.run(5)
        return loop.model.get_weights()

    for one, other in zip(weights(watch), weights(lambda *_, **__: None), strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradients_of_the_step_are_read_from_no_variables(watch, read):
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(1e-3, gradient_accumulation_steps=2), loss="mse")
    watched = watch(model)
    model.fit(X[:64], Y[:64], batch_size=8, verbose=0)
    assert cleared(read(watched)) is None


def test_variables_that_hold_zeros_are_not_what_eager_gradients_are_read_from(watch):
    watch(keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)]))
    one, other = tf.Variable(tf.zeros([3, 2])), tf.Variable(tf.ones([3, 2]))
    for variable in (one, other):
        variable.assign_add(tf.zeros([3, 2]))
    assert find_sums([tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])]) == frozenset()
    assert find_sums([tf.fill([3, 2], 2.0)]) == {other.handle._id}


def test_a_product_with_a_variable_is_no_sum():
    kernel, scale = tf.Variable(tf.ones([3])), tf.Variable(2.0)

    seen = []
    tf.function(lambda x: seen.extend(found_in(kernel, scale, x)) or x)(tf.ones([3]))
    assert seen == [set(), set(), set(), set(), {kernel.handle._id}]


def found_in(kernel, scale, x):
    """What is found of gradients that are computed, of one that is, of one that is scaled, of none, and of a sum."""
    given = [
        [kernel.read_value() * x],
        [kernel.read_value() * scale, x],
        [x * scale],
        [None],
        [kernel.read_value() / scale, None],
    ]
    return [set(find_sums(gradients)) for gradients in given]


def test_methods_of_variables_are_as_they_were_when_nobody_watches(watch):
    variable = tf.Variable(1.0)
    cls = next(one for one in type(variable).__mro__ if "assign" in one.__dict__)
    before = cls.__dict__["assign"], cls.__dict__["assign_sub"]
    watched = watch(keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)]))
    assert cls.__dict__["assign"] is not before[0]
    variable.assign(2.0)
    assert is_cleared(frozenset([variable.handle._id]))
    watched.close()
    assert not interception.active_observers()
    assert (cls.__dict__["assign"], cls.__dict__["assign_sub"]) == before
    assert float(variable) == 2.0


def from_tape(recording):
    ((_, table),) = recording.tables.items()
    return table["from_tape"]


def compiled(clip=None):
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(1e-4, clipnorm=clip), "mse")
    return model


def test_gradients_of_fit_come_from_the_tape_clipped_by_the_optimizer_or_not(watch, read):
    for clip in (None, 1.0):
        model = compiled(clip)
        watched = watch(model)
        model.fit(X, Y, batch_size=64, verbose=0)
        assert from_tape(read(watched)) is True


@pytest.mark.parametrize("change", [lambda g: g, lambda g: g * 2.0], ids=["as they are", "multiplied"])
def test_gradients_of_a_loop_come_from_its_tape_unless_something_is_done_to_them(watch, read, change):
    model, optimizer = compiled(), keras.optimizers.SGD(1e-4)
    watched = watch(model, optimizer)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = [change(one) for one in tape.gradient(loss, model.trainable_variables)]
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step(X[:32], Y[:32])
    assert from_tape(read(watched)) is (change(1.0) == 1.0)


def test_sums_and_eager_gradients_do_not(watch, read):
    assert from_tape(read(Loop(watch, given_values, cleared_in_place).run(2))) is False
    model = compiled()
    model.run_eagerly = True
    watched = watch(model)
    model.fit(X, Y, batch_size=256, verbose=0)
    assert from_tape(read(watched)) is False
