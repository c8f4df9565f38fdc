"""Two inputs that must differ: a state and the one that follows it, two views of each sample."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.protocol import LEAKED_PLACES, SAME_PLACE
from tests.hook.diagnosis import diagnose, find_line, known_in

CAPTURE = ("gradient", "activation", "input", "operation")
pytestmark = pytest.mark.rows


N, WIDTH = 32, 4


def pairs_in(recording):
    return [one["pairs"] for one in known_in(recording, "pairs")]


def places_in(recording):
    """What was said of the inputs, whichever they are (`protocol.LEAKED_PLACES`)."""
    return {int(abs(place)) % LEAKED_PLACES for place in leaked(recording)}


def leaked(recording):
    """The scalar of all rows that tell it."""
    places = [table["scalars"].index("leaked") for table in recording.tables.values()]
    blocks = [m for messages in recording.rows.values() for m in messages]
    values = np.concatenate([np.asarray(m["scalars"])[:, places[0]] for m in blocks])
    seen = np.concatenate([np.asarray(m["scalars_present"])[:, places[0]] for m in blocks]) != 0
    return values[seen & ~np.isnan(values)].tolist()


def learn_values(watch, *, is_same, n_steps=3, n_apart=0, **options):
    """A Q-network's step; of one-hot states, all of whose statistics are equal."""
    keras.utils.set_random_seed(0)
    model, target = (
        keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "tanh"), layers.Dense(2)]) for _ in range(2)
    )
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(model)
    random = np.random.default_rng(0)

    @tf.function(**options)
    def step(state, action, reward, following, end):
        asked = reward + 0.9 * tf.reduce_max(target(following), axis=1) * (1.0 - end)
        with tf.GradientTape() as tape:
            value = tf.gather(model(state, training=True), action, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(asked - value))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        state, following = np.eye(WIDTH, dtype="float32")[random.integers(0, WIDTH, (2, N))]
        rest = random.integers(0, 2, N), random.random(N).astype("float32")
        end = (random.random(N) < 0.2).astype("float32")
        following[n_apart:] = state[n_apart:] if is_same else following[n_apart:]
        step(*map(tf.constant, (state, *rest, following, end)))
    return watched


def learn_two_values(watch, *, is_same, n_steps=3):
    """Two critics of one state and action, each with a tape and an optimizer of its own, held to the lesser of two."""
    keras.utils.set_random_seed(0)

    def make(name):
        state, action = keras.Input((WIDTH,)), keras.Input((1,))
        inner = layers.Dense(8, "tanh")(layers.Concatenate()([state, action]))
        return keras.Model([state, action], layers.Dense(1)(inner), name=name)

    critics, targets = [make("one"), make("other")], [make("one_target"), make("other_target")]
    optimizers = [keras.optimizers.Adam(1e-3) for _ in critics]
    watched = watch(*critics)
    random = np.random.default_rng(0)

    @tf.function
    def step(state, action, reward, following, end):
        asked = [target([following, action]) for target in targets]
        asked = reward + 0.9 * (1.0 - end) * tf.minimum(*asked)
        with tf.GradientTape() as tape, tf.GradientTape() as other_tape:
            losses = [tf.reduce_mean(tf.square(critic([state, action]) - asked)) for critic in critics]
        for critic, optimizer, loss, one in zip(critics, optimizers, losses, (tape, other_tape), strict=True):
            optimizer.apply(one.gradient(loss, critic.trainable_variables), critic.trainable_variables)

    for _ in range(n_steps):
        state, following = random.normal(size=(2, N, WIDTH)).astype("float32")
        action, reward, end = random.random((3, N, 1)).astype("float32")
        step(*map(tf.constant, (state, action, reward, state if is_same else following, np.float32(end < 0.2))))
    return watched


def compare_views(watch, *, is_same, n_steps=3, towers=1):
    """A contrast of what one network, or each of two, makes of two arguments."""
    keras.utils.set_random_seed(0)
    networks = [
        keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "tanh"), layers.Dense(8)]) for _ in range(towers)
    ]
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(*networks)
    variables = [one for network in networks for one in network.trainable_variables]
    random = np.random.default_rng(0)

    @tf.function
    def step(one, other):
        with tf.GradientTape() as tape:
            a = tf.math.l2_normalize(networks[0](one, training=True), axis=-1)
            b = tf.math.l2_normalize(networks[-1](other, training=True), axis=-1)
            labels = tf.range(tf.shape(a)[0])
            logits = tf.matmul(a, b, transpose_b=True) / 0.1
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        optimizer.apply(tape.gradient(loss, variables), variables)

    for _ in range(n_steps):
        x = random.normal(size=(N, WIDTH)).astype("float32")
        step(tf.constant(x), tf.constant(x if is_same else x + random.normal(size=x.shape).astype("float32")))
    return watched


@pytest.mark.parametrize("is_same", [True, False])
@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["graph", "jit"])
def test_states(watch, read, options, is_same):
    recording = read(learn_values(watch, is_same=is_same, **options))
    assert pairs_in(recording) == ["returns"]
    assert places_in(recording) == ({SAME_PLACE} if is_same else {0})


@pytest.mark.parametrize("is_same", [True, False])
def test_what_two_critics_are_given_is_one_state(watch, read, is_same):
    recording = read(learn_two_values(watch, is_same=is_same))
    assert set(pairs_in(recording)) == {"returns"}
    assert places_in(recording) == ({SAME_PLACE} if is_same else {0})


@pytest.mark.parametrize(("n_apart", "place"), [(N // 10, SAME_PLACE), (N // 2, 0)])
def test_the_first_states_of_episodes_may_be_their_own(watch, read, n_apart, place):
    assert places_in(read(learn_values(watch, is_same=True, n_apart=n_apart))) == {place}


@pytest.mark.parametrize("is_same", [True, False])
def test_views(watch, read, is_same):
    recording = read(compare_views(watch, is_same=is_same))
    assert pairs_in(recording) == ["views"]
    assert places_in(recording) == ({SAME_PLACE} if is_same else {0})


def fit_views(watch, *, is_same):
    """The same contrast as a model of two named inputs, and `fit`."""
    keras.utils.set_random_seed(0)
    network = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "tanh"), layers.Dense(8)])
    one, other = (keras.Input((WIDTH,), name=name) for name in ("one", "other"))
    a, b = (layers.UnitNormalization()(network(view)) for view in (one, other))
    model = keras.Model({"one": one, "other": other}, keras.ops.einsum("ik,jk->ij", a, b))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    watched = watch(model)
    x, noise = np.random.default_rng(0).normal(size=(2, 4 * N, WIDTH)).astype("float32")
    views = {"one": x, "other": x if is_same else x + noise}
    model.fit(views, np.arange(4 * N) % N, batch_size=N, shuffle=False, verbose=0)
    return watched


@pytest.mark.parametrize("is_same", [True, False])
def test_what_fit_gives_a_model_is_no_second_view_of_itself(watch, read, is_same):
    recording = read(fit_views(watch, is_same=is_same))
    assert pairs_in(recording) == ["views"]
    assert places_in(recording) == ({SAME_PLACE} if is_same else {0})


def from_one_key(x, step):
    key = tf.stack([step, 0])
    return [x + tf.random.stateless_normal(tf.shape(x), key) for _ in range(2)]  # from_one_key


def from_one_seed(x, step):
    return [x + tf.random.normal(tf.shape(x), seed=7) for _ in range(2)]  # from_one_seed


def from_two_keys(x, step):
    return [x + tf.random.stateless_normal(tf.shape(x), tf.stack([step, number])) for number in range(2)]


def from_two_seeds(x, step):
    return [x + tf.random.normal(tf.shape(x), seed=number) for number in (7, 8)]


def without_a_seed(x, step):
    return [x + tf.random.normal(tf.shape(x)) for _ in range(2)]


def not_at_all(x, step):
    return [x, x]


def draw_views(watch, draw, *, rate=0.0, n_steps=2, **options):
    """A contrast of two views of a sample that the step itself draws."""
    keras.utils.set_random_seed(0)
    network = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "tanh"), layers.Dropout(rate), layers.Dense(8)])
    optimizer = keras.optimizers.Adam(1e-3)
    watched = watch(network)
    random = np.random.default_rng(0)

    @tf.function(**options)
    def step(x, number):
        with tf.GradientTape() as tape:
            one, other = draw(x, number)
            a, b = (tf.math.l2_normalize(network(view, training=True), axis=-1) for view in (one, other))
            logits = tf.matmul(a, b, transpose_b=True) / 0.1  # draw_views
            labels = tf.range(tf.shape(a)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        optimizer.apply(tape.gradient(loss, network.trainable_variables), network.trainable_variables)

    for number in range(n_steps):
        step(tf.constant(random.normal(size=(N, WIDTH)).astype("float32")), tf.constant(number))
    return watched


@pytest.mark.parametrize(
    ("draw", "options"),
    [(from_one_key, {}), (from_one_key, {"jit_compile": True}), (from_one_seed, {}), (not_at_all, {})],
)
def test_views_that_are_drawn_alike(watch, read, draw, options):
    (found,) = known_in(read(draw_views(watch, draw, **options)), "twins")
    assert found["source"]["line"] == find_line("draw_views", sys.modules[__name__])
    drawn = None if draw is not_at_all else find_line(draw.__name__, sys.modules[__name__])
    assert (found["drawn"] or {}).get("line") == drawn


@pytest.mark.parametrize(
    ("draw", "rate"), [(from_two_keys, 0), (from_two_seeds, 0), (without_a_seed, 0), (not_at_all, 0.1)]
)
def test_views_that_are_drawn_apart(watch, read, draw, rate):
    assert known_in(read(draw_views(watch, draw, rate=rate)), "twins") == []


def test_views_that_are_drawn_alike_are_told_with_their_cause(watch, read):
    findings = diagnose(read(draw_views(watch, from_one_key, n_steps=130))).findings()
    (found,) = [one for one in findings if "The two views of each sample are identical" in one.title]
    assert found.hypotheses[0].cause.startswith("Both views are drawn with the same random seed (test_paired.py:")


def test_two_networks_may_be_given_the_same(watch, read):
    assert pairs_in(read(compare_views(watch, is_same=True, towers=2))) == []


def test_an_attention_compares_what_its_own_kernels_make(watch, read):
    x = keras.Input((5, 8))
    h = layers.Dense(8)(x)
    model = keras.Model(x, layers.Dense(1)(layers.MultiHeadAttention(2, 4)(h, h)))
    model.compile("sgd", "mse")
    watched = watch(model)
    random = np.random.default_rng(0)
    model.fit(random.normal(size=(16, 5, 8)), random.normal(size=(16, 5, 1)), verbose=0)
    assert pairs_in(read(watched)) == []


@pytest.mark.parametrize(
    ("train", "cause"),
    [
        (learn_values, "State and next state are the same array"),
        (compare_views, "Both views use the same random seed, or are the same tensor"),
    ],
)
def test_it_is_told_with_its_cause(watch, read, train, cause):
    def causes(is_same):
        findings = diagnose(read(train(watch, is_same=is_same, n_steps=60))).findings()
        return [one.hypotheses[0].cause for one in findings if "are the same in nearly every" in one.title]

    assert (causes(True), causes(False)) == ([cause], [])
