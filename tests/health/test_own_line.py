"""Codes of findings as changes of the user's own lines."""

import ast

import pytest

from gradwatch_server.health import Setup
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.verdict.advice_misfit import advise_by_heart, advise_labels
from gradwatch_server.health.verdict.own_line import in_own_words
from tests.health.streams import call

IMPORTS = {"keras": "keras", "tensorflow": "tf", "keras.layers": "layers"}
GENERIC = "generic = tf.keras.layers.Dense(1)"


def code_of(calls, *changes, imports=IMPORTS, generic=GENERIC, settings=None):
    setup = Setup(script={"calls": calls, "imports": imports}, settings=settings or {"class": "Adam"})
    cause = Hypothesis("cause", 0.9, "why", "fix", generic, changes)
    finding = Finding("loss_plateau", "warning", 0, 9, "title", None, None, {}, (cause,))
    return in_own_words(finding, setup).hypotheses[0].code


def lines_of(code):
    """The lines as they are to be."""
    return "\n".join(line[2:] for line in code.split("\n") if line[:2] in ("+ ", "  "))


DENSE = call("layer", '    x = «layers.Dense(1, activation="sigmoid", name="out")»(h)', layer="out")


def test_a_line_stands_as_it_is_to_be_below_what_it_is():
    assert code_of([DENSE], Change("layer", "out", without=("activation",))) == (
        "# train.py:7\n"
        '-     x = layers.Dense(1, activation="sigmoid", name="out")(h)\n'
        '+     x = layers.Dense(1, name="out")(h)'
    )


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        ("«Dense(8, kernel_initializer='zeros')»", {"without": ("kernel_initializer",)}, "Dense(8)"),
        ("«Dense(activation='tanh', units=8)»", {"without": ("activation",)}, "Dense(units=8)"),
        ("«Dense(8, 'tanh')»", {"without": ("activation",)}, "Dense(8)"),
        ("«Dense(8, 'tanh')»", {"instead": (("activation", '"gelu"'),)}, 'Dense(8, "gelu")'),
        ("«Dense(8)»", {"given": (("activation", '"gelu"'),)}, 'Dense(8, activation="gelu")'),
        ("«Dense()»", {"given": (("units", "3"),)}, "Dense(units=3)"),
        ("«Dense(8,)»", {"given": (("name", "'a'"),)}, "Dense(8, name='a',)"),
        (
            "y = «f(\n    8,  # ä\n    rate=0.5,\n)»",
            {"instead": (("rate", "0.1"),)},
            "y = f(\n    8,  # ä\n    rate=0.1,\n)",
        ),
        ("«keras.layers.SimpleRNN(4)»", {"kind": "GRU"}, "keras.layers.GRU(4)"),
        ("«SimpleRNN(4)»", {"kind": "GRU"}, "layers.GRU(4)"),
        ("'ü', «Dense(8, rate='ö')»", {"without": ("rate",)}, "'ü', Dense(8)"),
        ("«f(1, decay_steps=N)»", {"instead": (("decay_steps", "{} * n"),)}, "f(1, decay_steps=N * n)"),
    ],
)
def test_changes_of_a_call(text, change, expected):
    code = lines_of(code_of([call("layer", text, layer="a")], Change("layer", "a", **change)))
    assert code == expected
    ast.parse(code)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("«Dense(8)»", {"without": ("activation",)}),
        ("«Dense(8)»", {"instead": (("activation", '"gelu"'),)}),
        ("«Dense(8, 'tanh', False)»", {"without": ("activation",)}),
        ("«Dense(*options)»", {"without": ("activation",)}),
        ("«Dense(8, rate=»", {"without": ("rate",)}),
    ],
    ids=["without it", "none to replace", "others behind it", "starred", "no Python"],
)
def test_what_cannot_be_changed_leaves_the_general_code(text, change):
    assert code_of([call("layer", text, layer="a")], Change("layer", "a", **change)) == "generic = layers.Dense(1)"


def test_of_several_lines_those_that_stay_are_told_too():
    made = call("optimizer", "model.compile(optimizer=«SGD(\n    0.1,\n    momentum=0.99,\n)»)")
    assert code_of([made], Change("optimizer", instead=(("momentum", "0.9"),))) == (
        "# train.py:7\n  model.compile(optimizer=SGD(\n      0.1,\n-     momentum=0.99,\n+     momentum=0.9,\n  ))"
    )


def test_another_layers_call_is_left_alone():
    assert code_of([DENSE], Change("layer", "in", without=("activation",))) == "generic = layers.Dense(1)"


def test_a_call_that_makes_other_layers_too_keeps_their_function():
    many = [call("layer", '«layers.Dense(n, "sigmoid")»', layer=f"dense_{i}", n=3) for i in range(3)]
    shared = [{**many[0], "layer": one["layer"]} for one in many]
    one = Change("layer", "dense_0", instead=(("activation", '"gelu"'),))
    assert code_of(shared, one) == "generic = layers.Dense(1)"
    every = [Change("layer", f"dense_{i}", instead=(("activation", '"gelu"'),)) for i in range(3)]
    assert code_of(shared, *every) == (
        '# train.py:7, which makes 3 layers\n- layers.Dense(n, "sigmoid")\n+ layers.Dense(n, "gelu")'
    )


COMPILE = call(
    "compile", 'net.«compile(optimizer="adam", loss="sparse_categorical_crossentropy")»'.replace("net.«", "«net.")
)


def test_a_word_in_compile_becomes_what_it_stands_for():
    rate = Change("optimizer", given=(("learning_rate", "0.001"),))
    assert lines_of(code_of([COMPILE], rate)) == (
        'net.compile(optimizer=keras.optimizers.Adam(learning_rate=0.001), loss="sparse_categorical_crossentropy")'
    )
    logits = Change("loss", given=(("from_logits", "True"),))
    assert lines_of(code_of([COMPILE], logits)) == (
        'net.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))'
    )


def test_an_object_is_changed_where_it_is_made():
    made = call("loss", "loss_fn = «keras.losses.BinaryCrossentropy()»")
    logits = Change("loss", given=(("from_logits", "True"),))
    assert lines_of(code_of([COMPILE, made], logits)) == "loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)"


def test_data_keep_their_names_and_code_says_before_which_line_it_goes():
    scale = Change("fit", before="x_train = x_train / x_train.std()\ny_train = y_train - 1")
    fit = call("fit", "history = «net.fit(cells, y=self.health, epochs=3)»", line=40)
    assert code_of([fit], scale) == (
        "# before train.py:39, history = net.fit(cells, y=self.health, epochs=3)\n"
        "+ cells = cells / cells.std()\n"
        "+ self.health = self.health - 1"
    )
    data = call("data", "data = «tf.data.Dataset.from_tensor_slices((a, b))».batch(8)", line=30)
    assert lines_of(code_of([data], scale)) == "a = a / a.std()\nb = b - 1"
    assert lines_of(code_of([call("fit", "«net.fit(data, epochs=3)»"), data], scale)) == "a = a / a.std()\nb = b - 1"
    assert code_of([call("fit", "«net.fit(make(), epochs=3)»")], scale) == "generic = layers.Dense(1)"


def test_the_names_of_packages_and_of_the_model_are_the_users():
    generic = "print(model.losses)\nx = tf.keras.layers.Dense(1)(np.ones(3))\nloss = tf.nn.softmax(x)  # tf.nn"
    assert code_of([COMPILE], imports={"tensorflow": "tf", "keras": "tf.keras", "numpy": "numpy"}, generic=generic) == (
        "print(net.losses)\nx = tf.keras.layers.Dense(1)(numpy.ones(3))\nloss = tf.nn.softmax(x)  # tf.nn"
    )
    assert code_of([], imports={"keras": "K"}, generic=generic) == (
        "import tensorflow as tf\nimport numpy as np\n"
        "print(model.losses)\nx = K.layers.Dense(1)(np.ones(3))\nloss = tf.nn.softmax(x)  # tf.nn"
    )
    assert code_of([], imports={}, generic=generic) == generic, "nothing is known of the script"


def test_the_users_own_line_keeps_its_names():
    made = call("optimizer", "model.optimizer = «SGD(0.1)»")
    change = Change("optimizer", given=(("learning_rate", "0.01"),))
    assert lines_of(code_of([COMPILE, made], change)) == "model.optimizer = SGD(0.01)"


def test_a_call_that_is_to_be_moved_is_shown_as_it_is():
    inner = call("compile", "        «model.compile(\n            loss='mse',\n        )»")
    assert code_of([inner], Change("compile", note="out of the loop")) == (
        "# train.py:7: out of the loop\nmodel.compile(\n    loss='mse',\n)"
    )


def test_a_variable_is_made_by_keras_instead():
    made = call("variable", "        self.bias = «tf.Variable(start, name='bias')»", layer="mix/bias")
    change = Change("variable", "mix/bias", kind="Variable")
    assert lines_of(code_of([made], change)) == "        self.bias = keras.Variable(start, name='bias')"


def test_an_older_hook_tells_nothing_of_the_script():
    cause = Hypothesis("cause", 0.9, "why", "fix", GENERIC, (Change("optimizer", without=("epsilon",)),))
    finding = Finding("loss_plateau", "warning", 0, 9, "title", None, None, {}, (cause,))
    told = in_own_words(finding, Setup())
    assert told.hypotheses[0].code == GENERIC
    assert set(told.to_json()["hypotheses"][0]) == {"cause", "confidence", "why", "fix", "code"}


def test_the_line_that_fits_to_the_validation_data_is_the_first_cause():
    refit = call("refit", "x_val = «scaler.fit_transform(x_val)»")
    first, *_ = advise_by_heart(is_split=False, refit=refit)
    assert first.cause == "What prepares the validation data is fitted to them anew (train.py:7)"
    assert "x_val = scaler.fit_transform(x_val)" in code_of([refit], *first.changes)
    assert advise_by_heart(is_split=False)[0].cause.startswith("The labels do not belong")
    assert advise_by_heart(is_split=False, is_far=True)[0].cause.startswith("The validation data are prepared differ")


def test_files_in_no_order_are_named_where_labels_do_not_belong():
    listing = call("listing", "files = «os.listdir(folder)»")
    code = code_of([listing], *advise_labels("the mean").changes)
    assert "train.py:7: lists files in no certain order" in code
