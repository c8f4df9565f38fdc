"""How far outputs follow their targets: the number itself, and that it is told in every way to train."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.correlation import COLUMNS_MAX, correlate, is_comparable
from gradwatch.protocol import find_correlated, is_loss, name_correlation
from tests.hook.ways import WAYS, by_loop

CAPTURE = ("gradient", "input")

RANDOM = np.random.default_rng(0)


def reference(target, output):
    """Of all columns together, in float64; labels as a column of 0 and 1 for each class, their scores as shares."""
    target, output = np.asarray(target), np.asarray(output, np.float64)
    columns = output.reshape(-1, output.shape[-1]) if target.dtype.kind in "iu" and output.shape[-1] > 1 else None
    if columns is not None:
        exp = np.exp(columns - columns.max(axis=1, keepdims=True))
        target, output = np.eye(output.shape[-1])[target.ravel()], exp / exp.sum(axis=1, keepdims=True)
    t, o = (np.asarray(one, np.float64).reshape(len(one), -1) for one in (target, output))
    t, o = t - t.mean(axis=0), o - o.mean(axis=0)
    return (t * o).sum() / np.sqrt(np.square(t).sum() * np.square(o).sum())


def noisy(target, scale=0.5):
    return (np.asarray(target, np.float32) + scale * RANDOM.normal(size=np.shape(target))).astype(np.float32)


VALUES = RANDOM.normal(size=(40, 3)).astype(np.float32)
LABELS = RANDOM.integers(0, 5, 40)
SCORES = noisy(2 * np.eye(5)[LABELS])
WORDS = RANDOM.integers(0, 4, (6, 9))
PAIRS = {
    "numbers": (VALUES, noisy(VALUES)),
    "opposed": (VALUES, -noisy(VALUES)),
    "in other units": (VALUES, 1e4 + 300 * noisy(VALUES)),
    "columns with means of their own": (VALUES + np.array([[0, 50, -9]]), noisy(VALUES)),
    "one number": (VALUES[:, 0], noisy(VALUES[:, :1])),
    "one number of each, and no axis for it": (VALUES[:, :1], noisy(VALUES[:, 0])),
    "pictures": (RANDOM.normal(size=(9, 4, 5, 2)), RANDOM.normal(size=(9, 4, 5, 2))),
    "labels": (LABELS, SCORES),
    "labels with an axis of one": (LABELS[:, None], SCORES),
    "labels of each time": (WORDS, noisy(np.eye(4)[WORDS])),
    "labels of 0 and 1": (LABELS % 2, noisy(LABELS[:, None] % 2)),
    "one-hot": (np.eye(5)[LABELS], SCORES),
    "unrelated": (VALUES, RANDOM.normal(size=(40, 3))),
}


@pytest.mark.parametrize("is_known", [True, False], ids=["batch known", "batch unknown"])
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_correlation_of_outputs_with_targets(name, jit_compile, is_known):
    pair = [tf.constant(one) for one in PAIRS[name]]
    specs = [tf.TensorSpec(one.shape if is_known else [None, *one.shape[1:]], one.dtype) for one in pair]
    run = tf.function(correlate, jit_compile=jit_compile, input_signature=specs)
    assert is_comparable(*pair)
    assert run(*pair).numpy() == pytest.approx(reference(*PAIRS[name]), abs=1e-6)


def test_what_is_perfect_and_what_is_opposite():
    assert correlate(tf.constant(VALUES), tf.constant(3 * VALUES + 7)).numpy() == pytest.approx(1, abs=1e-6)
    assert correlate(tf.constant(VALUES), tf.constant(-VALUES)).numpy() == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64], ids=lambda dtype: dtype.name)
def test_outputs_of_another_type(dtype):
    output = tf.cast(SCORES, dtype)
    found = correlate(tf.constant(LABELS), output).numpy()
    assert found == pytest.approx(reference(LABELS, tf.cast(output, tf.float64).numpy()), abs=1e-6)


def test_outputs_that_are_alike_follow_nothing():
    assert correlate(tf.constant(VALUES), tf.ones([40, 3])).numpy() == 0


@pytest.mark.parametrize("which", ["target", "output"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_tells_nothing(which, value):
    broken = np.where(np.arange(3) == 1, value, VALUES).astype(np.float32)
    pair = (broken, VALUES) if which == "target" else (VALUES, broken)
    assert np.isnan(correlate(*map(tf.constant, pair)).numpy())


def test_targets_that_are_alike_tell_nothing():
    assert np.isnan(correlate(tf.fill([40, 3], 0.1), tf.constant(VALUES)).numpy())
    assert np.isnan(correlate(tf.zeros([0, 3]), tf.zeros([0, 3])).numpy())


def test_of_a_wide_target_the_first_columns_are_looked_at():
    target = RANDOM.normal(size=(12, COLUMNS_MAX + 50)).astype(np.float32)
    output = noisy(target)
    output[:, COLUMNS_MAX:] = -target[:, COLUMNS_MAX:]
    first = reference(target[:, :COLUMNS_MAX], output[:, :COLUMNS_MAX])
    assert correlate(tf.constant(target), tf.constant(output)).numpy() == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize(
    ("target", "output"),
    [
        ((8, 3), (8, 4)),
        ((8,), (8, 4)),
        ((8, 4, 3), (8, 3)),
        ((), (8, 1)),
        ((8, 2), ()),
        ((8, 3), (9, 3)),
        ((8,), (4, 1)),
    ],
    ids=str,
)
def test_what_has_no_number_for_each_is_not_compared(target, output):
    assert not is_comparable(tf.zeros(target), tf.zeros(output))
    assert np.isnan(correlate(tf.zeros(target), tf.zeros(output)))


def test_labels_of_something_else_are_not_compared():
    assert not is_comparable(tf.zeros([8, 3], tf.int64), tf.zeros([8, 4]))
    assert not is_comparable(tf.zeros([8], tf.int64), tf.zeros([8, 4], tf.int64))


def test_a_scalar_s_name_and_its_target_s():
    for target in ("target", "target/rating", "target (2)"):
        assert find_correlated(name_correlation(target)) == target
    assert find_correlated("loss") is None
    assert is_loss("correlation_loss")
    assert not is_loss(name_correlation("target/loss"))


X = RANDOM.normal(size=(96, 6)).astype(np.float32)
Y = (X @ RANDOM.normal(size=(6, 1))).astype(np.float32)


def one_head():
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])


def by_hand(y, output):
    return tf.reduce_mean(tf.square(tf.cast(y, tf.float32)[:, 0] - tf.squeeze(output, axis=1)))


BY_HAND = {"loop with a loss by hand": lambda *given: by_loop(*given, loss_of=by_hand)}


def told(recording):
    """By name, what was said of each target at each row, NaN where nothing was."""
    ((stream, table),) = recording.tables.items()
    scalars = np.concatenate([m["scalars"] for m in recording.rows[stream]])
    present = np.concatenate([m["scalars_present"] for m in recording.rows[stream]])
    values = np.where(present == 1, scalars, np.nan)
    return {target: values[:, i] for i, name in enumerate(table["scalars"]) if (target := find_correlated(name))}


@pytest.mark.parametrize("way", [*WAYS.values(), *BY_HAND.values()], ids=[*WAYS, *BY_HAND])
def test_it_is_told_of_each_step_in_every_way_to_train(watch, read, way):
    recording = read(way(watch, one_head(), keras.optimizers.SGD(0.05), X, Y, 2))
    model, expected = one_head(), []
    model.compile(keras.optimizers.SGD(0.05), "mse")
    for start in (0, 32, 64) * 2:
        x, y = X[start : start + 32], Y[start : start + 32]
        expected.append(reference(y, model(x).numpy()))
        model.train_on_batch(x, y)
    (found,) = told(recording).values()
    np.testing.assert_allclose(found, expected, atol=1e-4)


def two_heads(kind):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((6,))
    outputs = {
        "size": keras.layers.Dense(1, name="size")(inputs),
        "kind": keras.layers.Dense(3, name="kind")(inputs),
    }
    model = keras.Model(inputs, outputs if kind is dict else [outputs["size"], outputs["kind"]])
    losses = [
        keras.losses.MeanAbsoluteError(),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    ]
    model.compile("sgd", dict(zip(("size", "kind"), losses, strict=True)) if kind is dict else losses)
    return model


@pytest.mark.parametrize("kind", [dict, list])
def test_each_of_several_targets_has_its_own(watch, read, kind):
    labels = RANDOM.integers(0, 3, 96)
    targets = {"size": Y, "kind": labels}
    model = two_heads(kind)
    given = model(X)
    size, scores = (one.numpy() for one in (given.values() if kind is dict else given))
    watched = watch(model, budget=0)
    model.fit(X, targets if kind is dict else list(targets.values()), batch_size=96, verbose=0, shuffle=False)
    found = told(read(watched))
    first, second = ("target/size", "target/kind") if kind is dict else ("target/0", "target/1")
    assert found[first] == pytest.approx(reference(Y, size), abs=1e-5)
    assert found[second] == pytest.approx(reference(labels, scores), abs=1e-5)


def test_of_a_step_that_is_not_measured_in_full_it_is_not_told(watch, read):
    model = one_head()
    model.compile("sgd", "mse")
    watched = watch(model, every=2, budget=0)
    model.fit(X, Y, batch_size=32, epochs=2, verbose=0)
    (found,) = told(read(watched)).values()
    assert np.isnan(found).tolist() == [False, True] * 3


def test_a_model_without_targets_is_as_ever(watch, read):
    model = one_head()
    optimizer = keras.optimizers.SGD(0.05)
    watched = watch(model, optimizer, budget=0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(X)))
    optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
    assert told(read(watched)) == {}


@pytest.mark.parametrize("is_residual", [False, True], ids=["the output", "what it leaves of the input"])
def test_an_output_that_meets_something_else_first_is_not_held_to_the_target(watch, read, is_residual):
    """A model may give what is to be taken off its input: then it is not to follow the target."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(6)])
    optimizer = keras.optimizers.SGD(0.05)
    watched = watch(model, optimizer, budget=0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            output = model(x)
            loss = tf.reduce_mean(tf.square((x - output if is_residual else output) - y))
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)

    step(tf.constant(X + 1), tf.constant(X))
    assert len(told(read(watched))) == (0 if is_residual else 1)


def test_what_a_loss_makes_of_each_alone_is_passed_by(watch, read):
    """Two directions are made one long before they are compared: an operation that takes a tensor twice is its own."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(6)])
    optimizer = keras.optimizers.SGD(0.05)
    watched = watch(model, optimizer, budget=0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(1 + keras.losses.cosine_similarity(y, model(x)))
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)

    y = noisy(X)
    expected = reference(y, model(X).numpy())
    step(tf.constant(X), tf.constant(y))
    assert told(read(watched))["target"] == pytest.approx([expected], abs=1e-5)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("of_labels", [False, True], ids=["numbers", "labels"])
def test_batches_that_turn_out_to_be_of_two_sizes_tell_nothing(of_labels, jit_compile):
    """Which is known only when the step runs: it must not end the training."""
    specs = [tf.TensorSpec([None], tf.int64), tf.TensorSpec([None, 5])]
    if not of_labels:
        specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([None, 3])]
    run = tf.function(correlate, jit_compile=jit_compile, input_signature=specs)
    pair = (LABELS, SCORES) if of_labels else (VALUES, noisy(VALUES))
    target, output = (tf.constant(one) for one in pair)
    assert np.isfinite(run(target, output))
    assert np.isnan(run(target[:30], output))
    assert np.isnan(run(target, output[:7]))


def test_a_width_that_is_not_known_is_not_compared():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, 3])])
    def run(target, output):
        seen.append(is_comparable(target, output))
        return correlate(target, output)

    assert np.isnan(run(tf.zeros([4, 5]), tf.zeros([4, 3])))
    assert seen == [False]


def test_what_is_added_to_an_output_is_no_target(watch, read):
    """An exposure in a model of counts: its logarithm is added to what the network gives."""
    keras.utils.set_random_seed(0)
    model = one_head()
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model, optimizer, budget=0)

    @tf.function
    def step(x, exposure, counts):
        with tf.GradientTape() as tape:
            log_rate = model(x)[:, 0] + exposure
            loss = tf.reduce_mean(tf.exp(log_rate) - counts * log_rate)
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)

    step(tf.constant(X), tf.constant(Y[:, 0]), tf.constant(np.abs(Y[:, 0])))
    assert told(read(watched)) == {}


@pytest.mark.parametrize("n_actions", [2, 3])
def test_what_holds_a_label_in_one_column_is_no_target(watch, read, n_actions):
    """An action and what it gained, in one tensor: as wide as the scores of two actions, by chance."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(n_actions)])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model, optimizer, budget=0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            chosen = tf.gather(tf.nn.log_softmax(model(x)), tf.cast(y[:, 0], tf.int32), batch_dims=1)
            loss = -tf.reduce_mean(y[:, 1] * chosen)
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)

    step(tf.constant(X), tf.constant(np.stack([Y[:, 0] > 0, Y[:, 0]], 1).astype(np.float32)))
    assert told(read(watched)) == {}
