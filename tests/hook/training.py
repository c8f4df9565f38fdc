"""Small trainings, and the instrumented loop that says what their numbers are. Shares nothing with the hook.

The loop runs on the test's own copy of a model, eagerly, with nothing watched. It keeps the statistics of every
gradient, weight and update in NumPy and float64.
"""

import keras
import numpy as np
import tensorflow as tf

from tests.numerics.reference import COUNTS, NAMES, row

BATCH, N_BATCHES, N_CLASSES, WIDTH = 16, 4, 3, 5
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def data(width=WIDTH, seed=0):
    random = np.random.default_rng(seed)
    n = BATCH * N_BATCHES
    return random.normal(size=(n, width)).astype(np.float32), random.integers(0, N_CLASSES, n)


def tokens(vocabulary=40, length=6, seed=0):
    random = np.random.default_rng(seed)
    n = BATCH * N_BATCHES
    return random.integers(0, vocabulary, (n, length)), random.integers(0, N_CLASSES, n)


def batches(x, y, epochs=2):
    return [(x[i : i + BATCH], y[i : i + BATCH]) for _ in range(epochs) for i in range(0, len(x), BATCH)]


def initializer(seed):
    return keras.initializers.GlorotUniform(seed=seed)


def dense(units, name, activation=None, seed=1):
    return keras.layers.Dense(units, activation, name=name, kernel_initializer=initializer(seed))


def sequential(activation="relu"):
    layers = [keras.Input((WIDTH,)), dense(8, "first", activation), dense(N_CLASSES, "last", seed=2)]
    return keras.Sequential(layers, name="sequential_model")


def smooth():
    """For inputs with NaN: in one operation with its product a relu gives 0 for NaN on some processors."""
    return sequential("softplus")


def functional():
    x = keras.Input((WIDTH,))
    hidden = dense(8, "first", "relu")(x)
    merged = keras.layers.Concatenate(name="merge")([hidden, x])
    return keras.Model(x, dense(N_CLASSES, "last", seed=2)(merged), name="functional_model")


class Subclassed(keras.Model):
    """Built late: it has no weights until it sees its first batch."""

    def __init__(self):
        super().__init__(name="subclassed_model")
        self.first = dense(8, "first", "relu")
        self.last = dense(N_CLASSES, "last", seed=2)

    def call(self, x):
        return self.last(self.first(x))


def shared_layer():
    x = keras.Input((WIDTH,))
    inside = dense(8, "inside", "tanh")
    shared = dense(8, "shared", "tanh", seed=3)
    return keras.Model(x, dense(N_CLASSES, "last", seed=2)(shared(shared(inside(x)))), name="shared_model")


def embedding():
    x = keras.Input((6,), dtype="int64")
    vectors = keras.layers.Embedding(40, 4, name="vectors", embeddings_initializer=initializer(4))(x)
    flat = keras.layers.Flatten(name="flat")(vectors)
    return keras.Model(x, dense(N_CLASSES, "last", seed=2)(flat), name="embedding_model")


def reference_loop(model, optimizer, given, *, loss_fn=LOSS, scale_loss=False):
    """Trains a model over batches, and keeps what a monitor should have seen: the gradients without a loss's scale.

    Returns:
        A map of ``(kind, path)`` to float64 ``[n_steps, 10]``, and of ``"loss"``, ``"learning_rate"``,
        ``"gradient_norm"`` to lists.
    """
    seen = {"loss": [], "learning_rate": [], "gradient_norm": []}
    for x, y in given:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(loss_fn(y, model(x, training=True)))
            used = optimizer.scale_loss(loss) if scale_loss else loss
        variables = model.trainable_variables
        gradients = tape.gradient(used, variables)
        if not optimizer.built:
            optimizer.build(variables)
        scale = optimizer.scale_loss(tf.constant(1.0)) if scale_loss else 1.0
        before = [variable.numpy() for variable in variables]
        rate = getattr(optimizer, "learning_rate", None)
        seen["loss"].append(float(loss))
        seen["learning_rate"] += [] if rate is None else [float(tf.convert_to_tensor(rate))]
        optimizer.apply(gradients, variables)
        dense_ones = [None if one is None else one / np.float32(scale) for one in map(as_dense, gradients)]
        norms = [row(one)[0] for one in dense_ones if one is not None]
        seen["gradient_norm"].append(float(np.sqrt(np.square(norms).sum())))
        for variable, gradient, old in zip(variables, dense_ones, before, strict=True):
            new = variable.numpy()
            missing = np.array([np.nan] * 9 + [0.0, np.nan, np.nan])
            numbers = {
                "gradient": missing if gradient is None else row(gradient),
                "weight": row(new),
                "update": row(new - old),
            }
            for kind, one in numbers.items():
                seen.setdefault((kind, variable.path), []).append(one)
    return {key: np.array(values) for key, values in seen.items()}


def as_dense(gradient):
    if not isinstance(gradient, tf.IndexedSlices):
        return None if gradient is None else gradient.numpy()
    dense = np.zeros(gradient.dense_shape.numpy())
    np.add.at(dense, gradient.indices.numpy(), gradient.values.numpy().astype(np.float64))
    return dense


def assert_close(found, expected, what="", *, rtol=2e-3):
    """Compares two series of rows ``[n_steps, 10]``, computed by two compilers: each rounds as it likes.

    Lengths are compared relative to their size, elements (min, max, mean) relative to the tensor's norm; counts of
    non-finite elements exactly; exact zeros to a hundredth, for an update may just round to zero.
    """
    assert found.shape == expected.shape, f"{what}: {found.shape} is not {expected.shape}"
    size = np.maximum(expected[:, 9], 1)
    typical = np.nan_to_num(expected[:, 0]) / np.sqrt(size)
    for i, name in enumerate(NAMES):
        if name == "n_zero":
            off = np.abs(found[:, i] - expected[:, i])
            assert not (off > 1 + size / 100).any(), f"{what} {name}: {found[:, i]} is not {expected[:, i]}"
        elif name in COUNTS:
            np.testing.assert_array_equal(found[:, i], expected[:, i], err_msg=f"{what} {name}")
        else:
            off = np.abs(found[:, i] - expected[:, i])
            close = off <= rtol * np.maximum(np.abs(expected[:, i]), typical) + 1e-9
            both_nan = np.isnan(found[:, i]) & np.isnan(expected[:, i])
            assert (close | both_nan).all(), f"{what} {name}: {found[:, i]} is not {expected[:, i]}"


def assert_recorded(recording, seen, *, stream=None, rtol=2e-3):
    """The recording of one stream holds every number of the reference loop, and no other tensor."""
    n_steps = len(seen["loss"])
    assert recording.steps(stream) == list(range(n_steps))
    keys = [key for key in seen if isinstance(key, tuple)]
    assert recording.tensors("gradient", stream) == [path for kind, path in keys if kind == "gradient"]
    for kind, path in keys:
        found = recording.statistics(kind, path, stream)
        assert_close(found, seen[kind, path], f"{kind} of {path}", rtol=rtol)
    for name in ("learning_rate", "gradient_norm"):
        found = recording.scalar(name, stream)
        np.testing.assert_allclose(list(found.values()), seen[name], rtol=rtol, err_msg=name)
