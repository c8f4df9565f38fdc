"""Whether a target stands among the inputs: the place in every way to train, against NumPy; what is no leak."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.leakage import Compared, find_leaked
from gradwatch.protocol import ALIKE_PLACE, LEAKED_PLACES
from gradwatch.settings import CAPTURED_KINDS
from tests.hook.diagnosis import diagnose
from tests.hook.ways import WAYS

CAPTURE = ("gradient", "input")

N = 32
RANDOM = np.random.default_rng(0)
TABLE = RANDOM.normal(size=(N, 5)).astype(np.float32)
SERIES = RANDOM.normal(size=(N, 7, 3)).astype(np.float32)
WORDS = RANDOM.integers(0, 9, (N, 6)).astype(np.int32)
OTHER = RANDOM.normal(size=N).astype(np.float32)


def find(inputs, targets, *, jit_compile=False):
    """The place that a function of the arrays gives."""

    @tf.function(jit_compile=jit_compile)
    def run(inputs, targets):
        return find_leaked(Compared(inputs, targets))

    return float(run([tf.constant(one) for one in inputs], [tf.constant(one) for one in targets]))


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
@pytest.mark.parametrize(
    ("inputs", "targets", "place"),
    [
        ([TABLE], [TABLE[:, 3]], 4),
        ([TABLE], [TABLE[:, 3:4]], 4),
        ([TABLE], [np.stack([OTHER, TABLE[:, 0]], 1)], 1),
        ([TABLE], [OTHER], 0),
        ([TABLE], [7 - 3 * TABLE[:, 2]], 3),
        ([TABLE], [TABLE[:, 2] + 1e-3 * OTHER], 0),
        ([np.where(TABLE > 0, 1, 0).astype(np.float32)], [(TABLE[:, 1] > 0).astype(np.int64)], 2),
        ([TABLE[:, :2], TABLE], [TABLE[:, 4]], LEAKED_PLACES + 5),
        ([SERIES], [SERIES[:, -1, 1]], -2),
        ([SERIES], [SERIES[:, 0, 1]], 0),
        ([WORDS], [WORDS[:, -1]], -1),
        ([WORDS], [WORDS[:, 0]], 0),
        ([WORDS[:, :-1]], [WORDS[:, 1:]], 0),
        ([OTHER[:, None]], [OTHER], None),
        ([OTHER], [OTHER], None),
        ([TABLE], [TABLE], None),
        ([WORDS], [WORDS.astype(np.int64)], -LEAKED_PLACES),
        ([TABLE, WORDS], [WORDS], -2 * LEAKED_PLACES),
        ([WORDS], [WORDS[:, :4]], 0),
        ([np.ones_like(WORDS)], [np.ones_like(WORDS)], None),
        ([TABLE], [np.ones(N, np.float32)], None),
        ([TABLE[:7]], [TABLE[:7, 3]], None),
        ([TABLE], [np.repeat(TABLE[:, 3], 2)], None),
        ([TABLE], [np.full(N, np.nan, np.float32)], None),
        ([np.ones((N, 4), np.float32)], [OTHER], ALIKE_PLACE),
        ([np.repeat(SERIES[:1], N, 0), np.repeat(WORDS[:1], N, 0)], [OTHER], ALIKE_PLACE),
        ([np.repeat(SERIES[:1], N, 0), WORDS], [OTHER], 0),
        ([np.repeat(SERIES[:1], 7, 0)], [OTHER[:7]], None),
        ([np.repeat(TABLE[:1], N, 0)], [np.ones(N, np.float32)], None),
        ([np.full((N, 4), 0.1, np.float32)], [np.full(N, 0.1)], None),
        ([RANDOM.normal(size=(N, 4, 4, 2)).astype(np.float32)], [OTHER], None),
        ([TABLE], [OTHER, TABLE[:, 1]], 2),
        ([TABLE], [np.ones((N, 1), np.float32), TABLE[:, 1]], None),
        ([TABLE], [np.where(OTHER > 0, 1, 0).astype(np.float32), TABLE[:, 1]], 2),
    ],
)
def test_the_place_of_a_target(inputs, targets, place, jit_compile):
    found = find(inputs, targets, jit_compile=jit_compile)
    assert np.isnan(found) if place is None else found == place


def draw_code(n, _):
    z, code = tf.random.normal((n, 4)), tf.random.uniform((n, 1), -1, 1)
    return tf.concat([z, code], 1), code


def draw_label(n, _):
    label = tf.one_hot(tf.random.uniform((n,), 0, 3, tf.int32), 3)
    return tf.concat([keras.random.normal((n, 4)), label], 1), label


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
@pytest.mark.parametrize(
    ("make", "is_told"),
    [
        (draw_code, False),
        (draw_label, False),
        (lambda n, x: (tf.concat([x, tf.random.normal((n, 1))], 1), x[:, 2] * 2.0), True),
        (lambda n, x: (tf.concat([x, tf.reduce_sum(x, 1, True)], 1), tf.reduce_sum(x, 1)), True),
        (lambda n, x: ((noisy := x + tf.random.normal((n, 5))), noisy[:, :1]), True),
    ],
    ids=["a code of a generator", "a label of a generator", "beside noise", "a sum", "with noise"],
)
def test_what_a_step_draws_is_no_data(make, is_told, jit_compile):
    keras.utils.set_random_seed(0)
    run = tf.function(lambda x: find_leaked(Compared(*([one] for one in make(N, x)))), jit_compile=jit_compile)
    found = float(run(tf.constant(TABLE)))
    assert found > 0 if is_told else np.isnan(found)


def test_a_batch_of_any_size():
    specs = [tf.TensorSpec([None, 5]), tf.TensorSpec([None])]
    run = tf.function(lambda x, y: find_leaked(Compared([x], [y])), input_signature=specs)
    assert float(run(TABLE, TABLE[:, 3])) == 4
    assert np.isnan(float(run(TABLE[:0], TABLE[:0, 3])))
    assert np.isnan(float(run(TABLE, TABLE[:9, 3])))


X = RANDOM.normal(size=(320, 6)).astype(np.float32)
TOKENS = RANDOM.integers(0, 9, (320, 6)).astype(np.int32)


def small_model(x):
    keras.utils.set_random_seed(0)
    first = [keras.layers.Embedding(9, 4), keras.layers.Flatten()] if x.dtype == np.int32 else []
    return keras.Sequential([keras.Input(x.shape[1:], dtype=x.dtype.name), *first, keras.layers.Dense(1)])


def train(way, watch, x, y):
    return way(watch, small_model(x), keras.optimizers.Adam(0.05), x, y, 12)


def leaked(recording):
    """What was said at each row that said something."""
    ((stream, table),) = recording.tables.items()
    place = table["scalars"].index("leaked")
    rows = [(m["scalars"][:, place], m["scalars_present"][:, place] == 1) for m in recording.rows[stream]]
    return np.concatenate([values[is_present] for values, is_present in rows])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_column_that_is_the_target_is_told(watch, read, way):
    recording = read(train(way, watch, X, X[:, 2]))
    assert set(leaked(recording)) == {3.0}
    (one,) = [one for one in diagnose(recording).findings() if "column 2 of the input" in one.title]
    assert one.hypotheses[0].cause.startswith("The target is among what")


@pytest.mark.parametrize("is_ending", [False, True])
def test_a_reward_that_stands_in_the_state_is_no_leak(watch, read, is_ending):
    model = small_model(X)
    optimizer = keras.optimizers.Adam(0.05)
    handle = watch(model)

    @tf.function
    def step(state, reward, following, is_end):
        ends = 1.0 - is_end if is_ending else 1.0
        value = reward + 0.9 * model(following)[:, 0] * ends
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.stop_gradient(value) - model(state)[:, 0]))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    ends = (X[:, 1] > 0).astype(np.float32)
    for begin in range(0, len(X), 16):
        rows = slice(begin, begin + 16)
        step(X[rows], X[rows, 2], X[::-1][rows], ends[rows])
    handle.close()
    recording = read(handle)
    assert leaked(recording).size == 0
    assert not [one for one in diagnose(recording).findings() if "of the input" in one.title]


@pytest.mark.parametrize(
    "hide",
    [
        lambda scores, mask: scores + (1.0 - mask) * -1e9,
        lambda scores, mask: tf.where(mask > 0.5, scores, -1e9),
        None,
    ],
)
def test_a_mask_of_scores_that_stands_in_the_state_is_no_leak(watch, read, hide):
    """Not to be known apart from a target by its shape; what is held to the scores is one."""
    model, optimizer = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]), keras.optimizers.Adam(0.05)
    handle = watch(model)

    @tf.function
    def step(state, mask):
        with tf.GradientTape() as tape:
            scores = model(state)
            if hide is None:
                loss = tf.reduce_mean(tf.square(scores - mask))
            else:
                loss = -tf.reduce_mean(tf.reduce_max(tf.nn.log_softmax(hide(scores, mask)), axis=1))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    is_open = (X[:, :2] > 0).astype(np.float32)
    state = np.concatenate([X[:, 2:4], is_open], axis=1)
    for begin in range(0, len(X), 16):
        step(state[begin : begin + 16], is_open[begin : begin + 16])
    handle.close()
    told = leaked(read(handle))
    assert (told > 0).all() if hide is None else told.size == 0


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_last_of_a_sequence_is_told(watch, read, way):
    recording = read(train(way, watch, TOKENS, TOKENS[:, -1].astype(np.float32)))
    assert set(leaked(recording)) == {-1.0}
    assert any("last step" in one.title for one in diagnose(recording).findings())


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_computed_of_columns_is_no_leak(watch, read, way):
    recording = read(train(way, watch, X, X[:, 2] + 0.1 * X[:, 3]))
    assert set(leaked(recording)) == {0.0}
    assert not diagnose(recording).findings()


@pytest.mark.parametrize("is_bottleneck", [False, True], ids=["next words", "autoencoder"])
def test_a_sequence_that_is_its_own_target_is_told_where_nothing_is_gained_by_it(watch, read, is_bottleneck):
    keras.utils.set_random_seed(0)
    layers = keras.layers
    by_way = [layers.GRU(16), layers.RepeatVector(6)] if is_bottleneck else []
    last = [layers.GRU(16, return_sequences=True), layers.Dense(9)]
    model = keras.Sequential([keras.Input((6,), dtype="int32"), layers.Embedding(9, 16), *by_way, *last])
    model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    watched = watch(model, budget=0, capture=CAPTURED_KINDS)
    words = np.repeat(TOKENS[:32], 10, 0)
    model.fit(words, words, batch_size=32, epochs=12, verbose=0)
    recording = read(watched)
    assert set(leaked(recording)) == {0.0 if is_bottleneck else float(LEAKED_PLACES)}
    assert any("its own target" in one.title for one in diagnose(recording).findings()) is not is_bottleneck


def decode(n_states, codes, *, is_shifted, attends=False):
    """A sequence that is read and written again, by one that is given what it is to write, or that a step later."""
    layers = keras.layers
    read, written = keras.Input((6, 9)), keras.Input((6, 9))
    sequence, state = layers.GRU(n_states, return_sequences=True, return_state=True)(read)
    decoded = layers.GRU(n_states, return_sequences=True)(written, initial_state=state)
    if attends:
        decoded = layers.Concatenate()([decoded, layers.Attention()([decoded, sequence])])
    given = np.roll(codes, 1, 1) if is_shifted else codes
    return keras.Model([read, written], layers.Dense(9, "softmax")(decoded)), [codes, given], codes


@pytest.mark.parametrize("attends", [False, True], ids=["states", "attention"])
@pytest.mark.parametrize("is_shifted", [False, True], ids=["as it is to write", "a step later"])
def test_a_decoder_that_is_given_what_it_is_to_write_is_told_and_one_that_reads_all_is_not(
    watch, read, is_shifted, attends
):
    keras.utils.set_random_seed(0)
    codes = np.eye(9, dtype=np.float32)[np.repeat(TOKENS[:32], 10, 0)]
    model, inputs, target = decode(16, codes, is_shifted=is_shifted, attends=attends)
    model.compile(keras.optimizers.Adam(0.02), "categorical_crossentropy")
    watched = watch(model, budget=0, capture=CAPTURED_KINDS)
    model.fit(inputs, target, batch_size=32, epochs=12, verbose=0)
    recording = read(watched)
    # The first input of the two is the target in either case, and only the last state of it, or all of it, goes on.
    assert set(leaked(recording)) == {0.0 if is_shifted else float(2 * LEAKED_PLACES)}
    assert any("its own target" in one.title for one in diagnose(recording).findings()) is not is_shifted


@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "jit"])
def test_a_window_of_a_series_is_looked_at_as_a_whole(jit_compile):
    @tf.function(jit_compile=jit_compile)
    def run(values, target):
        return find_leaked(Compared([values], [target], are_windows=True))

    assert float(run(tf.constant(SERIES), tf.constant(SERIES[:, 2, 1]))) == 2 * 3 + 1 + 1
    assert float(run(tf.constant(SERIES), tf.constant(OTHER))) == 0


@pytest.mark.parametrize(("ahead", "is_told"), [(2, True), (6, False)])
def test_windows_whose_target_lies_within_them(watch, read, ahead, is_told):
    """Of five times each, so that the last stands at place 4: the first number after it is the fifth."""
    keras.utils.set_random_seed(0)
    series = np.cumsum(np.random.default_rng(0).normal(size=(900, 2)), 0).astype("float32")
    series /= series.std(0)
    windows = keras.utils.timeseries_dataset_from_array(
        series[:-ahead], targets=series[ahead:, :1], sequence_length=5, batch_size=32, shuffle=True, seed=1
    )
    layers = keras.layers
    model = keras.Sequential([keras.Input((5, 2)), layers.Flatten(), layers.Dense(16, "relu"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(1e-2), "mse")
    watched = watch(model, budget=0)
    model.fit(windows, epochs=6, shuffle=False, verbose=0)
    told = [one for one in diagnose(read(watched)).findings() if "stands in its own input" in one.title]
    assert len(told) == is_told
    for one in told:
        assert one.title.startswith(
            "The target stands in its own input: step 2 of each window holds it (test_leakage.py"
        )
        assert "timeseries_dataset_from_array" in one.source["code"]
