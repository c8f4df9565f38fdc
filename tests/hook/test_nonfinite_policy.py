"""What happens at a step whose gradient is not finite: record, skip, or raise."""

import contextlib
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import NonFiniteError
from gradwatch.errors import ServerTimeoutError
from tests.hook import training
from tests.hook.test_capture import FIRST, X, Y, adam, compiled, fit
from tests.hook.training import LOSS, assert_recorded, batches, reference_loop

SICK = X.copy()
SICK[2 * training.BATCH] = np.nan  # one row of the third batch


def sick_at(model, optimizer, steps, compiler, epochs=2):
    """A loop in which some steps' gradients hold NaN and Inf."""

    @compiler
    def step(x, y, poison):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        gradients[0] = gradients[0] + poison
        optimizer.apply(gradients, model.trainable_variables)

    for i, (x, y) in enumerate(batches(X, Y, epochs)):
        step(x, y, tf.constant(np.float32(steps.get(i, 0.0))))


def state(model, optimizer):
    return [variable.numpy() for variable in (*model.variables, *optimizer.variables)]


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


COMPILERS = {"graph": tf.function, "eager": lambda step: step}


def test_record_is_what_happened(watch, read):
    reference = training.smooth()
    seen = reference_loop(reference, adam(), batches(SICK, Y, epochs=1))
    model = compiled(training.smooth(), adam())
    watched = watch(model)
    fit(model, SICK, epochs=1)
    recording = read(watched)
    assert_recorded(recording, seen)
    gradient = recording.statistics("gradient", FIRST)
    assert gradient[:, 5].tolist() == [0, 0, 40, 40]
    assert np.isnan(model.get_weights()[0]).all(), "recorded, not prevented"
    assert recording.n_skipped == 0
    assert np.isnan(list(recording.scalar("loss").values())[2])


def test_nonfinite_step_is_a_full_row_for_weights_and_updates_even_when_thinned(watch, read):
    model = compiled(training.smooth(), adam())
    watched = watch(model, every=100)
    fit(model, SICK, epochs=1)
    recording = read(watched)
    assert recording.statistics("weight", FIRST)[:, 5].tolist()[2:] == [40, 40]


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
def test_skip_leaves_weights_and_optimizer_untouched(watch, read, compiler):
    """As if the sick steps had not been: the same as a training that leaves their batches out."""
    model, optimizer = training.sequential(), adam()
    watched = watch(model, on_nonfinite="skip")
    sick_at(model, optimizer, {1: np.nan, 4: np.inf, 5: -np.inf}, compiler)
    recording = read(watched)
    assert recording.steps() == list(range(8))
    assert recording.n_skipped == 3
    skipped = recording.scalar("skipped")
    assert [step for step, value in skipped.items() if value] == [1, 4, 5]
    updates = recording.statistics("update", FIRST)
    assert [norm == 0 for norm in updates[:, 0]] == [step in (1, 4, 5) for step in range(8)]
    assert int(optimizer.iterations) == 5, "a skipped step does not count for the optimizer"

    expected, its_optimizer = training.sequential(), adam()
    healthy = [batch for i, batch in enumerate(batches(X, Y)) if i not in (1, 4, 5)]
    reference_loop(expected, its_optimizer, healthy)
    for a, b in zip(state(model, optimizer), state(expected, its_optimizer), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
def test_skip_at_the_first_step_leaves_every_bit(watch, compiler):
    model, optimizer = training.sequential(), adam()
    optimizer.build(model.trainable_variables)
    before = state(model, optimizer)
    watched = watch(model, on_nonfinite="skip")
    sick_at(model, optimizer, dict.fromkeys(range(8), np.nan), compiler)
    watched.close()
    assert_same(before, state(model, optimizer))


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=["fit", "jit", "eagerly"])
def test_skip_in_fit(watch, read, options):
    model = compiled(training.sequential(), adam(), **options)
    watched = watch(model, on_nonfinite="skip")
    fit(model, SICK)
    recording = read(watched)
    assert recording.n_skipped == 2
    assert [step for step, value in recording.scalar("skipped").items() if value] == [2, 6]
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    assert int(model.optimizer.iterations) == 6


def test_skip_of_a_thinned_step(watch, read):
    """The finite check is never thinned."""
    model = compiled(training.sequential(), adam())
    watched = watch(model, on_nonfinite="skip", every=1000)
    fit(model, SICK)
    assert read(watched).n_skipped == 2
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


def test_skip_under_a_loss_scale_lets_it_come_down(watch, read):
    """An overflow is a loss scale's normal work: were its `apply` left out, no step would ever be done again."""
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=2.0**127)
    model = compiled(training.sequential(), scaled)
    before = model.get_weights()
    watched = watch(model, on_nonfinite="skip")
    x, y = X * 1e3, Y
    model.fit(x, y, batch_size=training.BATCH, epochs=8, shuffle=False, verbose=0)
    recording = read(watched)
    scales = np.array(list(recording.scalar("loss_scale").values()))
    skipped = np.array(list(recording.scalar("skipped").values()))
    assert 0 < skipped.sum() < len(scales)
    assert recording.n_skipped == 0, "the optimizer left them out, not the policy"
    np.testing.assert_array_equal(scales, 2.0 ** (127 - np.cumsum(skipped) + skipped))
    assert not np.array_equal(before[0], model.get_weights()[0])


LONG = 5_000
"""Epochs that would take minutes: a training that is not stopped runs into the test's time limit."""
WAYS = ["fit", "fit, eagerly", "tf.function", "eager loop"]


@pytest.mark.parametrize("way", WAYS)
def test_raise_stops_training(watch, way):
    model, optimizer = training.sequential(), adam()
    if way.startswith("fit"):
        compiled(model, optimizer, run_eagerly=way.endswith("eagerly"))
    watched = watch(model, on_nonfinite="raise")

    def train():
        if way.startswith("fit"):
            fit(model, SICK, epochs=LONG)
        else:
            sick_at(model, optimizer, {3: np.nan}, COMPILERS["graph" if way == "tf.function" else "eager"], epochs=LONG)

    with pytest.raises(NonFiniteError) as caught:
        train()
    assert isinstance(caught.value, ArithmeticError)
    step = 2 if way.startswith("fit") else 3
    message = str(caught.value)
    assert f"became non-finite at step {step}" in message
    assert "the gradient of sequential_model/" in message
    assert watched.url in message
    watched.close(caught.value)
    assert watched.collector.messages[-1]["state"] == "crashed"


def test_raise_carries_the_servers_words(watch, collectors):
    model = compiled(training.sequential(), adam())
    watched = watch(model, on_nonfinite="raise")
    finding = {"severity": "critical", "title": "gradient of first/kernel NaN at step 2: the data hold NaN"}
    collectors[0].findings = [finding]
    # The real sender tells each finding as it comes, too.
    watched._take_findings([finding])
    with pytest.raises(NonFiniteError, match="the data hold NaN"):
        fit(model, SICK, epochs=LONG)


def test_raise_without_a_server(watch, collectors):
    model = compiled(training.sequential(), adam())
    watch(model, on_nonfinite="raise")

    def never(timeout_s):
        raise ServerTimeoutError("the server cannot be reached")

    collectors[0].wait_for_findings = never
    with pytest.raises(NonFiniteError, match="became non-finite at step 2"):
        fit(model, SICK, epochs=LONG)


def test_raise_is_not_taken_for_a_failure_of_the_hook(watch, monkeypatch):
    """It may arrive while the hook's own code runs in the training thread."""
    from gradwatch.probe import Stream

    model, optimizer = training.sequential(), adam()
    watch(model)

    def interrupted(*_):
        raise NonFiniteError("arrived just here")

    monkeypatch.setattr(Stream, "before", interrupted)
    with pytest.raises(NonFiniteError, match="arrived just here"):
        sick_at(model, optimizer, {}, lambda step: step)


def test_nothing_is_raised_after_close(watch):
    model = compiled(training.sequential(), adam())
    with contextlib.suppress(NonFiniteError), watch(model, on_nonfinite="raise"):  # before it ends
        model.train_on_batch(X[:16], Y[:16])
        model.train_on_batch(SICK[32:48], Y[:16])
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        time.sleep(0.01)


def test_healthy_training_is_not_stopped(watch):
    model = compiled(training.sequential(), adam())
    with watch(model, on_nonfinite="raise"):
        fit(model, epochs=5)
