"""How far a linear fit follows the targets: the fit itself, what is kept of a batch, and that it is told."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.correlation import Pair
from gradwatch.linear_fit import (
    BATCHES_MIN,
    COLUMNS_MAX,
    ROWS,
    SAMPLES_MIN,
    LinearFit,
    correlate_within,
    find_unfollowed,
    fit_halves,
)
from tests.hook.ways import WAYS

N = 800
BATCHES = np.repeat(np.arange(N // ROWS), ROWS)


@pytest.fixture
def random():
    return np.random.default_rng(0)


def reference(columns, targets, is_first):
    """Ridge regression as least squares with rows for the penalty."""
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    found = np.zeros_like(targets)
    for is_other in (is_first, ~is_first):
        x, y = columns[~is_other], targets[~is_other]
        rows = np.sqrt(x.shape[1]) * np.eye(x.shape[1])
        w = np.linalg.lstsq(np.vstack([x, rows]), np.vstack([y - y.mean(0), np.zeros((len(rows), y.shape[1]))]))[0]
        found[is_other] = columns[is_other] @ w + y.mean(axis=0)
    return found


def follows(inputs, targets):
    return correlate_within(targets, fit_halves(inputs, targets), BATCHES)


@pytest.mark.parametrize("n_columns", [3, 600])
def test_it_is_a_ridge_regression_of_each_half(random, monkeypatch, n_columns):
    halves = np.arange(N) % 2
    monkeypatch.setattr("gradwatch.linear_fit.zlib.crc32", count(N))
    columns = random.normal(size=(N, n_columns))
    targets = columns[:, :3] @ random.normal(size=(3, 2)) + random.normal(size=(N, 2))
    fitted = fit_halves([columns[:, :1], columns[:, 1:]], targets)
    np.testing.assert_allclose(fitted, reference(columns, targets, halves == 0), atol=1e-9)


def test_correlations_are_those_of_each_batch(random):
    targets, outputs = random.normal(size=(2, N, 3))
    outputs += targets
    of_each = [
        np.corrcoef(np.ravel(t - t.mean(0)), np.ravel(o - o.mean(0)))[0, 1]
        for t, o in zip(np.split(targets, N // ROWS), np.split(outputs, N // ROWS), strict=True)
    ]
    assert correlate_within(targets, outputs, BATCHES) == pytest.approx(np.mean(of_each), abs=1e-12)
    assert np.isnan(correlate_within(targets[:5], outputs[:5], BATCHES[:5]))


def test_the_column_that_only_a_fit_follows(random):
    targets = random.normal(size=(N, 3))
    fitted = targets + 0.3 * random.normal(size=(N, 3))
    outputs = fitted.copy()
    assert find_unfollowed(targets, outputs, fitted, BATCHES) == 0
    outputs[:, 1] = random.normal(size=N)
    assert find_unfollowed(targets, outputs, fitted, BATCHES) == 2
    fitted[:, 1] = random.normal(size=N)
    assert find_unfollowed(targets, outputs, fitted, BATCHES) == 0, "nothing tells it"
    assert find_unfollowed(targets, random.normal(size=(N, 3)), targets, BATCHES) == 0, "nothing is followed yet"


def count(n):
    numbers = iter(range(n))
    return lambda _: next(numbers)


def test_what_the_inputs_do_not_tell_is_not_found(random):
    columns, targets = random.normal(size=(N, 20)), random.normal(size=(N, 1))
    assert abs(follows([columns], targets)) < 0.1


def test_a_sample_that_comes_again_is_in_the_same_half(random):
    """Or else labels that say nothing would be found by heart: here each sample comes twice."""
    columns, labels = random.normal(size=(N // 2, 150)), random.normal(size=(N // 2, 1))
    again = random.permutation(np.repeat(np.arange(N // 2), 2))
    assert abs(follows([columns[again]], labels[again])) < 0.15


def test_units_and_means_of_columns_do_not_matter(random):
    columns = random.normal(size=(N, 4))
    targets = columns @ random.normal(size=(4, 1)) + 0.3 * random.normal(size=(N, 1))
    units = np.array([1e-6, 1.0, 1e4, 30.0])
    assert follows([columns * units + 7 * units], targets) > 0.9


def test_whole_numbers_are_counted(random):
    words = random.integers(1, 60, (N, 12))
    targets = (words == 17).sum(axis=1, keepdims=True) + 0.1 * random.normal(size=(N, 1))
    assert follows([words.astype(float)], targets) > 0.8
    assert follows([words + 0.5], targets) < 0.3


def test_of_two_or_three_each_has_counts_of_its_own(random):
    pairs = random.integers(0, 20, (N, 2))
    values = random.normal(size=(2, 20))
    targets = (values[0][pairs[:, 0]] - values[1][pairs[:, 1]])[:, None]
    assert follows([pairs.astype(float)], targets) > 0.9


def test_what_is_missing_counts_as_the_mean(random):
    columns = random.normal(size=(N, 3))
    targets = columns @ np.ones((3, 1))
    columns[:, 2] = np.nan
    columns[::5, 1] = np.nan
    assert 0.6 < follows([columns], targets) < 0.9


def test_few_samples_tell_nothing(random):
    columns, targets = random.normal(size=(SAMPLES_MIN - 1, 2)), random.normal(size=(SAMPLES_MIN - 1, 1))
    again = np.arange(N) % len(columns)
    assert np.isnan(follows([columns[again]], targets[again]))
    assert np.isnan(follows([random.normal(size=(N, 2))], np.ones((N, 1))))


def keep(fit, n, make, *, jit_compile=False, is_known=True):
    """Gives so many batches to a fit, in a graph; it is read after each."""
    first = make(0)
    specs = [tf.TensorSpec(one.shape if is_known else [None, *one.shape[1:]], one.dtype) for one in first]

    @tf.function(jit_compile=jit_compile, input_signature=[tf.TensorSpec([], tf.int64), *specs])
    def step(number, *values):
        *inputs, target, output = values
        fit.keep(number, inputs, Pair("target", target, output))

    for number in range(n):
        step(tf.constant(number, tf.int64), *map(tf.constant, make(number)))
        found = fit.read()
    return found


@pytest.mark.parametrize("is_known", [True, False], ids=["batch known", "batch unknown"])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_samples_of_batches_are_fitted_once_there_are_enough(random, jit_compile, is_known):
    images = random.normal(size=(2_000, 16, 16)).astype("float32")
    labels = (images[:, 0, 0] > 0).astype("int32") + (images[:, 6, 2] > 0)

    def make(number):
        rows = slice(40 * number, 40 * number + 40)
        return images[rows], random.normal(size=(40, 1)).astype("float32"), labels[rows], np.zeros((40, 3), "float32")

    fit = LinearFit()
    assert np.isnan(keep(fit, BATCHES_MIN - 1, make, jit_compile=jit_compile, is_known=is_known))
    assert 0.2 < keep(fit, BATCHES_MIN, make, jit_compile=jit_compile, is_known=is_known) < 1


def test_small_batches_and_empty_ones(random):
    x = random.normal(size=(3_000, 2)).astype("float32")

    def make(number):
        rows = slice(0, 0) if number == 3 else slice(12 * number, 12 * number + 12)
        return x[rows], x[rows, :1] - x[rows, 1:], np.zeros((len(x[rows]), 1), "float32")

    assert keep(LinearFit(), 40, make, is_known=False) > 0.95


@pytest.mark.parametrize(
    ("x", "y", "output"),
    [
        ((40, 7), (40, 7), (40, 7)),
        ((40, 7), (40, 65), (40, 65)),
        ((40, 7), (40, 3), (40, 4)),
    ],
    ids=["an autoencoder's", "many", "not comparable"],
)
def test_targets_of_which_a_linear_fit_says_nothing(random, x, y, output):
    fit = LinearFit()
    keep(fit, 1, lambda _: [random.normal(size=shape).astype("float32") for shape in (x, y, output)])
    assert fit._ring is None


def test_of_a_wide_input_evenly_spread_columns_are_kept(random):
    """All of them together, and few enough: a ring that XLA may copy is small."""
    fit = LinearFit()
    shapes = [(40, 50, 50), (40, 10), (40, 1), (40, 1)]
    keep(fit, 1, lambda _: [random.normal(size=shape).astype("float32") for shape in shapes])
    assert fit._layout.widths[1:] == (10,)
    assert COLUMNS_MAX // 4 < fit._layout.widths[0] <= COLUMNS_MAX // 2
    assert fit._ring.size_bytes < 300_000


def test_another_form_of_batches_is_passed_by(random):
    fit = LinearFit()
    of_width = lambda n: lambda _: [random.normal(size=(40, k)).astype("float32") for k in (n, 1, 1)]  # noqa: E731
    keep(fit, 4, of_width(3))
    keep(fit, 4, of_width(5))
    assert fit._n_new == 4


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3e38])
def test_a_model_that_breaks_and_inputs_that_do(random, bad):
    """Not a word of NumPy's either: a warning would be an error here."""
    columns = random.normal(size=(2_000, 3)).astype("float32")

    def make(number):
        x = columns[40 * number : 40 * number + 40].copy()
        y, outputs = x.copy(), np.where(np.arange(40)[:, None] % 7 == 0, bad, x).astype("float32")
        x[::9, 0], x[0] = bad, np.nan
        return np.concatenate([x, x[:, :1]], axis=1), y, outputs

    fit = LinearFit()
    assert keep(fit, 40, make) > 0.5
    assert not np.isnan(fit.unfollowed)


def test_numbers_that_cannot_be_solved_end_nothing(random, monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("gradwatch.linear_fit._fit", fail)
    shapes = [(40, 3), (40, 1), (40, 1)]
    assert np.isnan(keep(LinearFit(), 20, lambda _: [random.normal(size=n).astype("float32") for n in shapes]))


@pytest.mark.parametrize("name", WAYS)
def test_it_is_told_in_every_way_to_train(watch, read, random, name):
    x = random.normal(size=(640, 6)).astype("float32")
    y = x[:, :1] - x[:, 1:2] + 0.1 * random.normal(size=(640, 1)).astype("float32")
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    n_epochs = 6 if "eager" in name else 100
    recording = read(WAYS[name](watch, model, keras.optimizers.SGD(1e-6), x, y, n_epochs))
    ((stream, table),) = recording.tables.items()
    place = table["scalars"].index("linear_fit")
    values = np.concatenate([message["scalars"][:, place] for message in recording.rows[stream]])
    assert np.isnan(values[0])
    assert values[-1] > 0.9


@pytest.mark.parametrize("is_frozen", [False, True])
def test_it_is_no_measure_of_features_that_are_frozen(watch, read, random, is_frozen):
    x = random.normal(size=(640, 6)).astype("float32")
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, name="features"), keras.layers.Dense(1)])
    model.get_layer("features").trainable = not is_frozen
    recording = read(WAYS["fit"](watch, model, keras.optimizers.SGD(1e-6), x, x[:, :1], 100))
    ((stream, table),) = recording.tables.items()
    place = table["scalars"].index("linear_fit")
    values = np.concatenate([message["scalars"][:, place] for message in recording.rows[stream]])
    assert bool(np.isnan(values).all()) == is_frozen


def test_without_targets_there_is_none(watch, read):
    model, optimizer = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)]), keras.optimizers.SGD(1e-3)
    watched = watch(model, optimizer, budget=0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.ones([8, 6]))))
    optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
    assert all("linear_fit" not in table["scalars"] for table in read(watched).tables.values())
