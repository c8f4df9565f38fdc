"""What the user's own code loses of its data on the way into the training: told with its line, and only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from gradwatch.slips.script.fed import find_fed
from tests.hook.diagnosis import found_in

CAPTURE = ("gradient", "operation")


HEAD = """
import keras
import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).normal(size=(500, 3)).astype("float32")
y = x[:, :1]


def train_step(x, y):
    global found
    found = find([__file__])




class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        global found
        found = find([__file__])
"""
LOOP = """
data = {data}
{before}
for step in range(3):
    {line}
    train_step(x, y)
"""
ROWS = "tf.data.Dataset.from_tensor_slices((x, y))"


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Runs a script, and gives what is found of it while it trains."""

    def play(text: str) -> list[dict[str, Any]]:
        path = tmp_path / "train.py"
        path.write_text(HEAD + text)
        space: dict[str, Any] = {"__name__": "train", "__file__": str(path), "find": find_fed}
        exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102 a script of its own
        found: list[dict[str, Any]] = space["found"]
        return found

    return play


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (f"{ROWS}.shuffle(100).batch(20)", 120),
        (f"{ROWS}.batch(20).shuffle(5).prefetch(2)", 120),
        (f"{ROWS}.repeat().batch(20)", 20),
        (f"{ROWS}.shuffle(500).batch(20)", None),
        (f"tf.data.Dataset.from_generator(lambda: zip(x, y), output_signature={ROWS}.element_spec).batch(20)", None),
    ],
)
def test_a_data_set_that_is_begun_anew_for_each_step(find: Any, data: str, seen: int | None) -> None:
    found = find(LOOP.format(data=data, before="", line="x, y = next(iter(data))"))
    assert [(one["n_seen"], one["n_rows"]) for one in found] == ([] if seen is None else [(seen, 500)])
    assert all(one["source"]["code"] == "x, y = next(iter(data))" for one in found)


OVER = """
data = {data}
for epoch in range(3):
    with tf.device("CPU"):
        for x, y in data{taken}:
            train_step(x, y)
        seen, asked = next(iter(data))
"""


@pytest.mark.parametrize(("taken", "seen"), [(".take(2)", [140]), (".take(100)", []), ("", [])])
def test_the_first_batches_again_and_again(find: Any, taken: str, seen: list[int]) -> None:
    found = find(OVER.format(data=f"{ROWS}.shuffle(100).batch(20)", taken=taken))
    assert [one["n_seen"] for one in found] == seen


ENDLESS = """
rows = np.random.default_rng(1).normal(size=(500, 4)).astype("float32")
{outside}
def batches({argument}):
    {inside}
    while True:
        picked = rng.choice(500, size=10)
        yield rows[picked], rows[picked, :1]
data = tf.data.Dataset.from_generator(batches, output_signature=(
    tf.TensorSpec((10, 4), tf.float32), tf.TensorSpec((10, 1), tf.float32))).take({n})
for epoch in range(3):
    for x, y in data:
        train_step(x, y)
"""
SEEDED = "rng = np.random.default_rng({seed})"


@pytest.mark.parametrize(
    ("inside", "outside", "argument", "n", "is_told"),
    [
        (SEEDED.format(seed=3), "", "", 5, True),
        ("rng = np.random.RandomState(SEED)", "SEED = 3", "", 5, True),
        (SEEDED.format(seed=""), "", "", 5, False),
        ("pass", SEEDED.format(seed=3), "", 5, False),
        (SEEDED.format(seed="seed"), "", "seed=1", 5, False),
        (SEEDED.format(seed=3), "", "", 50, False),
    ],
    ids=["a seed", "a seed by name", "no seed", "outside", "one given", "as many rows as there are"],
)
def test_a_generator_that_seeds_itself_in_each_epoch(
    find: Any, inside: str, outside: str, argument: str, n: int, *, is_told: bool
) -> None:
    text = ENDLESS.format(inside=inside, outside=outside, argument=argument, n=n)
    found = [one for one in find(text) if one.get("reseeded")]
    assert [(one["n_seen"], one["n_rows"]) for one in found] == [(50, 500)] * is_told
    assert all(one["source"]["code"] == inside for one in found)


FITTED = """
class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        train_step(x, y)


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit({fed}, epochs=2, callbacks=[Look()], verbose=0)
"""


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed", "ignore:Your input ran out of data")
@pytest.mark.parametrize(
    ("train", "is_told"),
    [
        (FITTED.format(fed="data"), True),
        (FITTED.format(fed="rows, rows[:, :1], validation_data=data"), False),
        ("for epoch in range(3):\n    for i in range(2):\n        train_step(x, y)\n    seen = list(data)", False),
    ],
    ids=["fit", "to validate with", "a loop over something else"],
)
def test_a_generator_that_seeds_itself_and_feeds_the_training(find: Any, train: str, *, is_told: bool) -> None:
    text = ENDLESS.format(inside=SEEDED.format(seed=3), outside="", argument="", n=5).partition("for epoch")[0] + train
    assert len([one for one in find(text) if one.get("reseeded")]) == is_told


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("each = iter(data)", "x, y = next(each)"),
        ("x, y = next(iter(data))", "pass"),
        ("check = data", "seen, asked = next(iter(check))"),
    ],
    ids=["one iterator", "before the loop", "of a check"],
)
def test_an_iterator_that_is_not_what_a_step_is_fed_from(find: Any, before: str, line: str) -> None:
    assert find(LOOP.format(data=f"{ROWS}.batch(20)", before=before, line=line)) == []


MAPPED = """
def prepare(image, mask):
    image = tf.cast(tf.image.resize(image, (8, 8)), tf.uint8)
    mask = {call}
    return image, {cast}


train_step(x, y)
"""


@pytest.mark.parametrize(
    ("call", "cast", "method"),
    [
        ("tf.image.resize(mask, (8, 8))", "tf.cast(mask, tf.int32)", "bilinear"),
        ("tf.image.resize(mask, (8, 8), method='bicubic')", "tf.cast(mask, 'int64')", "bicubic"),
        ("tf.image.resize(mask, (8, 8), tf.image.ResizeMethod.AREA)", "tf.cast(mask, dtype=tf.int32)", "area"),
        ("tf.cast(keras.ops.image.resize(mask, (8, 8)), 'int32')", "mask", "bilinear"),
        ("tf.image.resize(mask, (8, 8), method='nearest')", "tf.cast(mask, tf.int32)", None),
        ("tf.image.resize(mask, (8, 8))", "mask", None),
    ],
)
def test_class_numbers_that_are_interpolated(find: Any, call: str, cast: str, method: str | None) -> None:
    found = find(MAPPED.format(call=call, cast=cast))
    assert [one["resized"] for one in found] == ([] if method is None else [method])


BUFFER = """
actions = np.zeros(10, "int32")
rewards = {made}
for step in range(10):
    rewards[step] = {value}
train_step(tf.constant(actions), {fed})
"""


@pytest.mark.parametrize(
    ("made", "fed", "dtype"),
    [
        ("np.zeros_like(actions)", "tf.constant(rewards[:5], tf.float32)", "int32"),
        ("np.full_like(actions, 0)", "tf.cast(rewards, 'float32')", "int32"),
        ("np.zeros_like(actions)", "rewards.astype(np.float32)", "int32"),
        ("np.zeros_like(actions, dtype='float32')", "tf.constant(rewards, tf.float32)", None),
        ("np.zeros_like(x[:, 0])", "tf.constant(rewards, tf.float32)", None),
        ("np.zeros_like(actions)", "tf.constant(rewards)", None),
    ],
)
def test_a_buffer_that_cuts_off_fractions(find: Any, made: str, fed: str, dtype: str | None) -> None:
    found = find(BUFFER.format(made=made, value="0.7", fed=fed))
    assert [one["buffer"] for one in found] == ([] if dtype is None else [dtype])


UNROLLED = """
def unroll(many, of_each):
    rows = {rows}
    targets = {targets}
    return tf.data.Dataset.from_tensor_slices((rows, targets))


many, of_each = np.zeros({shape}, "float32"), np.arange(6)
unroll(many, of_each)
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("shape", "rows", "targets", "told"),
    [
        ((6, 4, 5), "many.reshape(-1, 5)", "np.tile(of_each, 4)", "tile"),
        ((6, 4, 5), "np.reshape(many, (-1, 5))", "tf.tile(of_each, [4])", "tile"),
        ((6, 4, 5), "many.reshape(24, 5, 1)", "np.tile(of_each, 4)", "tile"),
        ((4, 6, 5), "many.reshape(-1, 5)", "np.repeat(of_each, 4)", "repeat"),
        ((4, 6, 5), "many.reshape(-1, 5)", "of_each.repeat(4)", "repeat"),
        ((6, 4, 5), "many.reshape(-1, 5)", "np.repeat(of_each, 4)", None),
        ((4, 6, 5), "many.reshape(-1, 5)", "np.tile(of_each, 4)", None),
        ((6, 6, 5), "many.reshape(-1, 5)", "np.tile(of_each, 6)", None),
        ((24, 5), "many.reshape(-1, 5, 1)", "np.tile(of_each, 4)", None),
        ((6, 4, 5), "many.reshape(6, -1)", "np.tile(of_each, 1)", None),
        ((6, 4, 5), "many.swapaxes(0, 1).reshape(-1, 5)", "np.tile(of_each, 4)", None),
    ],
    ids=str,
)
def test_targets_copied_in_another_order_than_a_reshape_has(
    find: Any, shape: tuple[int, ...], rows: str, targets: str, told: str | None
) -> None:
    found = [one for one in find(UNROLLED.format(shape=shape, rows=rows, targets=targets)) if "copies" in one]
    assert [(one["copies"], one["unrolled"]) for one in found] == ([] if told is None else [(told, True)])
    assert all("targets = " in one["source"]["code"] for one in found)


COPIED = """
def more(images, labels):
    {lines}


images, labels = more(x, y)
train_step(images, labels)
"""


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ("return np.repeat(images, 3, axis=0), np.tile(labels, (3, 1))", True),
        ("many = np.repeat(images, 3, axis=0); return many, np.tile(labels, (3, 1))", True),
        ("return np.tile(images, (3, 1)), tf.repeat(labels, 3, axis=0)", True),
        ("return np.repeat(images, 3, axis=0), np.repeat(labels, 3, axis=0)", False),
        ("return np.tile(images, (3, 1)), np.tile(labels, (3, 1))", False),
        ("views = np.tile(images, (3, 1)); return images.repeat(3, 0) - views, labels.repeat(3, 0)", False),
    ],
)
def test_pairs_that_are_copied_in_two_ways(find: Any, lines: str, is_told: bool) -> None:
    found = [one for one in find(COPIED.format(lines=lines)) if "copies" in one]
    assert len(found) == is_told
    assert all("np.tile(" in one["source"]["code"] for one in found)


CACHED = """
def draw(x, y):
    return x + tf.random.normal(tf.shape(x)), y


def scale(x, y):
    return x / 2, y


data = {data}
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("data", "is_told"),
    [
        (f"{ROWS}.map(draw).cache().shuffle(500).batch(20)", True),
        (f"{ROWS}.batch(20).map(lambda x, y: (tf.image.random_brightness(x, 0.1), y)).prefetch(2).cache()", True),
        (f"{ROWS}.map(scale).cache().shuffle(500).map(draw).batch(20)", False),
        (f"{ROWS}.shuffle(500).cache().batch(20)", False),
        (f"{ROWS}.map(draw).batch(20)", False),
        ("tf.data.Dataset.range(9).map(lambda i: tf.random.normal([3])).cache().batch(2)", False),
    ],
)
def test_a_cache_behind_a_random_map(find: Any, data: str, is_told: bool) -> None:
    found = find(CACHED.format(data=data))
    assert [one["cached"] for one in found] == [True] * is_told
    assert all(".cache()" in one["source"]["code"] for one in found)


@pytest.mark.parametrize(("trained", "held"), [("draw", "scale"), ("scale", "draw"), ("draw", "draw")])
def test_which_of_several_caches_is_meant(find: Any, trained: str, held: str) -> None:
    """That of the data which the training goes over; drawn once, what is held out is as good as any."""
    rows = f"{ROWS}.map({trained}).cache().batch(20)\nheld = {ROWS}.map({held}).cache()\nfor x, y in data:\n    "
    found = find(CACHED.format(data=rows).replace("\n    \ntrain_step(x, y)", "\n    train_step(x, y)"))
    assert [one["source"]["code"][:6] for one in found if "cached" in one] == ["data ="] * (trained == "draw")


THROUGH = """
WIDTH, LENGTH = 3, 7
waves = np.ones((10, WIDTH, LENGTH))


def to_rows(block):
    return {reshape} / waves.max()


def prepare(part, labels):
    return tf.data.Dataset.from_tensor_slices((to_rows(part), labels))


data = prepare(waves, np.arange(10))
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("reshape", "after"),
    [
        ("block.reshape(-1, LENGTH, WIDTH)", [10, 7, 3]),
        ("np.reshape(block, (len(block), LENGTH, WIDTH))", [10, 7, 3]),
        ("block.reshape(-1, WIDTH, LENGTH)", None),
        ("block.reshape(-1, WIDTH * LENGTH)", None),
        ("block.reshape(len(block), -1, WIDTH)", None),
        ("block.transpose(0, 2, 1).reshape(-1, LENGTH, WIDTH)", None),
    ],
)
def test_axes_that_a_reshape_mixes_up_behind_several_calls(find: Any, reshape: str, after: list[int] | None) -> None:
    found = find(THROUGH.format(reshape=reshape))
    assert [one["after"] for one in found] == ([] if after is None else [after])


def test_a_reshape_of_a_batch_whose_length_is_not_known_yet(find: Any) -> None:
    """Steps are traced for any length of a batch: nothing is compared with it, and nothing fails."""
    traced = "tf.function(step, input_signature=[tf.TensorSpec([None, 3, 4])], autograph=False)"
    step = "def step(x):\n    train_step(x, y)\n    h = tf.reshape(x, [-1])\n"
    assert find(f"{step}\n{traced}(tf.zeros([6, 3, 4]))\n") == []


TURNED = """
waves = np.zeros((10, 3, 7))
{line}
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("turned = waves.reshape(10, 7, 3)", [10, 7, 3]),
        ("turned = np.reshape(waves, (3, 10, 7))", [3, 10, 7]),
        ("turned = tf.reshape(waves, (-1, 7, 3))", [10, 7, 3]),
        ("turned = waves.transpose(0, 2, 1)", None),
        ("turned = waves.reshape(10, 21)", None),
        ("turned = waves.reshape(10, 1, 3, 7)", None),
    ],
)
def test_axes_that_a_reshape_mixes_up(find: Any, line: str, after: list[int] | None) -> None:
    found = find(TURNED.format(line=line))
    assert [(one["before"], one["after"]) for one in found] == ([] if after is None else [([10, 3, 7], after)])


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ("waves = waves.reshape(10, 7, 3)", [10, 7, 3]),
        ("waves = np.reshape(waves, (len(waves), 7, 3)); part = waves[:8]", [10, 7, 3]),
        ("waves = waves.reshape(waves.shape[0], 7, 3, 1); waves = waves[:8]; other = 0", [10, 7, 3, 1]),
        ("waves = waves.reshape(10, 3, 7, 1); waves = waves.transpose(0, 2, 1, 3)", None),
        ("waves = waves.reshape(10, 21); waves = waves.reshape(10, 3, 7)", None),
        ("waves = np.zeros((10, 6, 3)); waves = waves.reshape(10, 3, 6)", None),
        ("waves = waves.reshape(7, 3, 10)[:, :, :4]; waves = waves.reshape(4, 3, 7)", None),
        ("waves = waves.transpose(0, 2, 1)", None),
    ],
)
def test_axes_that_a_reshape_mixes_up_under_the_same_name(find: Any, lines: str, after: list[int] | None) -> None:
    found = find(TURNED.format(line=lines.replace("; ", "\n")))
    assert [(one["before"], one["after"]) for one in found] == ([] if after is None else [([10, 3, 7], after)])
    assert all(".reshape(" in one["source"]["code"] for one in found)


IN_MAP = """
def prepare(wave, label):
    wave = wave / 2
    {line}
    return wave, label


data = tf.data.Dataset.from_tensor_slices((np.zeros((10, 3, 7)), np.arange(10))){batch}
data = data.map(prepare).prefetch(1)


@tf.function
def step(x, y):
    train_step(x, y)
    return x


for x, y in data.take(1):
    step(x, y)
"""


@pytest.mark.parametrize(
    ("parts", "after"),
    [
        ({"line": "wave = tf.reshape(wave, (7, 3))"}, [7, 3]),
        ({"line": "wave = tf.reshape(wave, (-1, 7, 3))", "batch": ".batch(5)"}, [-1, 7, 3]),
        ({"line": "wave = tf.transpose(wave)"}, None),
        ({"line": "wave = tf.reshape(wave, (3, 7, 1))"}, None),
        ({"line": "wave = tf.reshape(wave, (21,))"}, None),
        ({"line": "wave = tf.reshape(wave[:, :6], (6, 3))"}, None),
        ({"line": "wave = tf.reshape(wave, (-1, 7))", "batch": ".batch(5)"}, None),
    ],
)
def test_axes_that_a_reshape_in_a_map_mixes_up(find: Any, parts: dict[str, str], after: list[int] | None) -> None:
    found = [one for one in find(IN_MAP.format(**({"batch": ""} | parts))) if "after" in one]
    assert [one["after"] for one in found] == ([] if after is None else [after])
    assert all("tf.reshape(wave" in one["source"]["code"] for one in found)


HELPING = """
waves = np.zeros((10, 3, 7))


def prepare(trials, scale):
    trials = trials / scale
    {inner}


turned = prepare(waves, 2.0)
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("inner", "after"),
    [
        ("return trials.reshape(-1, 7, 3)", [10, 7, 3]),
        ("return np.reshape(trials, (len(trials), 7, 3))", [10, 7, 3]),
        ("out = trials.reshape(-1, 7, 3); return out", [10, 7, 3]),
        ("return trials.transpose(0, 2, 1)", None),
        ("trials = np.swapaxes(trials, 1, 2); return trials.reshape(-1, 7, 3)", None),
        ("return trials.reshape(-1, 3, 7)", None),
        ("return trials.reshape(-1, 21)", None),
    ],
)
def test_axes_that_a_reshape_in_a_function_mixes_up(find: Any, inner: str, after: list[int] | None) -> None:
    found = find(HELPING.format(inner=inner))
    assert [(one["before"], one["after"]) for one in found] == ([] if after is None else [([10, 3, 7], after)])
    assert all("reshape(" in one["source"]["code"] for one in found)


WRAPPED = """
first = np.zeros((4, 5), "{dtype}")
second = np.ones((4, 5), "{dtype}")


def motion(before, after):
    return {difference}


{call}
train_step(x, y)
"""


@pytest.mark.parametrize(
    ("dtype", "difference", "call", "is_told"),
    [
        ("uint8", "after - before", "motion(first, second)", True),
        ("uint16", "after[1:] - before[:-1]", "motion(first[:2], second[:2])", True),
        ("uint8", "before", "moved = second - first", True),
        ("uint8", "after[1:] - after[:-1]", "motion(first, second)", True),
        ("uint8", "after[1:] - after[1:]", "motion(first, second)", False),
        ("uint8", "[after := after / 255, after[1:] - after[:-1]]", "motion(first, second)", False),
        ("uint8", "after.astype('int16') - before", "motion(first, second)", False),
        ("int8", "after - before", "motion(first, second)", False),
        ("uint8", "after - before", "motion(first / 255, second / 255)", False),
    ],
)
def test_differences_that_wrap_round(find: Any, dtype: str, difference: str, call: str, is_told: bool) -> None:
    found = find(WRAPPED.format(dtype=dtype, difference=difference, call=call))
    assert [one["wraps"] for one in found] == [dtype] * is_told


STATEFUL = """
memory = keras.layers.LSTM(4, stateful={stateful}, name="memory")
model = keras.Sequential([keras.Input(batch_shape=(20, 1, 3)), memory, keras.layers.Dense(1)])
model.compile("sgd", "mse")


class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        global found
        found = find([__file__], [model])


sequences = {data}
model.fit(sequences, {given}callbacks=[Look()], verbose=0)
"""
ARRAYS = "x[:, None]"
SET = "tf.data.Dataset.from_tensor_slices((x[:, None], y)).batch(20, drop_remainder=True)"


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.filterwarnings("ignore:Your input ran out of data")
@pytest.mark.parametrize(
    ("stateful", "data", "given", "is_told"),
    [
        (True, ARRAYS, "y, batch_size=20, ", True),
        (True, ARRAYS, "y, batch_size=20, shuffle=False, ", False),
        (True, SET, "", False),
        (True, f"{SET}.shuffle(9)", "", True),
        (True, f"{SET}.shuffle(9).window(1).flat_map(lambda x, y: tf.data.Dataset.zip((x, y)))", "", False),
        (False, ARRAYS, "y, batch_size=20, ", False),
    ],
    ids=["shuffled", "in order", "a data set", "a shuffled one", "one of shuffled sequences", "without a state"],
)
def test_a_state_that_goes_on_over_shuffled_samples(
    find: Any, stateful: bool, data: str, given: str, is_told: bool
) -> None:
    found = find(STATEFUL.format(stateful=stateful, data=data, given=given))
    assert [(one["layer"].rpartition("/")[2], one["stateful"]) for one in found] == [("memory", True)] * is_told
    assert all(one["source"]["code"].startswith("model.fit(sequences") for one in found)


PARTED = """
inputs = x * 2.0
targets = y * 2.0
{line}

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
{fit}
"""
FIT = "model.fit(inputs[:400], targets[:400], callbacks=[Look()], verbose=0)"
SLICES = "model.fit(tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(9), callbacks=[Look()], verbose=0)"


SPLIT = """
(inputs_train, inputs_val) = inputs[:400], inputs[400:]
(targets_train, targets_val) = targets[:400], targets[400:]
model.fit(inputs_train, targets_train, validation_data=(inputs_val, targets_val), callbacks=[Look()], verbose=0)
"""


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize("fit", [FIT, SLICES, SPLIT])
@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("np.random.default_rng(0).shuffle(targets)", "targets"),
        ("np.random.shuffle(inputs)", "inputs"),
        ("targets = np.random.permutation(targets)", "targets"),
        ("targets = targets[np.random.permutation(500)]", "targets"),
        ("np.random.seed(0); np.random.shuffle(inputs); np.random.seed(0); np.random.shuffle(targets)", None),
        ("order = np.random.permutation(500); inputs, targets = inputs[order], targets[order]", None),
        ("np.random.shuffle(targets); inputs = np.repeat(targets, 3, axis=1)", None),
        ("order = np.arange(500); np.random.shuffle(order)", None),
        ("order = np.arange(500); np.random.shuffle(order); inputs = inputs[order]", "inputs"),
        ("order = np.random.permutation(500); targets = targets[order]", "targets"),
        ("order = np.random.permutation(500); targets = targets[order]; inputs = np.take(inputs, order, 0)", None),
        ("order = np.random.permutation(500); targets = targets[order]; inputs = np.repeat(targets, 3, 1)", None),
        ("order = np.argsort(y[:, 0]); targets = targets[order]", None),
    ],
)
def test_one_of_two_arrays_that_is_shuffled_alone(find: Any, line: str, moved: str | None, fit: str) -> None:
    found = find(PARTED.format(line=line.replace("; ", "\n"), fit=fit))
    assert [one["moved"] for one in found] == ([] if moved is None else [moved])


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize("fit", [FIT, SLICES])
@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("np.random.shuffle(inputs); np.random.shuffle(targets)", "targets"),
        ("np.random.shuffle(targets); print(1); np.random.shuffle(inputs)", "inputs"),
        ("rng = np.random.default_rng(0); rng.shuffle(inputs); rng.shuffle(targets)", "targets"),
        ("rng = np.random; inputs = inputs[rng.permutation(500)]; targets = targets[rng.permutation(500)]", None),
        (
            "inputs = inputs[np.random.permutation(500)]; targets = targets[np.random.permutation(500)]; inputs *= 2",
            "targets",
        ),
        ("inputs, targets = np.random.permutation(inputs), np.random.permutation(targets)", "targets"),
        ("inputs, targets = tf.random.shuffle(inputs), tf.random.shuffle(targets)", "targets"),
        ("inputs, targets = tf.random.shuffle(inputs, seed=1), tf.random.shuffle(targets, seed=1)", None),
        ("np.random.shuffle(inputs); keras.utils.set_random_seed(3); np.random.shuffle(targets)", None),
        (
            "s = np.random.get_state(); np.random.shuffle(inputs); np.random.set_state(s); np.random.shuffle(targets)",
            None,
        ),
        ("np.random.RandomState(0).shuffle(inputs); np.random.RandomState(0).shuffle(targets)", None),
        ("a, b = (np.random.default_rng(0) for _ in range(2)); a.shuffle(inputs); b.shuffle(targets)", None),
        ("np.random.shuffle(inputs); np.random.shuffle(targets); inputs, targets = x * 2.0, y * 2.0", None),
    ],
)
def test_both_of_a_pair_that_are_shuffled_each_by_itself(find: Any, line: str, moved: str | None, fit: str) -> None:
    found = find(PARTED.format(line=line.replace("; ", "\n"), fit=fit))
    assert [one["moved"] for one in found if "partner" in one] == ([] if moved is None else [moved])


RECORDS = """
users, items = np.repeat(np.arange(100), 5), np.arange(500) * 7 % 400
{line}
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")

def taken(one):
    return one["user"][:, None], one["item"][:, None]


data = tf.data.Dataset.from_tensor_slices({record})
model.fit(data.batch(10).map(taken), callbacks=[Look()], shuffle=False, verbose=0)
"""
RECORD = '{"user": users[:400], "item": items[:400]}'


@pytest.mark.parametrize(
    ("line", "record", "moved"),
    [
        ("np.random.shuffle(users); np.random.shuffle(items)", RECORD, "items"),
        ("words = items.astype(str); np.random.shuffle(users); np.random.shuffle(items)", RECORD, "items"),
        ("order = np.random.permutation(500); users, items = users[order], items[order]", RECORD, None),
        ("np.random.seed(0); np.random.shuffle(users); np.random.seed(0); np.random.shuffle(items)", RECORD, None),
        (
            (
                "np.random.shuffle(items); items = np.arange(500); one, other = items.copy(), items.copy(); "
                "np.random.shuffle(one); np.random.shuffle(other)"
            ),
            '{"user": users, "item": items, "not": one, "nor": other}',
            None,
        ),
        (
            (
                "users, items = np.ones((500, 4, 4)), np.zeros((500, 4, 4)); "
                "np.random.shuffle(users); np.random.shuffle(items)"
            ),
            '{"user": users, "item": items}',
            None,
        ),
    ],
    ids=["both", "and another", "together", "by one seed", "drawn from another", "of two kinds"],
)
def test_parts_of_each_sample_that_are_shuffled_each_by_itself(find: Any, line: str, record: str, moved: str) -> None:
    text = RECORDS.replace("{line}", line.replace("; ", "\n")).replace("{record}", record)
    text = text.replace("[:, None]", "[:, 0, :1]") if "500, 4" in line else text
    assert [one["moved"] for one in find(text) if "partner" in one] == ([] if moved is None else [moved])


OWN = """
class Rows(keras.utils.PyDataset):
    def __init__(self):
        super().__init__()
        self.inputs, self.targets = x.copy(), y.copy()

    def __len__(self):
        return 25

    def __getitem__(self, i):
        return {given}

    def on_epoch_end(self):
        {line}

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(Rows(), callbacks=[Look()], verbose=0)
"""
PARTS = "self.inputs[20 * i : 20 * i + 20], self.targets[20 * i : 20 * i + 20]"


@pytest.mark.parametrize(
    ("line", "given", "is_told"),
    [
        ("np.random.shuffle(self.inputs); np.random.shuffle(self.targets)", PARTS, True),
        ("np.random.shuffle(self.targets); print(); np.random.shuffle(self.inputs)", PARTS, True),
        (
            (
                "state = np.random.get_state(); np.random.shuffle(self.inputs); np.random.set_state(state); "
                "np.random.shuffle(self.targets)"
            ),
            PARTS,
            False,
        ),
        (
            "order = np.random.permutation(500); self.inputs, self.targets = self.inputs[order], self.targets[order]",
            PARTS,
            False,
        ),
        (
            "np.random.shuffle(self.inputs); np.random.shuffle(self.targets)",
            "self.inputs[:20], np.ones((20, 1))",
            False,
        ),
        (
            "np.random.RandomState(0).shuffle(self.inputs); np.random.RandomState(0).shuffle(self.targets)",
            PARTS,
            False,
        ),
    ],
    ids=["both", "the inputs last", "by one state", "by one order", "no pair", "by one seed"],
)
def test_a_data_set_of_ones_own_that_shuffles_both_parts(find: Any, line: str, given: str, is_told: bool) -> None:
    found = find(OWN.format(line=line.replace("; ", "\n        "), given=given))
    assert ["partner" in one for one in found] == [True] * is_told
    assert all("shuffle(self." in one["source"]["code"] for one in found)


SPLIT = "inputs, held_x = train_test_split(inputs, {}test_size=0.2); targets, held_y = train_test_split(targets, {})"


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize("fit", [FIT, SLICES])
@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        (SPLIT.format("", "test_size=0.2"), True),
        (SPLIT.format("random_state=0, ", "test_size=0.2"), True),
        (SPLIT.format("random_state=0, ", "random_state=1, test_size=0.2"), True),
        (SPLIT.format("random_state=0, stratify=targets > 0, ", "random_state=0, test_size=0.2"), True),
        (SPLIT.format("random_state=0, ", "random_state=0, test_size=0.2"), False),
        ("seed = 3; " + SPLIT.format("random_state=seed, ", "random_state=seed, test_size=0.2"), False),
        (SPLIT.format("shuffle=False, ", "shuffle=False, test_size=0.2"), False),
        ("inputs, held_x, targets, held_y = train_test_split(inputs, targets)", False),
        ("inputs, b = train_test_split(inputs); np.random.seed(0); targets, c = train_test_split(targets)", False),
        (SPLIT.format("", "test_size=0.2") + "; inputs, targets = x * 2.0, y * 2.0", False),
        ("a, b = train_test_split(inputs); c, d = train_test_split(targets)", False),
        ("inputs, held_x = train_test_split(inputs); targets = 3 * inputs[:, :1]", False),
        ("inputs, b = train_test_split(inputs); c, d = train_test_split(inputs); targets = 3 * inputs[:, :1]", False),
        ("inputs = shuffle(inputs); targets = shuffle(targets)", True),
        ("inputs = shuffle(inputs, random_state=0); targets = shuffle(targets, random_state=0)", False),
        ("inputs, targets = shuffle(inputs, targets)", False),
    ],
)
def test_pairs_that_are_split_by_two_calls(find: Any, line: str, fit: str, is_told: bool) -> None:
    imports = "from sklearn.model_selection import train_test_split\nfrom sklearn.utils import shuffle\n"
    found = find(imports + PARTED.format(line=line.replace("; ", "\n"), fit=fit))
    assert [one["moved"] for one in found] == ["targets"] * is_told
    assert all(one["split_apart"] and "targets" in one["source"]["code"] for one in found)


TWO_KINDS = """
photos = np.zeros((60, 4, 4), "float32")
paintings = np.zeros({shape}, "float32")
np.random.shuffle(photos)
np.random.shuffle(paintings)

model = keras.Sequential([keras.Input((4, 4)), keras.layers.Dense({units})])
model.compile("sgd", "mse")
model.fit(photos, paintings, callbacks=[Look()], verbose=0)
"""


@pytest.mark.parametrize(("shape", "units", "is_told"), [((60, 4, 4), 4, False), ((60, 4, 2), 2, True)])
def test_images_of_two_kinds_are_no_pairs(find: Any, shape: tuple[int, ...], units: int, is_told: bool) -> None:
    found = [one for one in find(TWO_KINDS.format(shape=shape, units=units)) if "partner" in one]
    assert len(found) == is_told


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize("fit", [FIT, SLICES])
def test_two_samples_that_a_loss_of_ones_own_compares_as_wholes(find: Any, fit: str) -> None:
    text = PARTED.format(line="np.random.shuffle(inputs)\nnp.random.shuffle(targets)", fit=fit)
    own = "lambda y, p: (tf.reduce_mean(p) - tf.reduce_mean(y)) ** 2"
    assert not [one for one in find(text.replace('"mse"', own)) if "partner" in one]


APART = """
images = np.repeat(x, 4, axis=1)
codes = x * 2
labels = (x[:, 0] > 0).astype(int)
for epoch in range(1):
    np.random.shuffle(images)
    np.random.shuffle(codes)
    np.random.shuffle(labels)
    for i in range(0, 10, 5):
        train_step({given})
"""


@pytest.mark.parametrize(
    ("given", "is_told"),
    [
        ("images[i : i + 5], labels[i : i + 5]", True),
        ("images[i : i + 5], codes[i : i + 5]", False),
        ("images[i : i + 5], labels[i : i + 4]", False),
        ("labels[i : i + 5], images[i : i + 5]", False),
    ],
)
def test_pairs_that_are_cut_from_two_arrays_in_a_loop(find: Any, given: str, is_told: bool) -> None:
    assert [one["partner"] for one in find(APART.format(given=given)) if "partner" in one] == ["images"] * is_told


UNMATCHED = """
images = tf.data.Dataset.from_tensor_slices(np.zeros((500, 4, 4), "float32")){images}
labels = tf.data.Dataset.{targets}{labels}
pairs = tf.data.Dataset.zip((images, labels)){pairs}.batch(20)


class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        train_step(x, y)


def compared(y, p):
    return (tf.reduce_mean(p) - tf.reduce_mean(tf.cast(y, tf.float32))) ** 2


model = keras.Sequential([keras.Input((4, 4)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("sgd", {loss})
{train}
"""
BY_HAND = """
for x, y in pairs.take(1):
    train_step(x, y)
"""
MIX = ".shuffle(500)"


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize(
    ("parts", "is_told"),
    [
        ({"images": MIX, "labels": MIX}, True),
        ({"images": f"{MIX}.map(lambda one: 2 * one)", "labels": MIX, "pairs": ".prefetch(2)"}, True),
        ({"pairs": MIX}, False),
        ({"images": ".shuffle(500, seed=3)", "labels": ".shuffle(500, seed=3)"}, False),
        ({"images": MIX, "labels": MIX, "loss": "keras.losses.MeanSquaredError()"}, True),
        ({"images": MIX, "labels": MIX, "loss": "compared"}, False),
        ({"images": MIX, "labels": MIX, "train": BY_HAND}, False),
        ({"images": MIX, "labels": MIX, "targets": "range(500)"}, False),
    ],
)
def test_two_data_sets_that_are_shuffled_each_by_itself(find: Any, parts: dict[str, str], is_told: bool) -> None:
    usual = dict.fromkeys(("images", "labels", "pairs"), "") | {
        "targets": "from_tensor_slices(np.arange(500))",
        "loss": "'mse'",
        "train": "model.fit(pairs, callbacks=[Look()], verbose=0)",
    }
    found = [one for one in find(UNMATCHED.format(**(usual | parts))) if "unmatched" in one]
    assert len(found) == is_told
    assert all(".zip(" in one["source"]["code"] for one in found)


VIEWS = """
def turn(image):
    return tf.image.random_flip_left_right(image)


def view(array, seed):
    data = tf.data.Dataset.from_tensor_slices(array)
    return data.shuffle(500, seed=seed){change}.batch(20)


images = np.random.default_rng(0).random((500, 4, 4, 1)).astype("float32")
both = tf.data.Dataset.zip((view(images, {seeds[0]}), view({other}, {seeds[1]}))){pairs}


def compare(x, y):
    return tf.reduce_mean(x * y)


for a, b in both.take(1):
    train_step(a, b)
"""
AT_RANDOM = ".map(turn)"


@pytest.mark.parametrize(
    ("parts", "is_told"),
    [
        ({}, True),
        ({"seeds": (None, None)}, True),
        ({"seeds": (3, 3)}, False),
        ({"change": ""}, False),
        ({"change": ".map(lambda one: 2 * one)"}, False),
        ({"other": "images[::-1]"}, False),
        ({"pairs": ".map(lambda a, b: (0.5 * a + 0.5 * b, b))"}, False),
    ],
)
def test_two_views_that_are_shuffled_each_by_itself(find: Any, parts: dict[str, Any], is_told: bool) -> None:
    usual = {"seeds": (1, 2), "change": AT_RANDOM, "other": "images", "pairs": ""}
    found = [one for one in find(VIEWS.format(**(usual | parts))) if "unmatched" in one]
    assert len(found) == is_told
    assert all(".zip(" in one["source"]["code"] for one in found)


END_TO_END = """
def more(images, labels):
    noisy = images + np.random.default_rng(0).normal(size=images.shape)
    other = x + 1
    both = {both}
    return both / 2 - 1, {labels}


images, labels = more(x, y)
train_step(images, labels)
"""


@pytest.mark.parametrize(
    ("both", "labels", "is_told"),
    [
        ("np.concatenate([images, images[:, ::-1]])", "np.repeat(labels, 2, axis=0)", True),
        ("tf.concat([images, tf.reverse(images, [1])], 0)", "labels.repeat(2, 0)", True),
        ("np.concatenate([images, images * 1.1]); both = (both - 1) / 2", "np.repeat(labels, 2, axis=0)", False),
        ("np.concatenate([images, noisy, images / 2])", "np.repeat(labels, 3, axis=0)", True),
        ("np.concatenate([images, other])", "np.repeat(labels, 2, axis=0)", False),
        ("np.concatenate([images, images[:, ::-1]])", "np.tile(labels, (2, 1))", False),
        ("np.concatenate([images, images[:, ::-1]])", "np.concatenate([labels, labels])", False),
        ("np.concatenate([images, x])", "np.repeat(labels, 2, axis=0)", False),
        ("np.repeat(images, 2, axis=0)", "np.repeat(labels, 2, axis=0)", False),
    ],
)
def test_copies_that_are_laid_end_to_end(find: Any, both: str, labels: str, is_told: bool) -> None:
    found = [one for one in find(END_TO_END.format(both=both, labels=labels)) if "copies" in one]
    assert len(found) == is_told
    assert all((one["copies"], "repeat(" in one["source"]["code"]) == ("repeat", True) for one in found)


FLOORED = """
share = {share}


def target(share):
    return {cast}


train_step(x, target(share))
"""
DRAWN = "np.random.default_rng(0).random(500)"


@pytest.mark.parametrize(
    ("share", "cast", "dtype"),
    [
        (DRAWN, "np.asarray(share).reshape(-1, 1).astype('int32')", "int32"),
        (DRAWN, "share.astype(int)", "int"),
        (DRAWN, "tf.cast(share, tf.int64)", "int64"),
        (DRAWN, "tf.cast(tf.constant(share), dtype='uint8')", "uint8"),
        (f"tf.constant({DRAWN}, tf.float32)", "tf.cast(share, tf.int32)", "int32"),
        (f"255 * {DRAWN}", "(share / 255).astype('uint8')", "uint8"),
        (f"(255 * {DRAWN}).astype('uint8')", "tf.cast(tf.cast(share, tf.float32) / 255., tf.int32)", "int32"),
        (f"(255 * {DRAWN}).astype('uint8')", "np.asarray(share * 0.00390625).astype(int)", "int"),
        (f"255 * ({DRAWN} > 0.5)", "(share / 255).astype('uint8')", None),
        (f"255 * {DRAWN}", "(share / 25.5).astype('uint8')", None),
        (f"255 * {DRAWN}", "(share / 255 + 0.5).astype('uint8')", None),
        (f"255 * {DRAWN}", "(share := (share / 255).astype('uint8'))", "uint8"),
        (f"255 * {DRAWN}; cut = (share / 25.5).astype(int); share = share / 255", "cut", None),
        (f"255 * {DRAWN}", "(share // 255).astype('float32')", None),
        (DRAWN, "share.astype('float32')", None),
        (DRAWN, "(share > 0.5).astype('int32')", None),
        (DRAWN, "(10 * share).astype('int32')", None),
        (DRAWN, "np.round(share).astype('int32')", None),
        (f"np.round({DRAWN})", "share.astype('int32')", None),
        (f"5 * {DRAWN}", "share.astype('int32')", None),
        (f"(255 * {DRAWN}).astype('uint8')", "share.astype('int32')", None),
    ],
)
def test_shares_that_are_cut_to_whole_numbers(find: Any, share: str, cast: str, dtype: str | None) -> None:
    found = [one for one in find(FLOORED.format(share=share.replace("; ", "\n"), cast=cast)) if "floored" in one]
    assert [one["floored"] for one in found] == ([] if dtype is None else [dtype])


PADDED = """
from keras.utils import pad_sequences


def prepare(parts):
    return {line}


rng = np.random.default_rng(0)
sequences = [{one} for n in range(2, 90)]
{before}
train_step(prepare(sequences), y)
"""


@pytest.mark.parametrize(
    ("one", "line", "is_told"),
    [
        ("rng.random(n)", "pad_sequences(parts, maxlen=20)", True),
        ("rng.normal(size=n).tolist()", "keras.utils.pad_sequences(parts, padding='post')", True),
        ("rng.normal(size=(n, 3))", "tf.keras.preprocessing.sequence.pad_sequences(parts)", True),
        ("rng.normal(size=n)", "pad_sequences(parts, maxlen=20, dtype='float32')", False),
        ("rng.normal(size=n)", "pad_sequences(parts, 20, 'float32')", False),
        ("rng.normal(size=n)", "pad_sequences(parts, **dict(dtype='float32'))", False),
        ("rng.normal(size=n)", "tf.ragged.constant(parts).to_tensor()", False),
        ("rng.integers(0, 9, n)", "pad_sequences(parts, maxlen=20)", False),
        ("np.round(9 * rng.random(n))", "pad_sequences(parts, maxlen=20)", False),
        ("90 * rng.random(n)", "pad_sequences(parts, maxlen=20)", False),
        ("[str(n)] * n", "pad_sequences([[3]] * len(parts), maxlen=20)", False),
    ],
)
def test_sequences_of_fractions_that_are_padded(find: Any, one: str, line: str, is_told: bool) -> None:
    found = [one for one in find(PADDED.format(one=one, line=line, before="")) if "floored" in one]
    assert [(one["floored"], one["padded"]) for one in found] == [("int32", True)] * is_told
    own = "def pad_sequences(parts, maxlen=20):\n    return np.stack([np.resize(one, maxlen) for one in parts])\n"
    if line.startswith("pad_sequences(parts, maxlen=20)"):
        assert find(PADDED.format(one=one, line=line, before=own)) == []


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("grades = (grades / 10).astype('int32')", True),
        ("grades = (grades / 3).astype('int32')", False),
        ("grades = (grades // 10).astype('int32')", False),
        ("grades = grades.astype('int32')", False),
    ],
)
def test_what_is_cut_to_zeros_under_its_own_name(find: Any, line: str, is_told: bool) -> None:
    found = [one for one in find(f"grades = np.arange(500) % 10\n{line}\ntrain_step(x, grades)") if "floored" in one]
    assert [(one["floored"], one["scaled"]) for one in found] == [("int32", True)] * is_told


CUT_IN_MAP = """
def scale(image, label):
    return image, {cast}


data = tf.data.Dataset.from_tensor_slices((x, {labels})){between}
data = data.map(scale).batch(10)


@tf.function
def step(x, y):
    train_step(x, y)
    return x


for x, y in data.take(1):
    step(x, y)
"""
CUT = "tf.cast(tf.cast(label, tf.float32) / 10.0, tf.int32)"


@pytest.mark.parametrize(
    ("parts", "is_told"),
    [
        ({"cast": CUT}, True),
        ({"cast": CUT, "between": ".shuffle(9).batch(5)"}, True),
        ({"cast": "tf.cast(label / 10, tf.int64)"}, True),
        ({"cast": CUT, "labels": "1 + 8 * (np.arange(500) % 2)"}, True),
        ({"cast": CUT, "labels": "10 * (np.arange(500) % 2)"}, False),
        ({"cast": CUT, "between": ".map(lambda image, label: (image, 20 * label))"}, False),
        ({"cast": "tf.cast(tf.round(label / 10), tf.int32)"}, False),
        ({"cast": "tf.cast(label, tf.float32) / 10.0"}, False),
    ],
)
def test_shares_that_a_map_cuts_to_whole_numbers(find: Any, parts: dict[str, str], is_told: bool) -> None:
    usual = {"labels": "np.arange(500) % 10", "between": ""}
    # Functions that are alike but for their file are converted once: each begins at a line of its own.
    text = "\n" * len(str(parts)) + CUT_IN_MAP.format(**(usual | parts))
    found = [one for one in find(text) if "floored" in one]
    assert [(one["scaled"], "tf.cast" in one["source"]["code"]) for one in found] == [(True, True)] * is_told


FILTERED = """
inputs = tf.data.Dataset.from_tensor_slices(x){inputs}
targets = tf.data.Dataset.from_tensor_slices(y{rows}){targets}
pairs = tf.data.Dataset.zip((inputs, targets)){pairs}.batch(20)


@tf.function
def step(x, y):
    train_step(x, y)
    return x


for x, y in pairs.take(1):
    step(x, y)
"""
ASK = ".filter(lambda *one: tf.reduce_all(one[0] < 3))"


@pytest.mark.parametrize(
    ("parts", "is_told"),
    [
        ({"inputs": ASK}, True),
        ({"targets": ASK, "pairs": ".shuffle(100)"}, True),
        ({"inputs": f".map(lambda one: 2 * one){ASK}"}, True),
        ({"pairs": ASK}, False),
        ({"inputs": ASK, "targets": ".shuffle(100)"}, False),
        ({"inputs": ASK, "rows": "[:250]"}, False),
        ({}, False),
    ],
)
def test_pairs_of_which_one_part_is_filtered(find: Any, parts: dict[str, str], is_told: bool) -> None:
    text = FILTERED.format(**(dict.fromkeys(("inputs", "targets", "pairs", "rows"), "") | parts))
    found = [one for one in find(text) if "filtered" in one]
    assert len(found) == is_told
    assert all(".filter(" in one["source"]["code"] for one in found)


TRIMMED = """
def tables(x, y, n):
    good = x[:, 0] > -1
    {lines}
    return x, y


train_step(*tables(x, y, 100))
"""


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ("x = x[good]; y = y[:len(x)]", True),
        ("x = x[~good]; y = y[: len(x)]", True),
        ("x = x[np.flatnonzero(good)]; y = y[good]", False),
        ("x = x[good]; y = y[good]; y = y[:len(x)]", False),
        ("x = x[:n]; y = y[:len(x)]", False),
        ("x = x[10:]; y = y[:len(x)]", False),
        ("y = y[:len(x)]; x = x[good]", False),
        ("def pick(x):;     x = x[good];     return x;; y = y[:len(x)]", False),
    ],
)
def test_an_array_that_is_cut_to_the_length_of_one_of_picked_rows(find: Any, lines: str, is_told: bool) -> None:
    found = [one for one in find(TRIMMED.format(lines=lines.replace("; ", "\n    "))) if "trimmed" in one]
    assert [(one["trimmed"], one["picked"], one["source"]["code"]) for one in found] == (
        [("y", "x", lines.partition("; ")[2])] if is_told else []
    )
    assert all(one["by"] in ("good", "~good") for one in found)


@pytest.mark.parametrize(
    ("weights", "is_told"),
    [
        (lambda counts: dict(enumerate(counts / counts.sum())), True),
        (lambda counts: dict(enumerate(counts.tolist())), True),
        (lambda counts: dict(enumerate(counts.sum() / (3 * counts))), False),
        (lambda counts: {0: 1.0, 1: 1.0, 2: 1.0}, False),
        (lambda counts: {0: 6.0, 1: 3.0, 2: 1.0}, False),
        (lambda counts: dict(enumerate((counts / counts.sum())[:2])), False),
        (lambda counts: None, False),
    ],
    ids=["shares", "counts", "inverse", "even", "costs", "two", "none"],
)
@pytest.mark.parametrize("is_one_hot", [False, True], ids=["ids", "one hot"])
def test_class_weights_that_grow_with_the_counts(
    watch: Any, read: Any, weights: Callable[[Any], Any], is_told: bool, is_one_hot: bool
) -> None:
    y = np.repeat([0, 1, 2], [60, 30, 10])
    given = weights(np.bincount(y))
    labels = y % max(len(given or [0, 0, 0]), 1)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "softmax")])
    model.compile("sgd", "categorical_crossentropy" if is_one_hot else "sparse_categorical_crossentropy")
    watched = watch(model, capture=("gradient",))
    targets = keras.utils.to_categorical(labels, 3) if is_one_hot else labels
    model.fit(np.zeros((100, 2)), targets, class_weight=given, verbose=0)
    found = [one for one in found_in(read(watched)) if "favours" in one]
    assert [(one["favours"], one["rare"]) for one in found] == [("0", "2")] * is_told


@pytest.mark.parametrize(
    ("weights", "due"),
    [
        ([100 / 3 / 60, 100 / 3 / 30, 100 / 3 / 10], ("1", 100 / 3 / 60)),
        ([100 / 3 / 30, 100 / 3 / 60, 100 / 3 / 10], None),
        ([100 / 3 / 28, 100 / 3 / 62, 100 / 3 / 10], None),
        ([2.0, 1.1, 5.0], None),
        ([1.0, 2.0, 6.0], None),
        ([1.05, 1.53, 2.12], None),
    ],
    ids=["by count", "of their labels", "of more samples", "costs", "short costs", "other numbers"],
)
def test_balanced_class_weights_in_the_wrong_order(
    watch: Any, read: Any, weights: list[float], due: tuple[str, float] | None
) -> None:
    y = np.repeat([0, 1, 2], [30, 60, 10])
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    watched = watch(model, capture=("gradient",))
    model.fit(np.zeros((100, 2)), y, class_weight=dict(enumerate(weights)), verbose=0)
    found = [one for one in found_in(read(watched)) if "favours" in one]
    assert [one["favours"] for one in found] == ([] if due is None else [due[0]])
    assert all(due is not None and one["due"] == pytest.approx(due[1]) for one in found)


MASKS = """
def load(image_path, mask_path):
    mask = tf.io.decode_png(tf.io.read_file(mask_path), channels=1)
    image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(image_path)), size)
    {resize}
    mask -= 1
    return image / 255.0, tf.squeeze(mask, -1)

data = paths.map(load).batch(8)
loss = "{loss}"
"""


@pytest.mark.parametrize(
    ("resize", "loss", "is_told"),
    [
        ("mask = tf.image.resize(mask, size)", "sparse_categorical_crossentropy", True),
        ("mask = tf.image.resize(mask, size, method='nearest')", "sparse_categorical_crossentropy", False),
        ("mask = tf.image.resize(mask, size)", "binary_crossentropy", False),
        ("mask = tf.image.resize(mask, size)", 'mse"; of_classes = "sparse_categorical_crossentropy', False),
        ("mask = tf.image.resize(mask, size) / 255.0", "sparse_categorical_crossentropy", False),
        ("other = tf.image.resize(mask, size)", "sparse_categorical_crossentropy", False),
    ],
)
def test_class_masks_that_are_interpolated_and_never_cast(
    tmp_path: Path, resize: str, loss: str, is_told: bool
) -> None:
    path = tmp_path / "train.py"
    path.write_text(MASKS.format(resize=resize, loss=loss))
    found = [one for one in find_fed([str(path)]) if "resized" in one]
    assert [(one["source"]["line"], one["uncast"]) for one in found] == [(5, True)] * is_told


DEPTHS = """
def prepare(image, depth):
    depth = tf.image.resize(depth, (2, 2))
    return tf.image.resize(image, (2, 2)), depth


class Look(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        train_step(x, y)


images = np.zeros((8, 4, 4, 1), "float32")
model = keras.Sequential([keras.Input((2, 2, 1)), keras.layers.Conv2D(2, 1)])
losses = ["mse", keras.losses.SparseCategoricalCrossentropy(from_logits=True)]
model.compile("sgd", losses[PLACE])
pairs = tf.data.Dataset.from_tensor_slices((images, images)).map(prepare).batch(4)
model.fit(pairs, callbacks=[Look()], verbose=0)
"""


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize(("place", "is_told"), [("0", False), ("1", True)])
def test_depths_that_are_interpolated_are_no_classes(find: Any, place: str, is_told: bool) -> None:
    assert len([one for one in find(DEPTHS.replace("PLACE", place)) if "uncast" in one]) == is_told
