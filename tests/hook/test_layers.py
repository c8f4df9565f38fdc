"""What each layer gave and the gradient that came back to it, against a loop that looks into every ``call`` itself."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.layer import CALLS_MAX
from tests.hook import training
from tests.hook.training import LOSS, N_CLASSES, WIDTH, data, dense
from tests.numerics.reference import COUNTS, NAMES, cosine_distance, row

LENGTH, FEATURES = 5, 4
N_STEPS = 3


def sequences(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(N_STEPS, 8, LENGTH, FEATURES)).astype("float32"), random.integers(0, 3, (N_STEPS, 8))


def vectors(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(N_STEPS, 8, WIDTH)).astype("float32"), random.integers(0, N_CLASSES, (N_STEPS, 8))


def images(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(N_STEPS, 8, 6, 6, 2)).astype("float32"), random.integers(0, N_CLASSES, (N_STEPS, 8))


def nested():
    inner_input = keras.Input((8,))
    inner = keras.Model(inner_input, dense(6, "inside", "tanh", seed=5)(inner_input), name="inner")
    x = keras.Input((WIDTH,))
    return keras.Model(x, dense(N_CLASSES, "last", seed=2)(inner(dense(8, "first", "relu")(x))), name="outer")


class Block(keras.layers.Layer):
    """A layer that holds layers, and does something of its own with what they give."""

    def __init__(self, **options):
        super().__init__(**options)
        self.one, self.two = dense(WIDTH, "one", "sigmoid"), dense(WIDTH, "two", seed=3)

    def build(self, shape):
        self.one.build(shape)
        self.two.build(shape)

    def call(self, x):
        return x + tf.square(self.two(self.one(x)))


def subclassed():
    class Model(keras.Model):
        def __init__(self):
            super().__init__(name="subclassed")
            self.block, self.last = Block(name="block"), dense(N_CLASSES, "last", seed=2)

        def call(self, x):
            return self.last(self.block(x))

    return Model()


class TwoOutputs(keras.layers.Layer):
    def call(self, x):
        return tf.nn.relu(x), tf.nn.relu(-x)


def two_outputs():
    x = keras.Input((WIDTH,))
    one, other = TwoOutputs(name="both")(dense(8, "first")(x))
    merged = keras.layers.Concatenate(name="merge")([one, other])
    return keras.Model(x, dense(N_CLASSES, "last", seed=2)(merged), name="two")


def convolution():
    layers = [
        keras.Input((6, 6, 2)),
        keras.layers.Conv2D(4, 3, activation="relu", name="conv", kernel_initializer=training.initializer(3)),
        keras.layers.BatchNormalization(name="norm"),
        keras.layers.ReLU(name="relu"),
        keras.layers.GlobalAveragePooling2D(name="pool"),
        dense(N_CLASSES, "last", seed=2),
    ]
    return keras.Sequential(layers, name="convolution")


def initializers():
    return {name: training.initializer(i) for i, name in enumerate(("kernel_initializer", "recurrent_initializer"))}


def recurrent(cell):
    def build():
        x = keras.Input((LENGTH, FEATURES))
        h = cell()(x)
        return keras.Model(x, dense(N_CLASSES, "last", seed=2)(keras.layers.GlobalMaxPooling1D(name="pool")(h)))

    return build


class OwnCell(keras.layers.Layer):
    """A recurrent cell of the user's own."""

    units = state_size = 4

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 4), initializer=training.initializer(1), name="kernel")

    def call(self, x, states):
        h = tf.tanh(x @ self.kernel + 0.5 * states[0])
        return h, [h]


def attention():
    x = keras.Input((LENGTH, FEATURES))
    h = keras.layers.MultiHeadAttention(2, 3, name="attention", kernel_initializer=training.initializer(1))(x, x)
    h = keras.layers.LayerNormalization(name="norm")(keras.layers.Add(name="add")([x, h]))
    return keras.Model(x, dense(N_CLASSES, "last", seed=2)(keras.layers.Flatten(name="flat")(h)), name="attending")


MODELS = {
    "sequential": (training.sequential, vectors),
    "nested": (nested, vectors),
    "subclassed": (subclassed, vectors),
    "shared layer": (training.shared_layer, vectors),
    "two outputs": (two_outputs, vectors),
    "convolution": (convolution, images),
    "LSTM": (recurrent(lambda: keras.layers.LSTM(4, return_sequences=True, name="lstm", **initializers())), sequences),
    "GRU": (recurrent(lambda: keras.layers.GRU(4, return_sequences=True, name="gru", **initializers())), sequences),
    "own cell": (recurrent(lambda: keras.layers.RNN(OwnCell(), return_sequences=True, name="own")), sequences),
    "attention": (attention, sequences),
}


class Seen:
    """Every output of every layer's ``call`` of a model of the test's own, run eagerly, in order."""

    def __init__(self, model):
        self.outputs = []
        for layer in self.layers_of(model):
            layer.call = self.keep(layer)

    def layers_of(self, model):
        return [one for one in model._flatten_layers() if one is not model]

    def keep(self, layer):
        call = layer.call

        @functools.wraps(call)
        def seen(*args, **kwargs):
            output = call(*args, **kwargs)
            for i, tensor in enumerate(keras.tree.flatten(output)):
                path = layer.path or layer.name
                self.outputs.append((f"{path}:{i}" if i else path, tensor))
            return output

        return seen


def reference(model, optimizer, given, loss_fn=LOSS):
    """Statistics by kind and name, one row a step, of what a training gives when it is looked at from outside."""
    model(given[0][0][:1])
    seen = Seen(model)
    found = {}
    for x, y in given:
        seen.outputs = []
        with tf.GradientTape(persistent=True) as tape:
            loss = loss_fn(y, model(x, training=True))
        for name, tensor, gradient in zip(
            *zip(*named(seen.outputs), strict=True), tape.gradient(loss, [t for _, t in seen.outputs]), strict=True
        ):
            found.setdefault(("activation", name), []).append(row_of_output(tensor.numpy()))
            if gradient is not None:
                found.setdefault(("backprop", name), []).append(row(gradient.numpy()))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return {key: np.stack(rows) for key, rows in found.items()}


def row_of_output(x):
    found = row(x)
    if x.ndim >= 2 and x[0].size > 1:
        found[NAMES.index("cosine_distance")] = cosine_distance(x[:16])
    return found


def named(outputs):
    times = {}
    for name, tensor in outputs:
        times[name] = times.get(name, 0) + 1
        yield (name if times[name] == 1 else f"{name} ({times[name]})"), tensor


def train(way, model, optimizer, given, loss_fn=LOSS):
    if way.startswith("fit"):
        model.compile(optimizer, loss_fn, jit_compile="jit" in way, run_eagerly="eagerly" in way)
        x, y = (np.concatenate([pair[i] for pair in given]) for i in (0, 1))
        model.fit(x, y, batch_size=len(given[0][0]), shuffle=False, verbose=0)
        return

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    if way != "eager loop":
        step = tf.function(step, jit_compile="jit" in way)
    for x, y in given:
        step(tf.constant(x), tf.constant(y))


def assert_layers(recording, expected, *, rtol=2e-4, ignored=()):
    """Compares everything but ``n_saturated``, which has tests of its own; what was recorded must all be expected."""
    recorded = {(kind, name) for kind in ("activation", "backprop") for name in recording.tensors(kind)}
    assert recorded
    missing = {key for key in expected if key not in recorded and not key[1].startswith(tuple(ignored))}
    for kind, name in recorded:
        found, wanted = recording.statistics(kind, name), expected[kind, name]
        assert found.shape == wanted.shape, (kind, name)
        scale = np.maximum(wanted[:, NAMES.index("norm")], 1e-12)
        for i, statistic in enumerate(NAMES):
            if statistic == "n_saturated":
                continue
            if statistic in COUNTS:
                np.testing.assert_array_equal(found[:, i], wanted[:, i], err_msg=f"{kind} {name} {statistic}")
            elif statistic == "cosine_distance":
                np.testing.assert_allclose(found[:, i], wanted[:, i], atol=10 * rtol, err_msg=f"{kind} {name}")
            else:
                error = np.abs(found[:, i] - wanted[:, i]) / scale
                assert error.max() < rtol, f"{kind} {name} {statistic}: {found[:, i]} is not {wanted[:, i]}"
    return missing


@pytest.mark.parametrize("name", MODELS)
def test_the_layers_of_every_kind_of_model(watch, read, name):
    build, make = MODELS[name]
    given = list(zip(*make(), strict=True))
    expected = reference(build(), keras.optimizers.SGD(0.1), given)
    keras.backend.clear_session(free_memory=False)
    model = build()
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.1), given)
    recording = read(begun)
    missing = assert_layers(recording, rename(expected, recording))
    # What only passes on what came in, what another layer gave and its container passes on, steps within a loop.
    allowed = ("flat", "input", "inner", "own", "lstm", "gru", "attention")
    assert all(any(word in key[1] for word in allowed) for key in missing), missing


def rename(expected, recording):
    """Expected under the recorded names: automatic names of models count up with each model built."""
    names = {name for kind in ("activation", "backprop") for name in recording.tensors(kind)}
    tails = {name.partition("/")[2] or name: name for name in names}
    return {(kind, tails.get(name.partition("/")[2] or name, name)): rows for (kind, name), rows in expected.items()}


@pytest.mark.parametrize("way", ["fit", "fit, jit", "fit, eagerly", "tf.function, jit", "eager loop"])
def test_the_layers_in_every_way_of_training(watch, read, way):
    given = list(zip(*images(), strict=True))
    expected = reference(convolution(), keras.optimizers.SGD(0.1), given)
    model = convolution()
    begun = watch(model)
    train(way, model, keras.optimizers.SGD(0.1), given)
    recording = read(begun)
    assert assert_layers(recording, rename(expected, recording)) == set()
    assert [name.rpartition("/")[2] for name in recording.tensors("activation")] == [
        "conv", "norm", "relu", "pool", "last",
    ]  # fmt: skip
    assert recording.tensors("backprop") == recording.tensors("activation")


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def minus_log(y, p):
    return -tf.reduce_mean(tf.gather(tf.math.log(p), tf.cast(y, "int32"), axis=1, batch_dims=1))


@pytest.mark.parametrize("way", ["fit", "fit, jit", "fit, eagerly", "tf.function, jit", "eager loop"])
@pytest.mark.parametrize("function", ["softmax", "sigmoid"])
def test_a_loss_that_looks_behind_the_last_function(watch, read, way, function):
    """Keras' cross-entropies take what it was given: the gradient is probability minus label, over the batch."""
    n_outputs = N_CLASSES if function == "softmax" else 1
    model = keras.Sequential([keras.Input((WIDTH,)), dense(n_outputs, "last", function)], name="behind")
    kernel = model.layers[-1].kernel.numpy().astype(np.float64)
    x, y = data()
    if function == "softmax":
        loss = keras.losses.SparseCategoricalCrossentropy()
        expected = (softmax(x @ kernel) - np.eye(N_CLASSES)[y]) / len(x)
    else:
        y = (y % 2)[:, None].astype("float32")
        loss = keras.losses.BinaryCrossentropy()
        expected = (1 / (1 + np.exp(-x @ kernel)) - y) / len(x)
    begun = watch(model)
    train(way, model, keras.optimizers.SGD(0.0), [(x, y)], loss)
    recording = read(begun)
    (name,) = recording.tensors("backprop")
    (entry,) = (one for one in recording.tables[0]["tensors"] if one["kind"] == "backprop")
    assert entry["activation"] == function
    found, wanted = recording.statistics("backprop", name)[0], row(expected)
    for statistic in ("norm", "min", "max", "std", "n_elements"):
        i = NAMES.index(statistic)
        assert found[i] == pytest.approx(wanted[i], rel=1e-4), statistic


def test_a_loss_of_what_the_last_function_gives(watch, read):
    model = keras.Sequential([keras.Input((WIDTH,)), dense(N_CLASSES, "last", "softmax")], name="given")
    p = softmax(data()[0] @ model.layers[-1].kernel.numpy().astype(np.float64))
    x, y = data()
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.0), [(x, y)], minus_log)
    recording = read(begun)
    (entry,) = (one for one in recording.tables[0]["tensors"] if one["kind"] == "backprop")
    assert entry["activation"] is None
    found = recording.statistics("backprop", entry["tensor"])[0]
    assert found[NAMES.index("min")] == pytest.approx((-1 / p[np.arange(len(y)), y] / len(y)).min(), rel=1e-4)
    assert found[NAMES.index("max")] == 0


def test_mixed_precision(watch, read):
    layers = [keras.Input((WIDTH,)), dense(8, "first", "relu"), dense(N_CLASSES, "last", seed=2)]
    for layer in layers[1:]:
        layer.dtype_policy = keras.DTypePolicy("mixed_float16")
    model = keras.Sequential(layers, name="mixed")
    begun = watch(model)
    x, y = data()
    train("tf.function", model, keras.optimizers.SGD(0.1), [(x, y)])
    recording = read(begun)
    table = {(one["kind"], one["tensor"]): one for one in recording.tables[0]["tensors"]}
    first = table["activation", recording.tensors("activation")[0]]
    assert (first["dtype"], first["shape"], first["activation"]) == ("float16", [len(x), 8], "relu")
    kernel = keras.Sequential([keras.Input((WIDTH,)), dense(8, "first", "relu")]).layers[0].kernel.numpy()
    found = recording.statistics("activation", first["tensor"])[0]
    np.testing.assert_allclose(found[NAMES.index("norm")], np.linalg.norm(np.maximum(x @ kernel, 0)), rtol=2e-3)


def test_units_without_slope_are_counted(watch, read):
    """Of six units two are dead, and one is so for a part of the batch only; of three sigmoids one is at its end."""
    x = np.array([[1.0], [2.0], [-1.0]], np.float32)
    model = keras.Sequential(
        [keras.Input((1,)), dense(6, "relu", "relu"), dense(3, "sigmoid", "sigmoid"), dense(3, "last")]
    )
    model.layers[0].set_weights([np.array([[1, 1, 0, 0, 1, -1]], "float32"), np.array([0, 5, -1, -2, 5, 3], "float32")])
    model.layers[1].set_weights([np.zeros((6, 3), "float32"), np.array([0, 30, 1], "float32")])
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.0), [(x, np.array([0, 1, 2]))])
    recording = read(begun)
    relu, sigmoid, _ = (recording.statistics("activation", name)[0] for name in recording.tensors("activation"))
    assert relu[NAMES.index("n_saturated")] == 2 * 3
    assert relu[NAMES.index("n_zero")] == 2 * 3 + 1
    assert sigmoid[NAMES.index("n_saturated")] == 1 * 3
    assert np.isnan(recording.statistics("backprop", recording.tensors("backprop")[0])[0, NAMES.index("n_saturated")])


def test_a_relu_that_leaks_is_never_flat(watch, read):
    """Below 0 it has a slope, though all of its output is there."""
    model = keras.Sequential(
        [keras.Input((2,)), dense(3, "first"), keras.layers.ReLU(negative_slope=0.1), keras.layers.ReLU()]
    )
    model.layers[0].set_weights([np.zeros((2, 3), "float32"), np.array([-1, -1, 1], "float32")])
    begun = watch(model)
    train("tf.function", model, keras.optimizers.SGD(0.0), [(np.ones((4, 2), np.float32), np.array([0, 1, 2, 0]))])
    recording = read(begun)
    _, leaky, relu = (recording.statistics("activation", name)[0] for name in recording.tensors("activation"))
    assert np.isnan(leaky[NAMES.index("n_saturated")])
    assert relu[NAMES.index("n_saturated")] == 2 * 4


def test_batches_of_several_sizes(watch, read):
    """A last, smaller batch is traced anew; its rows stand in the same table."""
    x, y = data()
    model = training.sequential()
    begun = watch(model)
    model.compile(keras.optimizers.SGD(0.1), LOSS, jit_compile=False)
    model.fit(x[:40], y[:40], batch_size=16, shuffle=False, verbose=0)
    train("tf.function", model, model.optimizer, [(x[:7], y[:7])])
    recording = read(begun)
    sizes = recording.statistics("activation", recording.tensors("activation")[0])[:, NAMES.index("n_elements")]
    assert sizes.tolist() == [16 * 8, 16 * 8, 8 * 8, 7 * 8]


def test_what_is_not_asked_for_is_not_looked_at(watch, read):
    model = training.sequential()
    begun = watch(model, capture=("gradient", "activation"))
    train("tf.function", model, keras.optimizers.SGD(0.1), [data()])
    recording = read(begun)
    assert (len(recording.tensors("activation")), recording.tensors("backprop")) == (2, [])


def test_evaluation_and_prediction_are_no_part_of_a_step(watch, read):
    x, y = data()
    model = training.sequential()
    begun = watch(model)
    model.compile(keras.optimizers.SGD(0.1), LOSS, jit_compile=False)
    model.fit(x, y, batch_size=16, validation_data=(x, y), verbose=0)
    model.predict(x, verbose=0)
    model(x)
    train("eager loop", model, model.optimizer, [(x, y)])
    recording = read(begun)
    assert len(recording.tensors("activation")) == 2
    assert np.isfinite(recording.statistics("activation", recording.tensors("activation")[0])[:, 0]).all()


class Coder(keras.Model):
    """A model whose step calls its parts, and never the model."""

    def __init__(self):
        super().__init__(name="coder")
        self.encoder = keras.Sequential([keras.Input((WIDTH,)), dense(4, "code", "relu")], name="encoder")
        self.decoder = keras.Sequential([keras.Input((4,)), dense(WIDTH, "picture", seed=2)], name="decoder")
        self.beside = dense(1, "beside", seed=3)

    def call(self, x):
        return self.decoder(self.encoder(x))

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            code = self.encoder(x, training=True)
            loss = tf.reduce_mean(tf.square(self.decoder(code, training=True) - x)) + tf.reduce_mean(self.beside(code))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


@pytest.mark.parametrize("eagerly", [False, True], ids=["graph", "eager"])
def test_a_step_that_calls_the_parts_of_a_model(watch, read, eagerly):
    x, _ = vectors()
    model = Coder()
    watched = watch(model)
    model.compile(keras.optimizers.SGD(0.01), run_eagerly=eagerly)
    model.fit(x[0], x[0], batch_size=8, epochs=2, verbose=0)
    recording = read(watched)
    assert [name.rpartition("/")[2] for name in recording.tensors("activation")] == ["code", "picture", "beside"]
    assert [name.rpartition("/")[2] for name in recording.tensors("backprop")] == ["code", "picture", "beside"]
    first, slope = recording.tensors("activation")[0], recording.tensors("backprop")[1]
    untrained = Coder()  # weights come from seeds of their own
    encoded = np.maximum(x[0] @ untrained.encoder.layers[-1].kernel.numpy(), 0)
    assert recording.statistics("activation", first)[0, NAMES.index("norm")] == pytest.approx(
        np.linalg.norm(encoded), rel=1e-5
    )
    rebuilt = encoded @ untrained.decoder.layers[-1].kernel.numpy()
    expected = np.linalg.norm(2 * (rebuilt - x[0]) / x[0].size)
    assert recording.statistics("backprop", slope)[0, NAMES.index("norm")] == pytest.approx(expected, rel=1e-5)


def test_a_layer_that_is_called_very_often_in_a_step_is_looked_at_a_few_times(watch, read):
    x, _ = vectors()
    model = keras.Sequential([keras.Input((WIDTH,)), dense(WIDTH, "again", "tanh")], name="unrolled")
    watched, optimizer = watch(model), keras.optimizers.SGD(0.01)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            state = x
            for _ in range(2 * CALLS_MAX):
                state = model(state, training=True)
            loss = tf.reduce_mean(tf.square(state))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )

    step(x[0])
    recording = read(watched)
    names = recording.tensors("activation")
    assert len(names) == CALLS_MAX
    assert names[-1].endswith(f"again ({CALLS_MAX})")
    assert recording.tensors("backprop") == names


def test_two_models_in_one_step(watch, read):
    """As in an adversarial training: the critic is called by both, and each optimizer has what came before it."""
    generator = keras.Sequential([keras.Input((2,)), dense(WIDTH, "made", "tanh")], name="generator")
    critic = keras.Sequential([keras.Input((WIDTH,)), dense(4, "judged", "relu"), dense(1, "score")], name="critic")
    begun = watch(generator, critic)
    ours, theirs = keras.optimizers.SGD(0.1, name="ours"), keras.optimizers.SGD(0.1, name="theirs")
    x, _ = data()

    @tf.function
    def step(x, noise):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(critic(generator(noise))) - tf.reduce_mean(critic(x))
        theirs.apply(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables)
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(critic(generator(noise)))
        ours.apply(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables)

    for _ in range(3):
        step(x, tf.random.normal([len(x), 2], seed=1))
    recording = read(begun)
    first, second = (recording.tensors("activation", stream) for stream in (0, 1))
    assert [name.partition("/")[2] for name in first] == ["made", "judged", "score", "judged (2)", "score (2)"]
    assert [name.partition("/")[2] for name in second] == ["made @ours", "judged @ours", "score @ours"]
    for stream, names in ((0, first), (1, second)):
        for name in names:
            assert (recording.statistics("activation", name, stream)[:, 0] > 0).all()
    # What the critic is given is no part of its way back, and its gradient is not computed for the hook's sake.
    assert recording.tensors("backprop", 0) == first[1:]
    assert recording.tensors("backprop", 1) == second


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("is_asked_first", [False, True], ids=["one after the other", "both asked, then both applied"])
def test_two_models_that_share_what_one_gives(watch, read, is_asked_first, eagerly):
    """Two tapes over one pass: each optimizer has what its own gradients came by, and what came back on that way."""
    generator = keras.Sequential([keras.Input((2,)), dense(WIDTH, "made", "tanh")], name="generator")
    critic = keras.Sequential([keras.Input((WIDTH,)), dense(1, "score")], name="critic")
    begun = watch(generator, critic)
    ours, theirs = keras.optimizers.SGD(0.0, name="ours"), keras.optimizers.SGD(0.0, name="theirs")
    x, noise = tf.constant(data()[0]), tf.random.normal([len(data()[0]), 2], seed=1)

    def step(x, noise):
        with tf.GradientTape() as of_ours, tf.GradientTape() as of_theirs:
            real, fake = critic(x), critic(generator(noise))
            loss = -3 * tf.reduce_sum(fake)
            judgement = 2 * tf.reduce_sum(fake) - 5 * tf.reduce_sum(real)
        gradients = of_ours.gradient(loss, generator.trainable_variables)
        if is_asked_first:
            judged = of_theirs.gradient(judgement, critic.trainable_variables)
            ours.apply(gradients, generator.trainable_variables)
        else:
            ours.apply(gradients, generator.trainable_variables)
            judged = of_theirs.gradient(judgement, critic.trainable_variables)
        theirs.apply(judged, critic.trainable_variables)

    for _ in range(2):
        (step if eagerly else tf.function(step))(x, noise)
    recording = read(begun)

    def means(stream, kind):
        names = recording.tensors(kind, stream)
        found = {name.partition("/")[2].partition(" @")[0]: name for name in names}
        place = NAMES.index("mean")
        return {name: recording.statistics(kind, whole, stream)[:, place].tolist() for name, whole in found.items()}

    outputs = {
        name: [value, value]
        for name, value in zip(
            ("score", "made", "score (2)"),
            (float(np.mean(one)) for one in (critic(x), generator(noise), critic(generator(noise)))),
            strict=True,
        )
    }
    kernel = critic.layers[0].kernel.numpy()[:, 0].astype("float64")
    of_made = -3 * kernel.mean()
    assert means(0, "backprop") == {"made": pytest.approx([of_made, of_made], rel=1e-5), "score (2)": [-3.0, -3.0]}
    back = means(1, "backprop")
    assert {name: back[name] for name in ("score", "score (2)")} == {"score": [-5.0, -5.0], "score (2)": [2.0, 2.0]}
    assert ("made" in back) == eagerly  # eagerly nothing tells what an output was made of
    for stream in (0, 1):
        given = means(stream, "activation")
        assert given.keys() >= means(stream, "backprop").keys()
        assert given == {name: pytest.approx(outputs[name], rel=1e-5, abs=1e-6) for name in given}
    assert ("score" in means(0, "activation")) == (not is_asked_first)  # nobody had asked for more by then


def test_a_gradient_of_a_gradient(watch, read):
    """A penalty on a gradient asks the tape twice; what came back to the layer is the sum that trains it."""
    x = tf.constant(data()[0])
    model = keras.Sequential([keras.Input((WIDTH,)), dense(4, "hidden", "tanh"), dense(1, "score", seed=2)], name="c")
    optimizer = keras.optimizers.SGD(0.0)

    def penalized(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = model(x)
        slope = inner.gradient(score, x)
        return tf.reduce_mean(tf.square(slope)) + tf.reduce_mean(tf.square(score))

    hidden = tf.Variable(np.tanh(x.numpy() @ model.layers[0].kernel.numpy()))
    with tf.GradientTape() as outer:
        inside = hidden + 0
        score = inside @ model.layers[1].kernel + model.layers[1].bias
        # d score / d x by hand: through tanh' = 1 - hidden^2.
        slope = ((1 - tf.square(inside)) * model.layers[1].kernel[:, 0]) @ tf.transpose(model.layers[0].kernel)
        loss = tf.reduce_mean(tf.square(slope)) + tf.reduce_mean(tf.square(score))
    expected = outer.gradient(loss, inside).numpy()

    begun = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = penalized(x)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(x)
    recording = read(begun)
    found = recording.statistics("backprop", "c/hidden")[0]
    np.testing.assert_allclose(found[NAMES.index("norm")], np.linalg.norm(expected), rtol=1e-4)


class Squeezed(keras.Model):
    def __init__(self, function, change):
        super().__init__(name="squeezed")
        self.last, self.change = dense(1, "last", function), change

    def call(self, x):
        return self.change(self.last(x))


@pytest.mark.parametrize(
    ("function", "change", "expected"),
    [
        ("sigmoid", lambda y: tf.squeeze(y, -1), "sigmoid"),
        ("tanh", lambda y: tf.reshape(y, (-1, 1, 1)), "tanh"),
        ("sigmoid", lambda y: tf.squeeze(y, -1) * 4.0 + 1.0, None),
        ("relu", lambda y: tf.squeeze(y, -1), None),  # its zeros are told of the layer before
        (None, lambda y: tf.squeeze(y, -1), None),
    ],
    ids=["squeezed", "reshaped", "scaled", "softmax", "no function"],
)
def test_a_function_whose_result_is_given_another_shape(watch, read, function, change, expected):
    model = Squeezed(function, change)
    x, y = data()
    begun = watch(model)
    train("fit", model, keras.optimizers.SGD(0.0), [(x, y.astype("float32"))], keras.losses.MeanSquaredError())
    entries = [one for one in read(begun).tables[0]["tensors"] if one["kind"] == "activation"]
    assert {one["tensor"]: one["activation"] for one in entries}["squeezed"] == expected
