"""Pairs of which one side is moved, shuffled, filtered or cut by itself: told with their line, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.parted import find_parted
from tests.hook.fed import found_while_it_trains

CAPTURE = ("gradient", "operation")

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
FIT_SPLIT = """
(inputs_train, inputs_val) = inputs[:400], inputs[400:]
(targets_train, targets_val) = targets[:400], targets[400:]
model.fit(inputs_train, targets_train, validation_data=(inputs_val, targets_val), callbacks=[Look()], verbose=0)
"""
SPLIT = "inputs, held_x = train_test_split(inputs, {}test_size=0.2); targets, held_y = train_test_split(targets, {})"


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    return partial(found_while_it_trains, tmp_path, find_parted)


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize("fit", [FIT, SLICES, FIT_SPLIT])
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
