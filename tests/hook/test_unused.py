"""What a script makes and never uses: told with its line, and what is read, kept or looked at is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script.unused import find_unused

HEAD = """
import keras
import numpy as np
import tensorflow as tf
from keras import layers

"""


class Net(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = layers.Dense(2), layers.Dense(2)


@pytest.fixture
def find(tmp_path: Path) -> Callable[..., list[tuple[str, str, str]]]:
    """The kind, name and line of what is found in a file, which is not run."""

    def read(text: str) -> list[tuple[str, str, str]]:
        path = tmp_path / "train.py"
        path.write_text(HEAD + text)
        found = find_unused([str(path)], [Net()])
        assert all(one["type"] == "Line" for one in found)
        return [(one["unused"], one["name"], one["source"]["code"]) for one in found]

    return read


SETS = """
data = tf.data.Dataset.from_tensor_slices((x, y))
{line}
data = data.batch(8)
model.fit(data)
"""


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("data.map(augment)", True),
        ("data.shuffle(100).repeat()", True),
        ("data.take(1)", False),
        ("data = data.map(augment)", False),
        ("pool.map(augment, data)", False),
        ("rng.shuffle(x)", False),
        ("try:\n    data.map(augment)\nexcept ValueError: pass", False),
        ("data.map(augment)\nother = data.map(augment)", False),
    ],
)
def test_a_data_set_whose_change_is_thrown_away(find: Any, line: str, is_told: bool) -> None:
    assert find(SETS.format(line=line)) == ([("result", "data", line)] if is_told else [])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('x.astype("float32") / 255.0', "x"),
        ("x / 255.0", "x"),
        ("(x - x.mean()) / x.std()", "x"),
        ("np.reshape(x, (-1, 4))", ""),
        ("x.reshape(-1, 4)", "x"),
        ("keras.utils.to_categorical(y)", "y"),
        ("tf.cast(x, tf.float32)", "x"),
        ("tf.image.resize(x, (8, 8))", "x"),
        ("table.drop(columns='y')", "table"),
        ("table.drop(columns='y', inplace=True)", ""),
        ("table.sample(5)", ""),
        ("x.clip(0, 1, out=x)", ""),
        ("board.reshape(3, 3)", ""),
        ("task / other", ""),
        ("x >> other", ""),
        ("x.sort()", ""),
        ("np.add(x, 1, out=x)", ""),
    ],
)
def test_an_array_whose_change_is_thrown_away(find: Any, line: str, name: str) -> None:
    made = "x, y = np.load('a'), np.load('b')\ntable = pd.read_csv('c')\n"
    assert find(made + line) == ([("result", name, line)] if name else [])


PREPARE = """
def prepare(image, label):
    image = tf.cast(image, tf.float32)
    image / 255.0
    return image, label
"""


@pytest.mark.parametrize(("begin", "n"), [("# %%", 0), ("# In[2]:", 0), ("# then", 1)])
def test_what_a_cell_shows(find: Any, begin: str, n: int) -> None:
    assert len(find(f"x = np.load('a')\nx / 255.0\n\n{begin}\nmodel.fit(x)")) == n


def test_what_a_map_does_not_return(find: Any) -> None:
    assert find(PREPARE) == [("result", "image", "image / 255.0")]


class Plan:
    """It can be divided, and is no array."""

    def __truediv__(self, other: float) -> Plan:
        return self


@pytest.mark.parametrize(("held", "n"), [(np.ones(3), 1), (Plan(), 0)])
def test_an_array_is_known_as_the_running_code_holds_it(tmp_path: Path, held: Any, n: int) -> None:
    path = tmp_path / "train.py"
    path.write_text("x / 255.0\nfound = find([__file__])\n")
    space: dict[str, Any] = {"__file__": str(path), "find": find_unused, "x": held}
    exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102 a script of its own
    assert len(space["found"]) == n


BUILT = """
inputs = keras.Input((4,))
x = layers.Dense(8)(inputs)
{lines}
model = keras.Model(inputs, layers.Dense(1)(x))
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('y = layers.Activation("relu")(x)', [("tensor", "y", 'y = layers.Activation("relu")(x)')]),
        ("x = layers.Dense(4)(inputs)", [("overwritten", "x", "x = layers.Dense(4)(inputs)")]),
        ('x = layers.Activation("relu")(x)', []),
        ('_ = layers.Activation("relu")(x)', []),
        ("a = x\nx = layers.Dense(4)(inputs)\nx = layers.add([a, x])", []),
        ("seen = layers.Dense(4)(np.ones((1, 4)))", []),
        ('y = layers.Activation("relu")(x)\ndef show(): return y', []),
        (
            'y = layers.Activation("relu")(x)\ndef show(y): return y',
            [("tensor", "y", 'y = layers.Activation("relu")(x)')],
        ),
        ("if wide:\n    x = layers.Dense(4)(inputs)", []),
        ('y = layers.Activation("relu")(x)\nprint(locals())', []),
    ],
)
def test_a_layer_that_no_model_has(find: Any, lines: str, told: list[Any]) -> None:
    assert find(BUILT.format(lines=lines)) == told


CALL = """
class Block(layers.Layer):
    def call(self, x):
        {lines}
        return h
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("h = self.first(x); g = self.second(h)", ["tensor"]),
        ("h = self.first(x)\n        h = self.second(x)", ["overwritten"]),
        ("h = self.first(x)\n        h = self.second(h)", []),
        ("h = self.first(x)\n        n = self.counted(h)", []),
        ("h = self.first(x)\n        n = tf.shape(h)[0]", []),
        ("h = self.first(x)\n        best = tf.argmax(self.second(h))", []),
    ],
)
def test_a_layer_whose_output_a_call_does_not_use(find: Any, lines: str, told: list[str]) -> None:
    assert [kind for kind, _, _ in find(CALL.format(lines=lines))] == told


STEP = """
loss_fn = keras.losses.MeanSquaredError()
def step(x, y):
    before = model(x)
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        {line}
        loss = tf.reduce_mean(tf.square(y - p))
    model.optimizer.apply(tape.gradient(loss, model.trainable_variables))
    return loss, before
"""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("kl_loss = -tf.reduce_mean(p)", "kl_loss"),
        ("extra = loss_fn(y, p)", "extra"),
        ("extra = keras.losses.mse(y, p)", "extra"),
        ("again = model(y)", "again"),
        ("seen = tf.reduce_mean(p)", ""),
        ("loss_count = tf.shape(p)[0]", ""),
        ("_loss = loss_fn(y, p)", ""),
        ("accuracy = loss_fn(tf.argmax(y), tf.argmax(p))", ""),
        ("p = p + loss_fn(y, p)", ""),
    ],
)
def test_a_term_that_no_loss_has(find: Any, line: str, name: str) -> None:
    assert find(STEP.format(line=line)) == ([("tensor", name, line)] if name else [])


@pytest.mark.parametrize(("loss", "n"), [("tf.add_n(model.losses)", 0), ("f(x)", 1)])
def test_an_output_that_a_model_has_kept(find: Any, loss: str, n: int) -> None:
    lines = f"for x in data:\n    with tf.GradientTape() as tape:\n        out = model(x)\n        loss = {loss}\n"
    lines += "    apply(tape.gradient(loss, model.trainable_variables))\n"
    assert len(find(lines)) == n


def test_what_is_looked_at_beside_the_steps_is_no_part_of_them(find: Any) -> None:
    steps = "for x, y in data:\n    with tf.GradientTape() as tape:\n        loss = f(model(x))\n"
    steps += "    apply(tape.gradient(loss, model.trainable_variables))\n"
    assert find(f"first = model(x)\n{steps}last = model(x)\n") == []


LOOP = """
for step, (x, y) in enumerate(data):
    with tf.GradientTape() as tape:
        loss = f(model(x), y)
    grads = tape.gradient(loss, model.trainable_variables)
    {then}
{behind}
"""
APPLY = "optimizer.apply_gradients(zip(grads, model.trainable_variables))"


@pytest.mark.parametrize(
    ("then", "behind", "is_told"),
    [
        ("print(loss)", APPLY, True),
        (f"if step % 4 == 3:\n        {APPLY}", "", True),
        (APPLY, "", False),
        (APPLY, APPLY, False),
        ("if loss < 1: break", APPLY, False),
        (f"total = [a + b for a, b in zip(total, grads)]\n    if step % 4 == 3:\n        {APPLY}", "", False),
        (f"if step % 4 == 3:\n        {APPLY}\n    else:\n        keep(grads)", "", False),
        (f"critic.apply(other)\n    if step % 4 == 3:\n        {APPLY}", "", False),
        (f"if ready:\n        {APPLY}", "", False),
        (f"update_critic(x)\n    if step % 4 == 3:\n        {APPLY}", "", False),
        (f"metric.update_state(y)\n    if step % 4 == 3:\n        {APPLY}", "", True),
    ],
)
def test_gradients_of_the_last_turn_alone(find: Any, then: str, behind: str, is_told: bool) -> None:
    found = find(LOOP.format(then=then, behind=behind))
    assert found == ([("turns", "grads", APPLY)] if is_told else [])


SOFT = "for a, b in zip(slow.{of}, net.{of}):\n    {line}\n"


@pytest.mark.parametrize(
    ("line", "of", "is_told"),
    [
        ("a = 0.99 * a + 0.01 * b", "trainable_variables", True),
        ("a = a + 0.01 * (b - a)", "weights", True),
        ("a.assign(0.99 * a + 0.01 * b)", "weights", False),
        ("a = 0.99 * a + 0.01 * b; moved.append(a)", "weights", False),
        ("a = tf.cast(a, tf.float32)", "weights", False),
        ("c = 0.99 * a + 0.01 * b", "weights", False),
        ("a = 0.99 * a + 0.01 * b", "rows", False),
    ],
)
def test_a_variable_of_which_only_the_name_is_given_a_new_value(find: Any, line: str, of: str, is_told: bool) -> None:
    found = find(SOFT.format(line=line, of=of))
    assert found == ([("rebound", "a", line)] if is_told else [])
