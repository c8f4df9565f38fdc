"""What a bad step keeps under XLA until it is computed again: all of its kinds, of one step, and only until taken."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import deferred
from gradwatch.deferred import Kept, _Pack
from gradwatch.replay import STEPS_BETWEEN, TRACES_MAX
from tests.hook.recording import Recording
from tests.hook.test_replay import origins_of
from tests.hook.training import dense

TYPES = ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint32", "bool"]


def packed(tensors, specs=None):
    """What a pack of tensors gives back, written in a compiled step that knows no more of them than the specs."""
    packs = []

    @tf.function(jit_compile=True, autograph=False)
    def step(*given):
        packs.append(_Pack(given))
        if packs[0].is_possible:
            packs[0].write()
        return tf.constant(0)

    concrete = step.get_concrete_function(*(specs or tensors))
    concrete(*tensors)
    return packs[0].read() if packs[0].is_possible else None


@pytest.mark.parametrize("dtype", TYPES)
def test_values_of_every_type_come_back_bit_for_bit(dtype):
    value = tf.cast(tf.reshape(tf.range(-3, 9) * 11, [3, 4]), dtype)
    one, other = packed([value, tf.constant(7.5)])
    assert (one.dtype, one.shape) == (value.dtype.as_numpy_dtype, (3, 4))
    assert one.tobytes() == value.numpy().tobytes()
    assert other == 7.5


def test_numbers_that_are_none_come_back_too():
    value = tf.constant([np.nan, np.inf, -0.0, 1e-45])
    assert packed([value])[0].tobytes() == value.numpy().tobytes()


def test_the_size_of_a_batch_need_not_be_known_when_it_is_traced():
    value = tf.random.normal([5, 3])
    (found,) = packed([value], [tf.TensorSpec([None, 3])])
    np.testing.assert_array_equal(found, value)


def test_a_batch_for_which_there_is_no_room_is_not_kept(monkeypatch):
    monkeypatch.setattr(deferred, "UNKNOWN_BYTES_MAX", 4 * 20)
    monkeypatch.setattr(deferred, "KNOWN_BYTES_MAX", 4 * 40)
    spec = [tf.TensorSpec([None, 3])]
    assert packed([tf.zeros([6, 3])], spec)[0].shape == (6, 3)
    assert packed([tf.zeros([7, 3])], spec) is None
    assert packed([tf.zeros([13, 3])])[0].shape == (13, 3)
    assert packed([tf.zeros([14, 3])]) is None


def test_what_waits_stays_until_it_is_taken():
    kept = Kept([tf.Variable([1.0])])
    trace = kept.next_trace()

    @tf.function(jit_compile=True)
    def step(n):
        may = kept.may_keep(n)
        tf.cond(may, lambda: (kept.note(n, trace), 0)[1], lambda: 0)
        return may

    assert kept.waiting(trace) is None
    assert step(tf.constant(7, tf.int64))
    assert not step(tf.constant(7 + STEPS_BETWEEN, tf.int64))  # nobody has been here yet
    assert kept.waiting(trace + 1) is None
    number, at = kept.waiting(trace)
    assert at == 7
    kept.release(number)
    assert kept.waiting(trace) is None
    assert not step(tf.constant(6 + STEPS_BETWEEN, tf.int64))  # too soon
    assert step(tf.constant(7 + STEPS_BETWEEN, tf.int64))
    for _ in range(TRACES_MAX):  # so many that nobody asks for this one any more
        last = kept.next_trace()
    assert kept.waiting(last) is None
    assert kept.is_free()


def test_weights_of_another_step_are_those_of_the_bad_one(watch):
    """By the time at which the first network's step is computed again, the second one's weights are NaN too."""
    first, second = (
        keras.Sequential([keras.Input((4,)), dense(4, f"of_{name}"), dense(1, f"out_{name}")], name=name)
        for name in ("first", "second")
    )
    optimizers = [keras.optimizers.SGD(0.01) for _ in range(2)]
    begun = watch(first, second)

    @tf.function(jit_compile=True)
    def train_first(x, shift):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.sqrt(tf.square(first(x)) + tf.square(second(x)) - shift))
        optimizers[0].apply(tape.gradient(loss, first.trainable_variables), first.trainable_variables)

    @tf.function(jit_compile=True)
    def train_second(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(first(x) - second(x)))
        optimizers[1].apply(tape.gradient(loss, second.trainable_variables), second.trainable_variables)

    for i in range(6):
        train_first(tf.ones([8, 4]), tf.constant(1e6 if i == 3 else -1.0))
        train_second(tf.ones([8, 4]))
    assert np.isnan(second.trainable_variables[0].numpy()).all()
    (origin, *others) = origins_of(begun)
    assert not others
    assert (origin["step"], origin["operation"]["type"]) == (3, "Sqrt")


def test_updates_are_told_at_a_bad_step_and_not_while_its_weights_wait(watch, monkeypatch):
    monkeypatch.setattr(deferred, "SETTLED_S", 3600.0)  # taken at the end
    model = keras.Sequential([keras.Input((4,)), dense(4, "only")], name="model")
    optimizer = keras.optimizers.SGD(0.1)
    begun = watch(model)

    @tf.function(jit_compile=True)
    def step(x, scale):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x))) + tf.reduce_sum(tf.math.log(scale))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for i in range(5):
        step(tf.ones([2, 4]), tf.constant(-1.0 if i == 2 else 1.0))
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"]) == (2, "Log")
    recording = Recording(begun.collector.messages)
    norms = recording.statistics("update", "model/only/kernel")[:, 0]
    assert np.isfinite(recording.statistics("weight", "model/only/kernel")[:, 0]).all()
    np.testing.assert_array_equal(np.isfinite(norms), [True, True, True, False, False])
