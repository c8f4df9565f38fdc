"""What ``fit`` measures on its validation data is logged by Keras' names, and told of where nothing carries over."""

import keras
import numpy as np
import pytest

from tests.hook.diagnosis import announce, diagnose

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(256, 8)).astype(np.float32)
Y = (X[:, 0] * X[:, 1] > 0).astype(np.int32) + 2 * (X[:, 2] > 0)


def model_of(width=64, **options):
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(width, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((8,)), *layers, keras.layers.Dense(4)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=loss, metrics=["accuracy"], **options)
    return model


def logged(recording):
    return {name: (steps.tolist(), values) for name, (steps, values) in recording.logged_arrays()}


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"jit_compile": True}], ids=["graph", "eager", "jit"])
def test_results_of_each_epoch_are_logged(watch, read, options):
    model = model_of(**options)
    watched = watch(model)
    history = model.fit(X, Y, validation_split=0.25, batch_size=64, epochs=3, verbose=0).history
    found = logged(read(watched))
    for name in ("val_loss", "val_accuracy"):
        steps, values = found[name]
        assert steps == [2, 5, 8]
        np.testing.assert_allclose(values, history[name], rtol=1e-6)


def test_what_the_user_evaluates_is_theirs_to_log(watch, read):
    model = model_of()
    watched = watch(model)
    model.fit(X, Y, batch_size=64, verbose=0)
    model.evaluate(X, Y, verbose=0, return_dict=True)
    assert not any(name.startswith("val_") for name in logged(read(watched)))


def test_another_model_that_a_callback_evaluates_is_not_logged(watch, read):
    model, other = model_of(), model_of()
    watched = watch(model)

    class Look(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            other.evaluate(X, Y, verbose=0, return_dict=True)

    model.fit(X, Y, batch_size=64, callbacks=[Look()], verbose=0)
    assert not any(name.startswith("val_") for name in logged(read(watched)))


def told(watch, read, y, *, x_val=X, epochs=40, **options):
    model = model_of()
    watched = watch(model, budget=0)
    model.fit(
        X[:192], y[:192], validation_data=(x_val[192:], y[192:]), batch_size=48, epochs=epochs, verbose=0, **options
    )
    return [one for one in diagnose(read(watched)).findings() if "does not carry over" in one.title]


def test_labels_that_are_learned_by_heart(watch, read):
    (found,) = told(watch, read, np.random.default_rng(1).permutation(Y))
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.evidence["n_validations"] == 40
    assert found.evidence["best"] >= 0.97 * np.log(4)
    assert "learned by heart" in found.hypotheses[0].cause


def val_losses(recording, values, loss):
    """The findings of a run with these training and validation losses, of four classes."""
    engine = announce(recording)
    (stream,) = recording.tables
    n_steps = len(loss)
    table = recording.tables[stream]
    statistics = np.repeat(recording.rows[stream][0]["statistics"][:1], n_steps, axis=0)
    scalars = np.zeros((n_steps, len(table["scalars"])), np.float32)
    scalars[:, table["scalars"].index("loss")] = loss
    is_loss = np.array([name == "loss" for name in table["scalars"]])
    operations = np.repeat(recording.rows[stream][0]["operations"][:1], n_steps, axis=0)
    present = np.repeat(is_loss[None], n_steps, axis=0)
    engine.feed_rows(stream, np.arange(n_steps), statistics, scalars, present, operations=operations)
    engine.feed_scalar("val_loss", np.linspace(20, n_steps - 1, len(values)).astype(np.int64), np.array(values))
    return [one for one in engine.findings() if "does not carry over" in one.title]


RECORDED = []
"""A step, once one was recorded."""
GUESS = float(np.log(4))
RISING = GUESS + np.linspace(0.01, 0.2, 12)


@pytest.mark.parametrize(
    ("values", "end", "is_told"),
    [
        (RISING, 1.25, True),
        (RISING - 0.015, 1.25, True),
        (RISING, 1.36, False),
        (np.repeat(RISING, 2), 1.36, True),
        (np.repeat(RISING, 2), GUESS, False),
        (RISING, GUESS, False),
        (RISING[:5], 1.25, False),
        (RISING - 0.02, 1.25, False),
        (GUESS + 0.01 + 0 * RISING, 1.25, False),
    ],
    ids=[
        "memorised slowly",
        "classes of unequal share",
        "hardly anything memorised so far",
        "hardly anything memorised in many epochs",
        "nothing learned in many epochs",
        "nothing learned",
        "too early",
        "below guessing once",
        "level",
    ],
)
def test_labels_that_are_learned_by_heart_slowly(watch, read, values, end, is_told):
    """The training loss has come down by a tenth, and no validation was better than guessing."""
    if not RECORDED:
        model = model_of()
        watched = watch(model, budget=0)
        model.fit(X, Y, batch_size=256, verbose=0)
        RECORDED.append(read(watched))
    loss = np.concatenate([np.full(40, GUESS), np.linspace(GUESS, end, 400)])
    assert bool(val_losses(RECORDED[0], values, loss)) == is_told


def test_validation_data_that_are_prepared_otherwise(watch, read):
    (found,) = told(watch, read, Y, x_val=X * -8)
    assert any("prepared differently" in one.cause for one in found.hypotheses)


def test_what_carries_over_and_is_learned_too_well_is_not_told(watch, read):
    assert told(watch, read, Y) == []


def test_weighted_training_losses_are_not_compared(watch, read):
    y = np.random.default_rng(1).permutation(Y)
    assert told(watch, read, y, class_weight={0: 1.0, 1: 0.5, 2: 1.0, 3: 0.5}) == []


def test_a_split_of_sorted_data_leaves_classes_out(watch, read):
    order = np.argsort(Y, kind="stable")
    model = model_of()
    watched = watch(model, budget=0)
    model.fit(X[order], Y[order], validation_split=0.25, batch_size=48, epochs=40, verbose=0)
    (found,) = [one for one in diagnose(read(watched)).findings() if "validation loss was never below" in one.title]
    assert found.title.startswith("No training sample is of the last class: ")
    assert found.hypotheses[0].cause.startswith("No training sample is of the last class: the data are sorted")
    assert "`validation_split` takes the last rows" in found.hypotheses[0].why
