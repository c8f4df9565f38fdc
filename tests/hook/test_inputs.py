"""What enters the steps, in every way to train, against the batches that were given."""

import functools
import gc
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch.batch import COLUMNS_MAX
from gradwatch.protocol import decode_columns
from tests.hook.training import BATCH, LOSS, dense
from tests.numerics.reference import assert_block_equal, row
from tests.serving import Server

N_STEPS = 4
WIDTH = 5
MSE = keras.losses.MeanSquaredError()


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=(BATCH * N_STEPS, *shape)).astype(np.float32)


X, Y, WEIGHT = data(WIDTH), data(2, seed=1), np.abs(data(seed=2))
SICK = X.copy()
SICK[2 * BATCH + 3, 1], SICK[2 * BATCH + 9, 1], SICK[2 * BATCH + 9, 4] = np.nan, np.inf, -np.inf


@pytest.fixture
def watch(watch):
    """Layers, operations and weights have tests of their own, and take their time to trace."""
    return functools.partial(watch, capture=["gradient", "input"])


def parts(x):
    return [x[i : i + BATCH] for i in range(0, len(x), BATCH)]


def regression(outputs=2, name="regression", **options):
    model = keras.Sequential([keras.Input((WIDTH,)), dense(4, "hidden", "relu"), dense(outputs, "out")], name=name)
    if options:
        model.compile(keras.optimizers.SGD(0.01), MSE, **{"jit_compile": False, **options})
    return model


def fit(model, *data, **options):
    model.fit(*data, batch_size=BATCH, shuffle=False, verbose=0, **options)


def columns_of(watch, tensor, stream=0):
    """What was told of one input's columns: the steps, and by step its columns, bad rows and their number."""
    found = {}
    for message in watch.collector.messages:
        if message["type"] == "columns" and (message["stream"], message["tensor"]) == (stream, tensor):
            told = decode_columns(message)
            assert told["n_lost"] == 0
            for i, step in enumerate(told["steps"].tolist()):
                assert step not in found, f"step {step} of {tensor} was told twice"
                found[step] = told["columns"][i], told["bad_rows"][i].tolist(), int(told["n_bad_rows"][i])
    return found


def assert_columns(found, x):
    """Columns and bad rows at one step are those of its batch."""
    columns, rows, n_rows = found
    for column, values in zip(columns, np.atleast_2d(x.reshape(len(x), -1).T), strict=True):
        finite = values[np.isfinite(values)]
        expected = [len(values) - len(finite), *((finite.min(), finite.max()) if len(finite) else (np.nan, np.nan))]
        np.testing.assert_array_equal(column, np.array(expected, np.float32))
    bad = [i for i in range(len(x)) if not np.isfinite(x[i]).all()]
    assert (rows, n_rows) == ((bad + [-1] * 8)[:8], len(bad))


def assert_entered(watch, recording, expected, stream=0):
    """Exactly these tensors entered, with these batches, at every step."""
    assert recording.tensors("input", stream) == list(expected)
    for name, batches in expected.items():
        found = recording.statistics("input", name, stream)
        assert_block_equal(found, np.array([row(one) for one in batches]), rtol=1e-5, message=name)
        columns = columns_of(watch, name, stream)
        assert sorted(columns) == list(range(len(batches)))
        for step, one in enumerate(batches):
            assert_columns(columns[step], one)


FITS = {
    "fit": {"jit_compile": False},
    "fit, jit": {"jit_compile": True},
    "fit, eagerly": {"run_eagerly": True},
    "fit, 2 steps in one execution": {"steps_per_execution": 2},
    "fit, jit, 2 steps in one execution": {"steps_per_execution": 2, "jit_compile": True},
}


@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_fit(watch, read, options):
    model = regression(**options)
    watched = watch(model)
    fit(model, SICK, Y, sample_weight=WEIGHT)
    expected = {"input": parts(SICK), "target": parts(Y), "sample_weight": parts(WEIGHT)}
    assert_entered(watched, read(watched), expected)


def test_a_last_batch_that_is_smaller_and_one_row_alone(watch, read):
    model = regression(jit_compile=True)
    watched = watch(model)
    n = 2 * BATCH + 1
    fit(model, SICK[BATCH : BATCH + n], Y[:n])
    assert_entered(watched, read(watched), {"input": parts(SICK[BATCH : BATCH + n]), "target": parts(Y[:n])})


def test_inputs_and_targets_by_name(watch, read):
    age, image = keras.Input((1,), name="age"), keras.Input((6, 3), name="image")
    merged = keras.layers.Concatenate()([age, keras.layers.Flatten()(image)])
    model = keras.Model(
        {"age": age, "image": image}, {"price": dense(1, "price")(merged), "size": dense(2, "size")(merged)}
    )
    model.compile(keras.optimizers.SGD(0.01), {"price": "mse", "size": "mse"}, jit_compile=False)
    watched = watch(model)
    given = {"age": data(1), "image": data(6, 3)}
    wanted = {"price": data(1, seed=3), "size": data(2, seed=4)}
    fit(model, given, wanted)
    recording = read(watched)
    assert set(recording.tensors("input")) == {"input/age", "input/image", "target/price", "target/size"}
    for role, structure in (("input", given), ("target", wanted)):
        for name, values in structure.items():
            found = recording.statistics("input", f"{role}/{name}")
            assert_block_equal(found, np.array([row(one) for one in parts(values)]), rtol=1e-5, message=name)
    channels = columns_of(watched, "input/image")[1][0]
    assert channels.shape == (3, 3)
    np.testing.assert_array_equal(channels[:, 2], parts(given["image"])[1].max(axis=(0, 1)))


def test_several_inputs_without_a_name(watch, read):
    one, other = keras.Input((WIDTH,)), keras.Input((2,))
    model = keras.Model([one, other], dense(2, "out")(keras.layers.Concatenate()([one, other])))
    model.compile(keras.optimizers.SGD(0.01), "mse", jit_compile=False)
    watched = watch(model)
    fit(model, [X, Y], Y)
    # The second is a tensor of its own, though it holds the same numbers.
    assert_entered(watched, read(watched), {"input/0": parts(X), "input/1": parts(Y), "target": parts(Y)})


def test_whole_numbers_have_no_columns(watch, read):
    tokens = keras.Input((6,), dtype="int64")
    model = keras.Sequential([tokens, keras.layers.Embedding(40, 4), keras.layers.Flatten(), dense(3, "last")])
    model.compile("adam", LOSS, jit_compile=False)
    watched = watch(model)
    random = np.random.default_rng(0)
    words, labels = random.integers(0, 40, (32, 6)), random.integers(0, 3, 32)
    fit(model, words, labels)
    recording = read(watched)
    assert recording.tensors("input") == ["input", "target"]
    for name, values in (("input", words), ("target", labels)):
        found = recording.statistics("input", name)
        assert_block_equal(found, [row(values[start : start + BATCH].astype(np.float64)) for start in (0, BATCH)])
    assert recording.columns == []
    assert columns_of(watched, "input") == {}


@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_whole_numbers_and_the_weights_of_their_samples(watch, read, options):
    model = regression(outputs=3)
    model.compile(keras.optimizers.SGD(0.01), LOSS, **options)
    watched = watch(model)
    labels = np.random.default_rng(0).integers(0, 3, len(X))
    fit(model, X, labels, sample_weight=WEIGHT)
    recording = read(watched)
    assert recording.tensors("input") == ["input", "target", "sample_weight"]
    for name, values in (("input", X), ("target", labels.astype(np.float64)), ("sample_weight", WEIGHT)):
        found = recording.statistics("input", name)
        assert_block_equal(found, np.array([row(one) for one in parts(values)]), rtol=1e-5, message=name)


def test_weights_of_samples_that_are_counts(watch, read):
    model = regression()
    model.compile(keras.optimizers.SGD(0.01), MSE, jit_compile=False)
    watched = watch(model)
    counts = np.random.default_rng(0).integers(1, 20, len(X))
    fit(model, X, Y, sample_weight=counts)
    recording = read(watched)
    assert recording.tensors("input") == ["input", "target", "sample_weight"]
    found = recording.statistics("input", "sample_weight")
    assert_block_equal(found, np.array([row(one) for one in parts(counts.astype(np.float64))]), rtol=1e-5)


def test_more_columns_than_are_told(watch, read):
    model = keras.Sequential([keras.Input((COLUMNS_MAX + 1,)), dense(1, "out")])
    model.compile("sgd", MSE, jit_compile=False)
    wide = data(COLUMNS_MAX + 1)
    wide[BATCH + 2, 7] = np.nan
    watched = watch(model)
    fit(model, wide, data(1))
    assert_block_equal(
        read(watched).statistics("input", "input"), np.array([row(one) for one in parts(wide)]), rtol=1e-5
    )
    columns, rows, n_rows = columns_of(watched, "input")[1]
    assert (columns.shape, rows[:2], n_rows) == ((0, 3), [2, -1], 1)


@pytest.mark.parametrize("options", [{"jit_compile": False}, {"jit_compile": True}, {"run_eagerly": True}])
def test_between_full_steps_only_the_sick_one_is_looked_at(watch, read, options):
    model = regression(**options)
    watched = watch(model, every=100)
    fit(model, SICK, Y)
    found = read(watched).statistics("input", "input")
    expected = np.array([row(one) for one in parts(SICK)])
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=1e-5)  # the norm, at every step
    np.testing.assert_array_equal(found[:, 5:8], expected[:, 5:8])  # and the non-finite counts
    assert np.isnan(found[[1, 3], 1:5]).all()
    assert_block_equal(found[[0, 2]], expected[[0, 2]], rtol=1e-5)
    told = columns_of(watched, "input")
    assert sorted(told) == [0, 2]
    assert_columns(told[2], parts(SICK)[2])


def test_without_inputs_nothing_is_added(watch, read):
    model = regression(jit_compile=False)
    watched = watch(model, capture=["gradient", "weight"])
    fit(model, SICK, Y)
    assert read(watched).tensors("input") == []


LOOPS = {
    "tf.function": tf.function,
    "tf.function, jit": lambda step: tf.function(step, jit_compile=True),
    "eager loop": lambda step: step,
}


def step_of(model, optimizer, loss_of):
    """A step as users write it: ``step(*batch)``."""

    def step(*batch):
        with tf.GradientTape() as tape:
            loss = loss_of(*batch)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    return step


def run(compiler, step, *arrays, made=tf.constant):
    run = compiler(step)
    for batch in zip(*map(parts, arrays), strict=True):
        run(*map(made, batch))


@pytest.mark.parametrize("made", [tf.constant, np.array], ids=["tensors", "arrays"])
@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_custom_loop(watch, read, compiler, made):
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def step(x, y, w):
        with tf.GradientTape() as tape:
            loss = MSE(y, model(x, training=True), sample_weight=w)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    run(compiler, step, SICK, Y, WEIGHT, made=made)
    expected = {"input": parts(SICK), "target": parts(Y), "sample_weight": parts(WEIGHT)}
    assert_entered(watched, read(watched), expected)


@pytest.mark.parametrize(
    "form", [lambda y: y[:, None], lambda y: tf.reshape(y, (-1, 1)), lambda y: tf.expand_dims(y, 1)]
)
def test_a_target_that_the_step_gives_another_form_is_one(watch, read, form):
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watched = watch(model)
    run(tf.function, step_of(model, optimizer, lambda x, y: MSE(form(y), model(x, training=True))), X, Y[:, 0])
    assert_entered(watched, read(watched), {"input": parts(X), "target": parts(Y[:, :1])})


@pytest.mark.parametrize("compiler", [tf.function, LOOPS["tf.function, jit"]], ids=["graph", "jit"])
def test_a_loss_by_hand_has_its_targets_by_their_arguments_names(watch, read, compiler):
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def step(batch, wanted, importance):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(wanted - model(batch)) * importance[:, None])
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    run(compiler, step, X, Y, WEIGHT)
    expected = {"input": parts(X), "target/wanted": parts(Y), "target/importance": parts(WEIGHT)}
    assert_entered(watched, read(watched), expected)


def restorer():
    width = X.shape[1]
    return keras.Sequential([keras.Input((width,)), dense(4, "code"), dense(width, "restored")], name="restorer")


@pytest.mark.parametrize("compiler", [tf.function, LOOPS["tf.function, jit"]], ids=["graph", "jit"])
def test_what_is_to_be_restored_is_a_target(watch, read, compiler):
    """Of what the model is given, or of what that was made of: an output is held to the very numbers."""
    for given in (lambda x: x, lambda x: 0.5 * tf.nn.dropout(x, 0.5, seed=1)):
        model, optimizer = restorer(), keras.optimizers.SGD(0.01)
        watched = watch(model, capture=["gradient", "input", "activation"])

        def of(x, given=given, model=model):
            return tf.reduce_mean(tf.square(x - model(given(x))))

        run(compiler, step_of(model, optimizer, of), X)
        recording = read(watched)
        (table,) = recording.tables.values()
        assert recording.tensors("input") == ["input", "target"]
        assert [one["head"] for one in table["tensors"] if "head" in one] == ["restorer/restored"]
        assert recording.statistics("input", "target")[:, 1].tolist() == pytest.approx([p.min() for p in parts(X)])


def test_what_noise_is_taken_from_is_no_target_where_there_is_another(watch, read):
    model, optimizer = restorer(), keras.optimizers.SGD(0.01)
    watched = watch(model)
    run(tf.function, step_of(model, optimizer, lambda x, y: tf.reduce_mean(tf.square(x - model(x) - y))), X, X + 1)
    recording = read(watched)
    assert recording.tensors("input") == ["input", "target"]
    assert recording.statistics("input", "target")[:, 1].tolist() == pytest.approx([p.min() + 1 for p in parts(X)])


def test_what_an_output_is_a_function_of_is_no_target(watch, read):
    model, optimizer = restorer(), keras.optimizers.SGD(0.01)
    watched = watch(model)
    run(tf.function, step_of(model, optimizer, lambda x: tf.reduce_mean(tf.square(tf.sin(x) - model(x)))), X)
    assert read(watched).tensors("input") == ["input"]


LABELS = (np.arange(len(X)) % 3).astype(np.int32)
sparse = tf.nn.sparse_softmax_cross_entropy_with_logits
ENTROPIES = {
    "sparse": (lambda y, w, z: tf.reduce_mean(sparse(y, z)), True),
    "one-hot": (lambda y, w, z: tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(y, 3), z)), True),
    "cast": (lambda y, w, z: tf.reduce_sum(sparse(tf.cast(y, tf.int64), z)) / 4.0, True),
    "doubled": (lambda y, w, z: tf.reduce_mean(2.0 * sparse(y, z)), True),
    "weighed, as by advantages": (lambda y, w, z: tf.reduce_mean(w * sparse(y, z)), False),
    "shifted": (lambda y, w, z: tf.reduce_mean(sparse(1 - y // 2, z)), False),
    "picked": (lambda y, w, z: -tf.reduce_mean(tf.gather(z, y, batch_dims=1)), False),
}


@pytest.mark.parametrize("name", ENTROPIES)
def test_labels_of_a_cross_entropy_by_hand(watch, read, name):
    loss_of, is_target = ENTROPIES[name]
    model = keras.Sequential([keras.Input((X.shape[1],)), dense(3, "scores")], name="classes")
    watched = watch(model, capture=["gradient", "input", "activation"])
    step = step_of(model, keras.optimizers.SGD(0.01), lambda x, y, w: loss_of(y, w, model(x)))
    run(tf.function, step, X, LABELS, WEIGHT)
    (table,) = read(watched).tables.values()
    found = [(one["tensor"], one["dtype"], one.get("head")) for one in table["tensors"] if one["kind"] == "input"]
    labels = [one for one in found if one[1].startswith("int")]
    assert labels == ([("target", "int32", "classes/scores")] if is_target else [])
    assert ("target_correlation" in table["scalars"]) == is_target


def test_what_is_made_of_the_input_before_the_model(watch, read):
    """Where a NaN comes from, the data or their preparation, is the question."""
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def step(raw, y):
        with tf.GradientTape() as tape:
            loss = MSE(y, model(tf.math.log(raw)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    run(lambda step: step, step, X, Y)
    recording = read(watched)
    assert recording.tensors("input") == ["input", "input/raw", "target"]
    n_nan = [int((part < 0).sum()) for part in parts(X)]
    assert recording.statistics("input", "input")[:, 5].tolist() == n_nan
    assert recording.statistics("input", "input/raw")[:, 5].tolist() == [0] * N_STEPS
    assert columns_of(watched, "input")[2][0][:, 0].tolist() == (parts(X)[2] < 0).sum(axis=0).tolist()


def test_an_iterator_inside_the_function(watch, read):
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watched = watch(model)
    batches = iter(tf.data.Dataset.from_tensor_slices({"x": SICK, "y": Y}).batch(BATCH))

    @tf.function
    def step(iterator):
        batch = next(iterator)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(batch["y"] - model(batch["x"])))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(N_STEPS):
        step(batches)
    assert_entered(watched, read(watched), {"input": parts(SICK), "target": parts(Y)})


def test_a_loop_over_the_data_inside_the_function(watch, read):
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)
    watched = watch(model)

    @tf.function
    def epoch(batches):
        for x, y in batches:
            with tf.GradientTape() as tape:
                loss = MSE(y, model(x))
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    epoch(tf.data.Dataset.from_tensor_slices((SICK, Y)).batch(BATCH))
    assert_entered(watched, read(watched), {"input": parts(SICK), "target": parts(Y)})


def test_the_whole_data_as_a_constant(watch, read):
    model, optimizer = regression(3), keras.optimizers.SGD(0.01)
    watched = watch(model)
    targets = data(3)
    x, y = tf.constant(X), tf.constant(targets)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - model(x)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step()
    step()
    assert_entered(watched, read(watched), {"input": [X, X], "target": [targets, targets]})


def test_a_layers_own_constants_are_no_inputs(watch, read):
    model = keras.Sequential(
        [keras.Input((WIDTH,)), keras.layers.Lambda(lambda x: x @ tf.constant(data(64)[:WIDTH])), dense(2, "out")]
    )
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)
    run(tf.function, step_of(model, optimizer, lambda x, y: MSE(y, model(x))), X, Y)
    assert_entered(watched, read(watched), {"input": parts(X), "target": parts(Y)})


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_two_models_and_what_one_makes_for_the_other(watch, read, compiler):
    """A generator's output enters the critic, but not the step: it was made from weights."""
    generator, critic = regression(WIDTH, "generator"), regression(1, "critic")
    optimizers = keras.optimizers.SGD(0.01, name="of_generator"), keras.optimizers.SGD(0.01, name="of_critic")
    watched = watch(generator, critic)

    def step(noise, real):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(critic(generator(noise)))
        optimizers[0].apply(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(critic(generator(noise))) - tf.reduce_mean(critic(real))
        optimizers[1].apply(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables)

    run(compiler, step, X, SICK)
    recording = read(watched)
    assert_entered(watched, recording, {"input": parts(X)}, 0)
    if compiler is LOOPS["eager loop"]:  # the generator's call is none of the critic's; a graph shows all that it uses
        assert_entered(watched, recording, {"input @of_critic": parts(SICK)}, 1)
    else:
        assert_entered(watched, recording, {"input/generator": parts(X), "input/critic": parts(SICK)}, 1)


def test_an_optimizer_alone(watch, read):
    """Without a model nothing tells inputs and targets apart; the arguments' names are left."""
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watched = watch(optimizer)
    run(tf.function, step_of(model, optimizer, lambda *batch: tf.reduce_mean((batch[1] - model(batch[0])) ** 2)), X, Y)
    recording = read(watched)
    assert len(recording.tensors("input")) == 2
    assert all(name.startswith("input/") for name in recording.tensors("input"))


class Sparse(keras.Model):
    def __init__(self):
        super().__init__(name="sparse_model")
        self.kernel = self.add_weight((WIDTH, 2), name="kernel")

    def call(self, x):
        return tf.sparse.sparse_dense_matmul(x, tf.convert_to_tensor(self.kernel))


def test_a_sparse_tensor_has_the_statistics_of_its_values(watch, read):
    model, optimizer = Sparse(), keras.optimizers.SGD(0.01)
    model.build((None, WIDTH))
    watched = watch(model)
    step = tf.function(step_of(model, optimizer, lambda x, y: MSE(y, model(x))))
    kept = [np.where(one > 0, one, 0) for one in parts(X)]
    for x, y in zip(kept, parts(Y), strict=True):
        step(tf.sparse.from_dense(x), tf.constant(y))
    recording = read(watched)
    expected = np.array([row(one[one != 0]) for one in kept])
    assert_block_equal(recording.statistics("input", "input"), expected, rtol=1e-5)
    assert columns_of(watched, "input") == {}  # its rows are not those of the batch


def test_a_function_traced_again_for_other_shapes_goes_on(watch, read):
    model = keras.Sequential([keras.layers.GlobalAveragePooling1D(), dense(2, "out")])
    model.build((None, None, 3))
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)
    step = tf.function(step_of(model, optimizer, lambda x, y: MSE(y, model(x))))
    batches = [np.random.default_rng(i).normal(size=(8 + i, 4 + i, 3)).astype(np.float32) for i in range(3)]
    batches[1][2, 0, 1] = np.nan
    for x in batches:
        step(tf.constant(x), tf.zeros([len(x), 2]))
    recording = read(watched)
    assert_block_equal(recording.statistics("input", "input"), np.array([row(x) for x in batches]), rtol=1e-5)
    columns, rows, n_rows = columns_of(watched, "input")[1]
    assert (columns[:, 0].tolist(), rows[0], n_rows) == ([0, 1, 0], 2, 1)


def test_no_batch_is_kept_beyond_its_step(watch):
    model, optimizer = regression(), keras.optimizers.SGD(0.01)
    watch(model)
    step = step_of(model, optimizer, lambda x, y: MSE(y, model(x)))
    x, y = tf.constant(X[:BATCH]), tf.constant(Y[:BATCH])
    alive = weakref.ref(x), weakref.ref(y)
    step(x, y)
    model(x)  # an evaluation, which no step follows
    del x, y
    gc.collect()
    assert [ref() for ref in alive] == [None, None]


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eagerly"])
def test_keras_2(watch, read, run_eagerly):
    tf_keras = pytest.importorskip("tf_keras")
    model = tf_keras.Sequential([tf_keras.layers.Dense(4, input_shape=(WIDTH,)), tf_keras.layers.Dense(2)])
    model.compile(tf_keras.optimizers.SGD(0.01), "mse", run_eagerly=run_eagerly)
    watched = watch(model)
    other = X[:BATCH] + 100  # an evaluation's batch, which enters no step
    for x, y in zip(parts(SICK), parts(Y), strict=True):
        model.evaluate(other, y, verbose=0)
        model.fit(x, y, batch_size=BATCH, verbose=0, shuffle=False)
    assert_entered(watched, read(watched), {"input": parts(SICK), "target": parts(Y)})


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eagerly"])
def test_an_evaluation_enters_no_step(watch, read, run_eagerly):
    model = regression(run_eagerly=run_eagerly)
    watched = watch(model)
    fit(model, SICK, Y, validation_data=(X + 100, Y))
    fit(model, SICK, Y)
    assert_entered(watched, read(watched), {"input": 2 * parts(SICK), "target": 2 * parts(Y)})


def test_from_the_training_to_rest_through_a_real_server(tmp_path):
    model = regression(jit_compile=False)
    with Server(tmp_path) as server, gradwatch.watch(model, url=server.url, budget=0) as watched:
        fit(model, SICK, Y)
        watched.close()
        found = server.get(f"/api/runs/{watched.run_id}/columns", tensor="input")
        assert (found["n_columns"], found["n_steps"], found["n_lost"]) == (WIDTH, N_STEPS, 0)
        bad = ~np.isfinite(SICK)
        assert found["n_nonfinite"] == bad.sum(axis=0).tolist()
        assert found["n_steps_nonfinite"] == [0, 1, 0, 0, 1]
        finite = np.where(bad, np.nan, SICK)
        np.testing.assert_array_equal(np.array(found["min"], np.float32), np.nanmin(finite, axis=0))
        np.testing.assert_array_equal(np.array(found["max"], np.float32), np.nanmax(finite, axis=0))
        assert found["rows"] == [{"step": 2, "worker": 0, "rows": [3, 9], "n_rows": 2}]
        counts = server.get(f"/api/runs/{watched.run_id}/series", tensor="input", kind="input", statistic="n_nan")
        assert counts["max"] == [0, 0, 1, 0]
        leading = watched.findings()[0]
        assert (leading["kind"], leading["first_step"], leading["tensor"]) == ("nonfinite_input", 2, "input")


def test_targets_that_are_whole_numbers_at_some_steps_only(watch, read):
    """As where some batches are mixed with others, and their labels are shares."""
    model = keras.Sequential([keras.Input((2,)), dense(3, "only")])
    optimizer = keras.optimizers.SGD(0.1)
    watched = watch(model)
    x = np.ones((4, 2), "float32")
    labels = np.array([0, 1, 2, 1])
    shares = np.eye(3, dtype="float32")[labels]
    losses = [keras.losses.CategoricalCrossentropy(from_logits=True), LOSS]
    for step in range(4):
        with tf.GradientTape() as tape:
            given = [tf.constant(shares), tf.constant(labels)][step % 2]
            loss = losses[step % 2](given, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    recording = read(watched)
    assert recording.steps() == [0, 1, 2, 3]
    assert not watched._failures
