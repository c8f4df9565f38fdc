"""Layers that scale a whole table by one mean: told of the models, however they are trained."""

from pathlib import Path

import keras
import numpy as np
import pytest

from gradwatch.slips.script.built import find_built
from tests.hook.diagnosis import diagnose, find_line, known_in
from tests.hook.training import dense

CAPTURE = ("gradient",)
TABLE = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}], ids=["fit", "eagerly"])
@pytest.mark.parametrize("axis", [None, -1])
def test_a_layer_with_one_scale(watch, read, axis, options):
    scale = keras.layers.Normalization(axis=axis, name="scale")
    scale.adapt(TABLE)
    model = keras.Sequential([keras.Input((3,)), keras.Sequential([scale], name="before"), dense(1, "out")])
    model.compile("sgd", "mse", **options)
    begun = watch(model)
    model.fit(TABLE, TABLE[:, :1], verbose=0)
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if one["type"] == "Normalization"]
    assert [one["layer"].rpartition("/")[2] for one in found] == ["scale"]
    assert found[0].get("normalises") == (None if axis is None else "adapted")


def scaled(x):
    layer = keras.layers.Normalization(name="scale")
    layer.adapt(x)
    return layer


@pytest.mark.parametrize("options", [{"jit_compile": False}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize(
    ("layer", "title"),
    [
        (lambda x: keras.layers.Normalization(name="scale"), "normalises nothing: it was never adapted"),
        (lambda x: scaled(100 * x + 50), "What"),
        (scaled, ""),
        (lambda x: keras.layers.Normalization(mean=x.mean(0), variance=x.var(0), name="scale"), ""),
        (
            lambda x: keras.layers.Normalization(mean=x.mean(0), variance=x.std(0), name="scale"),
            "the variance that it was given is not",
        ),
    ],
    ids=["never adapted", "adapted to others", "adapted", "given", "given deviations"],
)
def test_what_a_normalisation_does_not_scale(watch, read, layer, title, options):
    x = np.random.default_rng(0).normal(size=(512, 3)).astype("float32") * [1, 5000, 3] + [0, 900, 0]
    model = keras.Sequential([keras.Input((3,)), layer(x / 30 if title == "What" else x), dense(1, "out")])
    model.compile(keras.optimizers.SGD(1e-9), "mse", **options)
    begun = watch(model, capture=("gradient", "activation"))
    model.fit(x / 30 if title == "What" else x, np.zeros((512, 1)), batch_size=16, epochs=4, verbose=0)
    told = [one for one in diagnose(read(begun)).findings() if "scale`" in one.title]
    assert [title in one.title for one in told] == [True] * bool(title)
    for one in told:
        whats = {
            "What": "adapted to data that are not those",
            "the variance that it was given is not": "standard deviation as its variance",
        }
        assert whats.get(title, "adapt(...)` is missing") in one.hypotheses[0].cause


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (keras.layers.LSTM(4, activation="relu", name="memory"), "relu"),
        (keras.layers.GRU(4, activation=keras.ops.elu, name="memory"), "elu"),
        (keras.layers.SimpleRNN(4, activation=None, name="memory"), "linear"),
        (keras.layers.LSTM(4, name="memory"), None),
        (keras.layers.GRU(4, activation="hard_sigmoid", name="memory"), None),
    ],
)
def test_a_recurrence_of_a_function_without_an_end(watch, read, layer, function):
    model = keras.Sequential([keras.Input((5, 3)), layer, dense(1, "out")])
    model.compile("sgd", "mse")
    begun = watch(model)
    x = np.random.default_rng(0).normal(size=(8, 5, 3)).astype("float32")
    model.fit(x, x[:, 0, :1], verbose=0)
    recording = read(begun)
    found = [one for one in recording.tables[recording.stream]["slips"] if "unbounded" in one]
    expected = [] if function is None else [("memory", function)]
    assert [(one["layer"].rpartition("/")[2], one["unbounded"]) for one in found] == expected


class Flow(keras.layers.Layer):
    """A cell that adds a step of some length to its state; no kernel has the shape of a state by itself."""

    def __init__(self, dt):
        super().__init__()
        self.state_size, self.dt = 16, dt
        self.inner, self.outer = dense(32, "inner", activation="relu"), dense(16, "outer")

    def build(self, shape):
        self.inner.build((None, shape[-1] + self.state_size))
        self.outer.build((None, 32))

    def call(self, x, states):
        state = states[0] + self.dt * self.outer(self.inner(keras.ops.concatenate([x, states[0]], -1)))
        return state, [state]


@pytest.mark.parametrize("options", [{"jit_compile": False}, {"jit_compile": True}], ids=["graph", "jit"])
@pytest.mark.parametrize(("dt", "is_told"), [(3.0, True), (1 / 40, False)])
def test_a_state_that_grows_in_a_cell_of_ones_own(watch, read, dt, is_told, options):
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(480, 40, 3)).astype("float32")
    model = keras.Sequential([keras.Input((40, 3)), keras.layers.RNN(Flow(dt), name="flow"), dense(1, "out")])
    model.compile(keras.optimizers.Adam(1e-3), "mse", **options)
    begun = watch(model, capture=("gradient", "weight", "update", "activation", "input", "operation"))
    model.fit(x, x[:, :, 0].sum(1, keepdims=True) / 6, batch_size=8, epochs=4, verbose=0)
    causes = [one.hypotheses[0].cause for one in diagnose(read(begun)).findings() if one.hypotheses]
    assert any("grows along the recurrence of" in one and "flow" in one for one in causes) == is_told


@pytest.mark.parametrize(
    ("before", "options", "is_told"),
    [
        (keras.layers.Conv2D(4, 3, name="conv"), {"axis": 1}, True),
        (keras.layers.DepthwiseConv2D(3, name="conv"), {"axis": -2}, True),
        (keras.layers.Conv2D(4, 3, name="conv"), {}, False),
        (keras.layers.Conv2D(4, 3, name="conv"), {"axis": 3}, False),
        (keras.layers.MaxPooling2D(name="pool"), {"axis": 1}, False),
        (keras.layers.Permute((3, 1, 2), name="turn"), {"axis": 1}, False),
        (keras.layers.Conv2D(6, 3, name="conv"), {"axis": 1}, False),
    ],
    ids=["rows", "columns", "default", "last", "of the input", "turned", "as many as channels"],
)
def test_a_batch_normalisation_along_the_places(watch, read, before, options, is_told):
    x = np.random.default_rng(0).normal(size=(16, 8, 8, 3)).astype("float32")
    first = [keras.layers.Conv2D(3, 1, name="first")] if before.name == "turn" else []
    first = [one.__class__.from_config(one.get_config()) for one in [*first, before]]
    normal = keras.layers.BatchNormalization(name="normal", **options)
    model = keras.Sequential([keras.Input((8, 8, 3)), *first, normal, keras.layers.Flatten(), dense(1, "out")])
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    begun = watch(model)
    model.fit(x, x[:, 0, 0, :1], batch_size=4, epochs=30 if is_told else 1, verbose=0)
    told = [one.title for one in diagnose(read(begun)).findings()]
    assert any("of the maps, not each channel" in title for title in told) == is_told


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv, self.normal = keras.layers.Conv2D(4, 3), keras.layers.BatchNormalization(axis=1)

    def call(self, x):
        return self.normal(self.conv(x))


@pytest.mark.parametrize(("line", "n"), [("x = ops.relu(x)", 1), ("x = ops.transpose(x, (0, 3, 1, 2))", 0)])
def test_maps_that_a_model_of_ones_own_may_have_turned(tmp_path, line, n):
    path = tmp_path / "train.py"
    path.write_text(line)
    model = Own()
    model(np.zeros((1, 8, 8, 3)))
    assert len([one for one in find_built([model], [str(path)]) if "across" in one]) == n


@pytest.mark.parametrize("is_turned", [False, True])
def test_maps_that_are_turned_before_they_are_normalised(is_turned):
    maps = given = keras.Input((8, 8, 3))
    maps = keras.layers.Dropout(0.1)(keras.layers.ReLU()(keras.layers.Conv2D(4, 3)(maps)))
    maps = keras.ops.transpose(maps, (0, 3, 1, 2)) if is_turned else maps
    model = keras.Model(given, keras.layers.BatchNormalization(axis=1)(maps))
    assert [one["across"] for one in find_built([model]) if "across" in one] == [1] * (not is_turned)


def short(x):
    return x.reshape((len(x), 1, -1))  # one step


SHORT = [
    pytest.param(lambda: keras.layers.LSTM(4, name="memory"), True, id="lstm"),
    pytest.param(lambda: keras.layers.Bidirectional(keras.layers.GRU(4, name="memory")), True, id="both ways"),
    pytest.param(lambda: keras.layers.SimpleRNN(4, stateful=True, name="memory"), False, id="stateful"),
]


@pytest.mark.parametrize(("layer", "is_told"), SHORT)
def test_a_recurrence_over_one_step(watch, read, layer, is_told):
    x = np.random.default_rng(0).normal(size=(480, 12)).astype("float32")
    model = keras.Sequential([keras.Input(batch_shape=(4, 1, 12)), layer(), dense(1, "out")])
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    begun = watch(model)
    model.fit(short(x), x[:, :1], batch_size=4, epochs=2, shuffle=False, verbose=0)
    recording = read(begun)
    assert known_in(recording, "one_step")
    found = [one for one in diagnose(recording).findings() if one.kind == "zero_gradient"]
    assert [(one.source or {}).get("line") for one in found] == [find_line("one step", Path(__file__))] * is_told
    for one in found:
        assert "is given sequences of one step, and remembers nothing (test_built.py:" in one.title
        assert "fed as the features of a single step" in one.hypotheses[0].cause


class Decoder(keras.Model):
    """Reads a sequence by a call for each of its steps."""

    def __init__(self, *, hands_on):
        super().__init__()
        self.hands_on = hands_on
        self.memory = keras.layers.GRU(4, return_state=True)
        self.out = dense(1, "out")

    def call(self, x):
        state, said = None, []
        for time in range(3):
            one, state = self.memory(x[:, time : time + 1], initial_state=state if self.hands_on else None)
            said.append(self.out(one))
        return keras.ops.mean(keras.ops.stack(said), axis=0)


@pytest.mark.parametrize("hands_on", [False, True])
def test_a_state_that_is_not_handed_on(watch, read, hands_on):
    x = np.random.default_rng(0).normal(size=(480, 3, 4)).astype("float32")
    model = Decoder(hands_on=hands_on)
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    begun = watch(model, capture=("gradient", "activation"))
    model.fit(x, x[:, 0, :1], batch_size=4, epochs=2, shuffle=False, verbose=0)
    found = [one for one in diagnose(read(begun)).findings() if one.kind == "zero_gradient"]
    causes = [one.hypotheses[0].cause for one in found]
    assert causes == ["The state of decoder/gru is not handed on from one call to the next"] * (not hands_on)


def test_no_recurrence_over_several_steps_is_of_one(watch, read):
    x = np.random.default_rng(0).normal(size=(64, 3, 4)).astype("float32")
    model = keras.Sequential([keras.Input((None, 4)), keras.layers.LSTM(4), dense(1, "out")])
    model.compile("sgd", "mse")
    begun = watch(model)
    model.fit(x, x[:, 0, :1], verbose=0)
    assert not known_in(read(begun), "one_step")
