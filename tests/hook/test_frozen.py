"""Frozen layers: their biases are sent where no training has ever moved any of them, and then alone."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook.diagnosis import diagnose

X = np.random.default_rng(0).normal(size=(4096, 6, 4)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 5, size=4096)


def encoder_of(*layers):
    return keras.Sequential([keras.Input((6, 4)), *layers], name="encoder")


def frozen(recording):
    """Names and shapes of what is sent of frozen layers."""
    (table,) = recording.tables.values()
    return {one["tensor"]: tuple(one["shape"]) for one in table["tensors"] if one.get("frozen")}


def classify(watch, encoder, *, n_samples=64, **options):
    """Trains a head on an encoder that is frozen."""
    encoder.trainable = False
    flat = [keras.layers.Flatten()] if len(encoder.output_shape) > 2 else []
    model = keras.Sequential([encoder, *flat, keras.layers.Dense(8, activation="relu"), keras.layers.Dense(5)])
    model.build((None, 6, 4))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss, **options)
    watched = watch(model, budget=0)
    model.fit(X[:n_samples], Y[:n_samples], batch_size=32, epochs=1, verbose=0)
    return watched


def play_against(watch, *, is_thawed, n_rounds=120):
    """A game of Keras' own steps, in which the other's model is frozen for its turn, and only perhaps thawed again."""
    generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6)])
    judge = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8), keras.layers.Dense(1)], name="judge")
    judge.compile(keras.optimizers.Adam(1e-3), "mse", jit_compile=False)
    judge.trainable = False
    both = keras.Sequential([generator, judge])
    both.compile(keras.optimizers.Adam(1e-3), "mse", jit_compile=False)
    watched = watch(generator, judge, budget=0)
    for _ in range(n_rounds):
        judge.trainable = is_thawed
        judge.train_on_batch(X[:32, 0, :1].repeat(6, 1), np.ones((32, 1), np.float32))
        judge.trainable = False
        both.train_on_batch(X[:32, 0], np.ones((32, 1), np.float32))
    return watched


FRESH = {
    "dense": (lambda: [keras.layers.Dense(7)], {"dense/bias": (7,)}),
    "convolution": (lambda: [keras.layers.Conv1D(6, 3, activation="relu")], {"conv1d/bias": (6,)}),
    "lstm": (lambda: [keras.layers.LSTM(5)], {"lstm/lstm_cell/bias": (20,)}),
    "gru": (lambda: [keras.layers.GRU(5)], {"gru/gru_cell/bias": (2, 15)}),
    "within a layer": (lambda: [keras.layers.Bidirectional(keras.layers.SimpleRNN(5))], None),
    "the four largest": (lambda: [keras.layers.Dense(n) for n in range(4, 10)], None),
}


@pytest.mark.parametrize(
    ("layers", "expected", "options"),
    [
        *(pytest.param(*one, {}, id=name) for name, one in FRESH.items()),
        pytest.param(*FRESH["lstm"], {"run_eagerly": True}, id="eager"),
        pytest.param(*FRESH["dense"], {"jit_compile": True}, id="jit"),
    ],
)
def test_biases_that_nothing_ever_moved_are_sent(watch, read, layers, expected, options):
    keras.backend.clear_session()
    recording = read(classify(watch, encoder_of(*layers()), **options))
    found = frozen(recording)
    if expected is None:
        assert sorted(shape[-1] for shape in found.values()) in ([5, 5], [6, 7, 8, 9])
    else:
        assert {
            name.split("/", 1)[-1] if name.startswith("encoder") else name: n for name, n in found.items()
        } == expected
    (table,) = recording.tables.values()
    (rows,) = (messages for messages in recording.rows.values())
    place = [one["tensor"] for one in table["tensors"]].index(next(iter(found)))
    norms = np.concatenate([m["statistics"][:, place, 0] for m in rows])
    ones = 5 if "lstm" in next(iter(found)) else 0
    np.testing.assert_allclose(norms[np.isfinite(norms)], np.sqrt(ones), rtol=1e-6)
    assert np.isfinite(norms).any()


def taught(*layers):
    """An encoder that one step of a training has moved."""
    encoder = encoder_of(*layers)
    encoder.compile(optimizer="sgd", loss="mse")
    encoder.fit(X[:8], np.ones((8, *encoder.output_shape[1:]), np.float32), verbose=0)
    return encoder


KNOWN = {
    "trained": lambda: taught(keras.layers.Dense(8)),
    "one of two trained": lambda: encoder_of(taught(keras.layers.Dense(8)), keras.layers.Dense(8)),
    "no bias": lambda: encoder_of(keras.layers.Dense(8, use_bias=False)),
    "normalisation alone": lambda: encoder_of(keras.layers.BatchNormalization()),
    "tables": lambda: encoder_of(
        keras.layers.Flatten(), keras.layers.Discretization([0.0]), keras.layers.Embedding(2, 8)
    ),
}


@pytest.mark.parametrize("make", KNOWN.values(), ids=KNOWN.keys())
def test_what_was_trained_or_says_nothing_is_not_sent(watch, read, make):
    assert frozen(read(classify(watch, make()))) == {}


def test_what_is_trained_is_not_frozen(watch, read):
    model = keras.Sequential(
        [keras.Input((6, 4)), keras.layers.Flatten(), keras.layers.Dense(8), keras.layers.Dense(1)]
    )
    model.compile(optimizer="sgd", loss="mse")
    watched = watch(model)
    model.fit(X[:8], Y[:8], verbose=0)
    assert frozen(read(watched)) == {}


def findings(watch, read, encoder, **options):
    return diagnose(read(classify(watch, encoder, n_samples=4096, **options))).findings()


def test_a_copy_without_its_weights_is_told_of_and_one_with_them_is_not(watch, read):
    pretrained = taught(keras.layers.Dense(16, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(12))
    copy = keras.models.clone_model(pretrained)
    (found,) = [one for one in findings(watch, read, copy) if one.kind == "missing_gradient"]
    assert found.layer.startswith("encoder/dense")
    assert found.title.endswith(" are frozen as made: no training has ever moved a bias there")
    assert found.hypotheses[0].cause == "The pretrained weights never came into the layers that are frozen"
    assert found.first_step == 0
    copy = keras.models.clone_model(pretrained)
    copy.set_weights(pretrained.get_weights())
    assert "missing_gradient" not in {one.kind for one in findings(watch, read, copy)}


def test_what_another_optimizer_trains_meanwhile_is_not_told_of(watch, read):
    """As in the training of an adversary: frozen in one of the two models, and trained in the other."""
    judge = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    judge.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
    maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)])
    both = keras.Sequential([keras.Input((4,)), maker, judge])
    both.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
    watched = watch(both, budget=0)
    for row in np.arange(150):
        batch = tf.constant(X[row : row + 8, 0])
        judge.trainable = False
        both.train_on_batch(batch, tf.ones([8, 1]))
        judge.trainable = True
        judge.train_on_batch(batch, tf.zeros([8, 1]))
    recording = read(watched)
    assert any(one.get("frozen") for table in recording.tables.values() for one in table["tensors"])
    assert "missing_gradient" not in {one.kind for one in diagnose(recording).findings()}


class Raw(keras.layers.Layer):
    """Holds variables that Keras 3 does not know of."""

    def build(self, shape):
        self.w = tf.Variable(tf.random.normal((shape[-1], 8)), name="w")
        self.b = tf.Variable(tf.zeros(8), name="b")

    def call(self, inputs):
        return tf.nn.relu(tf.matmul(inputs, self.w) + self.b)


def eagerly(step):
    return step


def partly_trained(
    watch, make, *, given=lambda layer: False, n_steps=130, touch=None, rate=1e-5, targets=Y, wrap=tf.function
):
    """Trains the head of a model, and of the other layers what is ``given``, with one optimizer more for the latter."""
    keras.backend.clear_session()
    layers = make()
    model = keras.Sequential([keras.Input((6,)), *layers, keras.layers.Flatten(), keras.layers.Dense(1, name="head")])
    head = model.layers[-1].trainable_weights
    others = [weight for layer in layers if given(layer) for weight in layer.trainable_weights]
    optimizers = [keras.optimizers.SGD(rate), keras.optimizers.SGD(1e-4)]
    for optimizer, weights in zip(optimizers, (head, others), strict=True):
        optimizer.build(weights)
    watched = watch(model)

    @wrap
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        of_head, of_others = tape.gradient(loss, (head, others))
        optimizers[0].apply(of_head, head)
        if others:
            optimizers[1].apply(of_others, others)
        return loss

    for number in range(n_steps):
        if touch is not None:
            touch(number, layers)
        watched.log(loss=step(tf.constant(X[:64, :, 0]), tf.constant(targets[:64, None], tf.float32)))
    return watched


class Factors(keras.layers.Layer):
    """A table, and a constant beside it, that Keras 3 does not know of."""

    def build(self, _):
        self.table = tf.Variable(tf.random.normal((40, 8), stddev=0.1), name="table")
        places = np.arange(40)[:, None] / 10 ** (np.arange(8) / 8)
        self.places = tf.Variable(np.sin(places).astype(np.float32), name="places")

    def call(self, inputs):
        rows = tf.cast(tf.abs(inputs) * 10, tf.int32) % 40
        return tf.gather(self.table, rows) + tf.gather(self.places, rows)


LEFT = {
    "dense": (lambda: [keras.layers.Dense(16, name="first"), keras.layers.Dense(8, name="second")], "first/bias"),
    "embedding": (lambda: [keras.layers.Embedding(40, 8, name="table")], "table/embeddings"),
    "unknown to Keras": (lambda: [Raw(name="raw")], "raw/b"),
    "a table unknown to Keras": (lambda: [Factors(name="raw")], "raw/table"),
}


@pytest.mark.parametrize("wrap", [tf.function, eagerly])
@pytest.mark.parametrize(("make", "name"), LEFT.values(), ids=LEFT.keys())
def test_what_no_optimizer_is_given_is_told_of(watch, read, make, name, wrap):
    recording = read(partly_trained(watch, make, wrap=wrap))
    assert any(known.endswith(name) for known in frozen(recording))
    assert not any(known.endswith("places") for known in frozen(recording))
    (found,) = [one for one in diagnose(recording).findings() if one.kind == "missing_gradient"]
    why = "plain `tf.Variable`" if name.startswith("raw") else "no optimizer is given "
    assert " never trained: " in found.title
    assert why in found.title
    cause = "Keras does not know of some variables" if name.startswith("raw") else "Some variables are never trained"
    assert found.hypotheses[0].cause == cause


@pytest.mark.parametrize(("targets", "is_told"), [(Y, True), (np.full(64, 4), False)], ids=["some", "nearly all"])
def test_what_is_left_out_is_told_of_although_something_is_learned(watch, read, targets, is_told):
    recording = read(partly_trained(watch, LEFT["dense"][0], rate=3e-2, targets=targets))
    (loss,) = [values for name, values in recording.logged_arrays() if name == "loss"]
    assert (loss[1][-1] < 0.1 * loss[1][0]) != is_told
    assert loss[1][-1] < 0.5 * loss[1][0]
    assert ("missing_gradient" in {one.kind for one in diagnose(recording).findings()}) == is_told


@pytest.mark.parametrize("is_given", [False, True])
def test_a_whole_model_that_no_optimizer_is_given_is_told_of(watch, read, is_given):
    """A list of variables that was read before the model was built; or it has an optimizer of its own, later."""
    keras.backend.clear_session()
    own = [keras.layers.Dense(16, activation="relu", name=name) for name in ("first", "second")]
    encoder = keras.Sequential([keras.Input((6,)), *own], name="encoder")
    decoder = keras.Sequential([keras.Input((16,)), keras.layers.Dense(16), keras.layers.Dense(6)], name="decoder")
    optimizers = [keras.optimizers.SGD(1e-4), keras.optimizers.SGD(1e-4)]
    watched = watch(encoder, decoder)

    @tf.function
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - x))
        for optimizer, model in zip(optimizers, [decoder, encoder][: 1 + is_given], strict=False):
            weights = model.trainable_weights
            optimizer.apply(tape.gradient(loss, weights), weights)
        return loss

    for _ in range(130):
        watched.log(loss=step(tf.constant(X[:64, :, 0])))
    found = [one for one in diagnose(read(watched)).findings() if one.kind == "missing_gradient"]
    assert [one.title for one in found] == [
        "encoder/first and encoder/second are never trained: no optimizer is given them" for _ in range(not is_given)
    ]
    assert [one.hypotheses[0].cause for one in found] == ["Some layers are never trained" for _ in found]


def test_what_another_optimizer_is_given_is_not_told_of(watch, read):
    recording = read(partly_trained(watch, LEFT["dense"][0], given=lambda layer: True))
    assert "missing_gradient" not in {one.kind for one in diagnose(recording).findings()}


def drift(number, layers):
    layers[0].set_weights([weight + 1e-3 for weight in layers[0].get_weights()])


def test_what_is_moved_by_hand_is_not_told_of(watch, read):
    recording = read(partly_trained(watch, LEFT["embedding"][0], touch=drift))
    assert "missing_gradient" not in {one.kind for one in diagnose(recording).findings()}


def moved(layers):
    model = keras.Sequential([keras.Input((6,)), *layers])
    model.set_weights([weight + 0.1 for weight in model.get_weights()])
    return layers


@pytest.mark.parametrize("make", [make for make, _ in list(LEFT.values())[:2]], ids=list(LEFT)[:2])
def test_what_was_trained_before_is_not_sent(watch, read, make):
    assert frozen(read(partly_trained(watch, lambda: moved(make()), n_steps=3))) == {}


def test_a_copy_of_what_is_trained_is_not_sent(watch, read):
    def build(name):
        return keras.Sequential([keras.Input((6,)), keras.layers.Dense(16), keras.layers.Dense(1)], name=name)

    online, target = build("online"), build("target")
    inputs = keras.Input((6,))
    model = keras.Model(inputs, [online(inputs), target(inputs)])
    optimizer = keras.optimizers.SGD(1e-4)
    optimizer.build(online.trainable_weights)
    watched = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            value, wanted = model(x)
            loss = tf.reduce_mean(tf.square(value - 0.9 * tf.stop_gradient(wanted)))
        optimizer.apply(tape.gradient(loss, online.trainable_weights), online.trainable_weights)

    step(tf.constant(X[:64, :, 0]))
    assert frozen(read(watched)) == {}


def test_what_a_second_optimizer_of_the_same_variables_is_not_given_is_told_of(watch, read):
    """A second stage: layers are thawed after their weights were to be listed, so that it trains the head alone."""
    base = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16), keras.layers.Dense(8)], name="base")
    head = keras.layers.Dense(1, name="head")
    model = keras.Sequential([keras.Input((6,)), base, head])
    watched = watch(model)

    def stage(weights, n_steps):
        optimizer = keras.optimizers.SGD(1e-5)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x) - y))
            optimizer.apply(tape.gradient(loss, weights), weights)

        for _ in range(n_steps):
            step(tf.constant(X[:64, :, 0]), tf.constant(Y[:64, None], tf.float32))

    base.trainable = False
    weights = model.trainable_weights
    stage(weights, 5)
    base.trainable = True
    stage(weights, 130)
    recording = read(watched)
    first, second = recording.tables.values()
    assert [sum("frozen" in one for one in table["tensors"]) for table in (first, second)] == [2, 2]
    titles = [one.title for one in diagnose(recording).findings()]
    assert any(one.startswith("base/") and "never trained: no optimizer is given" in one for one in titles)


@pytest.mark.filterwarnings("ignore:The model does not have any trainable weights")
def test_a_judge_that_is_frozen_for_the_others_turn_and_never_thawed(watch, read):
    found = diagnose(read(play_against(watch, is_thawed=False)))
    (kind, title) = next((one.kind, one.title) for one in found.findings() if "as made" in one.title)
    assert kind == "missing_gradient"
    assert "dense" in title


def test_a_judge_that_is_thawed_for_its_own_turn(watch, read):
    assert not [
        one.title for one in diagnose(read(play_against(watch, is_thawed=True))).findings() if "as made" in one.title
    ]
