"""The calls in the user's own files that made what is trained, as the hook finds them."""

import importlib
import textwrap

import keras
import pytest

from gradwatch.script import find_script

IMPORTS = """\
import keras
import numpy as np
import tensorflow as tf
from keras import layers
"""
SCRIPT = (
    IMPORTS
    + """
WIDTH = 8
model = keras.Sequential([
    keras.Input((4,)),
    layers.Dense(WIDTH, "relu"),
    layers.Dense(WIDTH, "relu"),
    layers.Dropout(0.25),
    *("ü" and []), layers.Dense(1, activation="sigmoid", name="last"), layers.Rescaling(2.0),
])
model.compile(
    optimizer=keras.optimizers.SGD(1e-2, momentum=0.9),
    loss="mse",
)
inputs, targets = np.ones((16, 4), "float32"), np.ones((16, 1), "float32")
"""
)
FIT = """
watched = watch(model)
model.fit(
    inputs,
    targets, verbose=0)
"""


@pytest.fixture
def run(tmp_path):
    """Runs a script from a file, and finds its calls at its end."""
    keras.backend.clear_session()

    def play(text, **names):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(text))
        space = {"__name__": "train", **names}
        exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102 a script of its own
        return space

    return play


@pytest.fixture
def find(run):
    def play(text):
        settings = {"momentum": 0.9, "learning_rate": 0.009999999776482582}
        ask = "\nfound = find([model], model.optimizer, settings)\n"
        return run(textwrap.dedent(text) + ask, find=find_script, settings=settings)["found"]

    return play


def called(script, role, layer=None):
    """The call of a role, out of its lines; None where none is told."""
    found = [one for one in script["calls"] if (one["role"], one["layer"]) == (role, layer)]
    assert len(found) <= 1
    for one in found:
        lines = list(one["lines"])
        lines[-1] = lines[-1][: one["end"]]
        lines[0] = lines[0][one["start"] :]
        return "\n".join(lines)
    return None


def test_the_calls_of_a_script_are_told(run, watch, read):
    watched = run(SCRIPT + FIT, watch=watch)["watched"]
    script = next(iter(read(watched).tables.values()))["script"]
    assert called(script, "optimizer") == "keras.optimizers.SGD(1e-2, momentum=0.9)"
    assert called(script, "compile") == (
        'model.compile(\n    optimizer=keras.optimizers.SGD(1e-2, momentum=0.9),\n    loss="mse",\n)'
    )
    assert called(script, "fit") == "model.fit(\n    inputs,\n    targets, verbose=0)"
    assert called(script, "layer", "sequential/last") == 'layers.Dense(1, activation="sigmoid", name="last")'
    assert called(script, "layer", "dropout") == "layers.Dropout(0.25)"
    assert called(script, "loss") is None, "it is a word"


def test_layers_that_are_alike_are_told_apart_by_their_order(find):
    lines = {one["layer"]: one["line"] for one in find(SCRIPT)["calls"] if one["role"] == "layer"}
    assert (lines["sequential/dense"], lines["sequential/dense_1"]) == (9, 10)


def test_a_place_is_one_of_characters(find, tmp_path):
    (call,) = [one for one in find(SCRIPT)["calls"] if one["layer"] == "sequential/last"]
    assert (call["file"], call["line"], call["n"]) == (str(tmp_path / "train.py"), 12, 1)
    assert call["lines"][0][: call["start"]] == '    *("ü" and []), '
    assert call["lines"][-1][call["end"] :] == ", layers.Rescaling(2.0),"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (IMPORTS, {"keras": "keras", "numpy": "np", "tensorflow": "tf", "keras.layers": "layers"}),
        ("import tensorflow as tf", {"tensorflow": "tf", "keras": "tf.keras"}),
        ("from tensorflow import keras as K", {"keras": "K"}),
        ("import tensorflow.keras.layers as kl", {"keras.layers": "kl"}),
        ("from keras.layers import Dense", {}),
    ],
)
def test_every_way_to_import_packages_is_read(find, line, expected):
    text = f"{line}\nkeras, np, layers = map(__import__('importlib').import_module, ('keras', 'numpy', 'keras.layers'))"
    assert find(SCRIPT.replace(IMPORTS, text))["imports"] == expected


def test_a_call_that_makes_several_layers_says_of_how_many(find):
    pair = '    layers.Dense(WIDTH, "relu"),\n    layers.Dense(WIDTH, "relu"),\n'
    script = find(SCRIPT.replace(pair, '    *[layers.Dense(n, activation="relu") for n in (8, 6, 5)],\n'))
    made = [one for one in script["calls"] if one["role"] == "layer" and one["line"] == 9]
    assert sorted(one["layer"] for one in made) == [f"sequential/dense{n}" for n in ("", "_1", "_2")]
    assert [one["n"] for one in made] == [3, 3, 3]


def test_a_call_that_is_left_over_made_what_is_left_over(find):
    pair = '    layers.Dense(WIDTH, "relu"),\n    layers.Dense(WIDTH, "relu"),\n'
    script = find(
        SCRIPT.replace(pair, '    *[layers.Dense(n, activation=a) for n, a in ((8, "relu"), (6, "tanh"))],\n')
    )
    assert called(script, "layer", "sequential/dense") == "layers.Dense(n, activation=a)"
    assert called(script, "layer", "sequential/last") == 'layers.Dense(1, activation="sigmoid", name="last")'


def test_arguments_that_keras_chooses_do_not_hide_a_layer(find):
    body = '    layers.Conv1D(3, 2, padding="same"), layers.GlobalMaxPooling1D(), layers.Dense(WIDTH, "relu"),\n'
    script = find(SCRIPT.replace("Input((4,)),\n", "Input((4, 1)),\n" + body))
    assert called(script, "layer", "sequential/conv1d") == 'layers.Conv1D(3, 2, padding="same")'
    assert called(script, "layer", "global_max_pooling1d") == "layers.GlobalMaxPooling1D()"


def test_where_several_calls_could_be_meant_none_is_told(find):
    script = find(SCRIPT + '\nother = layers.Dense(8, activation="relu"), keras.optimizers.SGD(1e-2, momentum=0.9)')
    assert called(script, "layer", "sequential/dense") is None
    assert called(script, "optimizer") is None
    assert called(script, "layer", "sequential/last") is not None


def test_a_call_with_other_constants_is_another_layers(find):
    script = find(
        SCRIPT
        + """
other = [
    layers.Dense(8, activation="tanh"),
    layers.Dense(8, "relu", kernel_initializer="he_normal"),
    layers.Dense(8, "relu", name="named"),
    layers.Dropout(0.5),
    keras.optimizers.SGD(1e-3, momentum=0.9),
    keras.optimizers.Adam(1e-2),
]
"""
    )
    assert called(script, "layer", "sequential/dense") == 'layers.Dense(WIDTH, "relu")'
    assert called(script, "layer", "dropout") == "layers.Dropout(0.25)"
    assert called(script, "optimizer") == "keras.optimizers.SGD(1e-2, momentum=0.9)"


MODEL = """
import keras


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.LSTM(4, recurrent_initializer="zeros")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(x))
"""
LOOP = """
import keras
import numpy as np
import tensorflow as tf
from lonely_model import Net

net, optimizer = Net(), keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, 50))
loss_of = keras.losses.Huber()
watched = watch(net)
x, y = np.ones((16, 5, 3), "float32"), np.ones((16, 1), "float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, net(x))
    optimizer.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)

for a, b in data:
    step(a, b)
"""


def test_a_model_in_a_file_of_its_own_and_a_loop(run, watch, read, tmp_path, monkeypatch):
    (tmp_path / "lonely_model.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("lonely_model")
    script = next(iter(read(run(LOOP, watch=watch)["watched"]).tables.values()))["script"]
    assert called(script, "layer", "net/lstm") == 'keras.layers.LSTM(4, recurrent_initializer="zeros")'
    assert called(script, "layer", "net/dense") == "keras.layers.Dense(1)"
    assert called(script, "optimizer").startswith("keras.optimizers.Adam(")
    assert called(script, "schedule") == "keras.optimizers.schedules.CosineDecay(1e-3, 50)"
    assert called(script, "loss") == "keras.losses.Huber()"
    assert called(script, "call") == "net(x)"
    assert called(script, "data") == "tf.data.Dataset.from_tensor_slices((x, y))"
    assert called(script, "fit") is None


def test_a_variable_that_keras_does_not_know(run):
    text = (
        IMPORTS
        + """
class Mix(layers.Layer):
    def build(self, shape):
        self.bias = tf.Variable(
            tf.zeros(3), name="b")

    def call(self, x):
        return x + self.bias

model = keras.Sequential([keras.Input((3,)), Mix(), layers.Dense(1)])
found = find([model], keras.optimizers.Adam(), {}, ["mix/bias", "mix/other"])
"""
    )
    script = run(text, find=find_script)["found"]
    assert called(script, "variable", "mix/bias") == 'tf.Variable(\n            tf.zeros(3), name="b")'
    assert called(script, "variable", "mix/other") is None


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("files = sorted(root.glob('*.png'))", True),
        ("files = [name for name in sorted(os.listdir(root))]", True),
        ("files = sorted(root.glob('*.png'), key=number)", False),
        ("files = sorted(names)", False),
    ],
)
def test_files_that_are_sorted_as_text(find, line, is_told):
    text = SCRIPT + f"\nif not model:\n    {line}\n"
    assert (called(find(text), "files") is not None) == is_told


@pytest.mark.parametrize(
    ("names", "is_told"),
    [
        ("{f'scan_{i}.npy': i for i in range(20)}", True),
        ("[f'2024_{i}' for i in range(20)]", True),
        ("[f'scan_{i:03d}.npy' for i in range(20)]", False),
        ("[f'scan_{i}' for i in range(9)]", False),
        ("[f'{i % 7} scans' for i in range(20)]", False),
        ("['north', 'south'] * 10", False),
    ],
)
def test_names_with_numbers_that_are_sorted_as_text(run, names, is_told):
    text = f"names = {names}\n{SCRIPT}\nfiles = sorted(names)\nfound = find([model], model.optimizer, {{}})\n"
    assert (called(run(text, find=find_script)["found"], "files") is not None) == is_told


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ("files = root.glob('*.png'); labels = read_csv('labels.csv')", True),
        ("files = [name for name in os.listdir(root)]; labels = np.load('labels.npy')", True),
        ("files = tf.data.Dataset.list_files('*.png'); labels = np.loadtxt('labels.txt')", True),
        ("files = tf.data.Dataset.list_files('*.png', shuffle=False); labels = np.loadtxt('labels.txt')", False),
        ("files = sorted(root.glob('*.png')); labels = read_csv('labels.csv')", False),
        ("files = os.listdir(root); files.sort(); labels = read_csv('labels.csv')", False),
        ("files = list(root.glob('*.png')); labels = [file.parent.name for file in files]", False),
    ],
)
def test_files_that_are_listed_in_no_order_beside_a_table(find, lines, is_told):
    text = SCRIPT + f"\nif not model:\n    {lines}\n"
    assert (called(find(text), "listing") is not None) == is_told


def test_images_that_are_turned_without_their_masks(find):
    turn = "data = data.map(lambda x, y: (tf.image.random_flip_left_right(x), y))"
    script = find(SCRIPT + f"\nif not model:\n    {turn}\n")
    assert called(script, "augment") == "tf.image.random_flip_left_right(x)"
    assert [one["n"] for one in script["calls"] if one["role"] == "augment"] == [1]


def test_images_that_a_layer_of_the_model_turns(run):
    text = (
        IMPORTS
        + """
turn = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomContrast(0.2)], name="turn")
inputs = keras.Input((8, 8, 3))
model = keras.Model(inputs, layers.Conv2D(1, 3, padding="same")(turn(inputs)))
found = find([model], keras.optimizers.Adam(), {}, [])
"""
    )
    (turned,) = [one for one in run(text, find=find_script)["found"]["calls"] if one["role"] == "augment"]
    assert (turned["layer"].split("/")[-1].startswith("random_flip"), turned["n"]) == (True, 1)
    assert turned["lines"][0][turned["start"] : turned["end"]] == 'layers.RandomFlip("horizontal")'


def test_the_line_where_a_statement_begins_is_told(find):
    text = SCRIPT + "\ndata = (\n    tf.data.Dataset.from_tensor_slices((inputs, targets))\n    .batch(4)\n)\n"
    (data,) = [one for one in find(text)["calls"] if one["role"] == "data"]
    assert data["line"] - data["begins"] == 1


def test_a_call_in_a_decorator_begins_where_it_stands(find):
    made = "tf.data.Dataset.from_tensor_slices((inputs, targets))"
    text = SCRIPT + f"\ndef keep(it): return lambda f: f\n@keep({made})\ndef more(): ...\n"
    (data,) = [one for one in find(text)["calls"] if one["role"] == "data"]
    assert data["line"] == data["begins"]


def test_a_call_of_very_many_lines_is_not_told(find):
    rows = "\n".join(f"    # {n}" for n in range(20))
    script = find(SCRIPT.replace('    loss="mse",\n', f'    loss="mse",\n{rows}\n'))
    assert called(script, "compile") is None
    assert called(script, "optimizer") is not None


def test_code_without_a_file_is_not_told():
    space = {"find": find_script}
    exec(SCRIPT + "\nfound = find([model], model.optimizer, {})", space)  # noqa: S102 as of code that was typed in
    assert all(one["file"] != "<string>" for one in space["found"]["calls"])
    assert called(space["found"], "compile") is None


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ('ReduceLROnPlateau(monitor="val_loss", mode="max")', True),
        ('ReduceLROnPlateau(factor=0.5, mode="max")', True),
        ('EarlyStopping("val_accuracy", mode="min", patience=3)', True),
        ('ModelCheckpoint("best.keras", "val_root_mse", save_best_only=True, mode="max")', True),
        ('ReduceLROnPlateau(monitor="val_loss", mode="min")', False),
        ('ReduceLROnPlateau(monitor="val_loss")', False),
        ('EarlyStopping("val_auc", mode="max")', False),
        ('EarlyStopping("val_lossless_share", mode="max")', False),
        ("EarlyStopping(mode=way)", False),
    ],
)
def test_a_callback_whose_mode_goes_against_what_it_monitors(find, call, is_told):
    script = find(SCRIPT + f'way = "min"\nslower = keras.callbacks.{call}\n')
    assert (called(script, "monitor") == f"keras.callbacks.{call}") == is_told
    assert (called(script, "monitor") is not None) == is_told


@pytest.mark.parametrize(
    ("after", "is_told"),
    [
        ("copy.trainable = False", True),
        ("copy.set_weights(model.get_weights())", False),
        ('copy.build((None, 4)) or copy.load_weights("w.h5")', False),
        ("for one, other in zip(copy.weights, model.weights):\n        one.assign(other)", False),
    ],
)
def test_a_clone_that_is_given_no_weights(find, after, is_told):
    script = find(SCRIPT + f"\nif not model:\n    copy = keras.models.clone_model(model)\n    {after}\n")
    assert called(script, "clone") == ("keras.models.clone_model(model)" if is_told else None)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("lambda epoch, lr: lr * 0.9**epoch", "lr * 0.9**epoch"),
        ("lambda e, rate: math.exp(-0.1 * e) * rate", "math.exp(-0.1 * e) * rate"),
        ("lambda epoch, lr: lr / (1 + 0.1 * epoch)", "lr / (1 + 0.1 * epoch)"),
        ("schedule", "rate * 0.5 ** (epoch // 10)"),
        ("lambda epoch, lr: lr * 0.9", None),
        ("lambda epoch, lr: 1e-3 * 0.9**epoch", None),
        ("lambda epoch: 1e-3 * 0.9**epoch", None),
        ("lambda epoch, lr: lr * 0.5 if epoch % 10 == 0 else lr", None),
        ("lambda epoch, lr: lr * (0.5 if epoch % 10 == 9 else 1.0)", None),
        ("lambda epoch, lr: first * 0.9**epoch", None),
        ("known", None),
    ],
)
def test_a_schedule_that_multiplies_the_present_rate_by_a_share_of_the_first(find, function, told):
    text = (
        "\ndef schedule(epoch, rate):\n    if epoch < 5:\n        return rate\n    return rate * 0.5 ** (epoch // 10)\n"
    )
    made = f"if not model:\n    slower = keras.callbacks.LearningRateScheduler({function}, verbose=1)\n"
    assert called(find(SCRIPT + text + made), "compounded") == told
