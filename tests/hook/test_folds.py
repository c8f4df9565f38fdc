"""Models on the wrong side of a loop over folds or epochs are told; others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradwatch.slips.script.folds import find_folds

HEAD = "model = build()\nfolds = KFold(5)\nfor train, held in folds.split(x):\n"
FIT = "    model.fit(x[train], y[train], epochs=3, validation_data=(x[held], y[held]))\n"
SWAPPED = "    model.fit(x[held], y[held], epochs=3, validation_data=(x[train], y[train]))\n"
MADE = "    model = build()\n"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (HEAD + FIT, ("shared", 4)),
        (HEAD + FIT + "    scores.append(model.evaluate(x[held], y[held]))\n", ("shared", 4)),
        (
            HEAD.replace("train, held in folds", "i, (train, held) in enumerate(folds").replace(":\n", "):\n") + FIT,
            ("shared", 4),
        ),
        (HEAD.replace("folds = KFold(5)", "").replace("in folds", "in StratifiedKFold(3)") + FIT, ("shared", 4)),
        (HEAD + MADE + SWAPPED, ("swapped", 5)),
        (HEAD + MADE + "    a, b = x[held], x[train]\n" + SWAPPED, ("swapped", 6)),
        (HEAD + MADE + FIT, None),
        (HEAD + "    model.set_weights(first)\n" + FIT, None),
        (HEAD.replace("build()", "KerasClassifier(build)") + FIT, None),
        ("class Own:\n    def fit(self, x, y): ...\n" + HEAD.replace("build()", "Own()") + FIT, None),
        (
            "class Own(keras.Model):\n    def call(self, x): ...\n" + HEAD.replace("build()", "Own()") + FIT,
            ("shared", 6),
        ),
        (HEAD.replace("build()", "keras.Sequential(all)") + FIT, ("shared", 4)),
        (
            "for epoch in range(9):\n    coder.fit(x, x)\n    model = build()\n    model.fit(z, y, verbose=0)\n",
            None,
        ),
        (
            "for epoch in range(9):\n    train_step(x)\n    model = build()\n    model.fit(z, y, verbose=0)\n",
            None,
        ),
        (HEAD + "    reset(model)\n" + FIT, None),
        (HEAD + "    net = clone_model(model)\n" + FIT.replace("model.", "net."), None),
        (HEAD.replace("KFold", "TimeSeriesSplit") + FIT, None),
        (HEAD + "    model.fit(x[train], y[train])\n", None),
        ("for epoch in range(9):\n    model = build()\n    model.fit(x, y, epochs=1)\n", ("epoch", 2)),
        ("for epoch in range(9):\n    model = build()\n    model.fit(x, y, verbose=0)\n", ("epoch", 2)),
        ("for epoch in range(9):\n    model = build()\n    model.fit(x, y, epochs=epoch)\n", None),
        ("for epochs in (5, 9):\n    model = build()\n    model.fit(x, y, epochs=1)\n", None),
        ("for seed in range(9):\n    model = build()\n    model.fit(x, y, epochs=1)\n", None),
        (
            "for epoch in range(9):\n    model = build()\n    model.load_weights(f)\n    model.fit(x, y, epochs=1)\n",
            None,
        ),
        (HEAD + FIT + "    break\n", None),
        ((HEAD + MADE + SWAPPED).replace("held", "labeled"), None),  # learns of few labels
        (
            "for epochs in range(1, 9):\n    model = build()\n    for _ in range(epochs): model.fit(x, y, epochs=1)\n",
            None,
        ),
        ("for epoch in range(9):\n    model = build()\n    model.fit(x, y, verbose=0)\n    all.append(model)\n", None),
        (
            "for epoch in range(9):\n    net = build()\n    net.fit(u, guess, verbose=0)\n    guess = net.predict(u)\n",
            None,
        ),
        ("for epoch in range(9):\n    model.fit(x, y, epochs=1)\n", None),
    ],
)
def test_the_side_of_a_loop(tmp_path: Path, lines: str, wanted: tuple[str, int] | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(lines)
    found = [(one["folds"], one["source"]["line"]) for one in find_folds([str(path)])]
    assert found == ([] if wanted is None else [wanted])


TURN = """
for epoch in range(9):
    {made}
    optimizer = Adam(1e-3)
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    {end}
"""


@pytest.mark.parametrize(
    ("made", "end", "is_told"),
    [
        ("model = build()", "print(loss)", True),
        ("model = keras.Sequential(layers)", "print(loss)", True),
        ("model = build(epoch)", "print(loss)", False),
        ("model = grow(model)", "print(loss)", False),
        ("model = clone_model(first)", "print(loss)", False),
        ("model = build(first.export())", "print(loss)", False),
        ("model = build(len(words))", "print(loss)", True),
        ("model = build()", "models.append(model)", False),
        ("model = build()", "first.set_weights(mean(model))", False),
        ("model = build()", "break", False),
        ("other = build()", "print(loss)", False),
    ],
)
def test_a_model_that_each_turn_of_a_loop_makes(tmp_path: Path, made: str, end: str, *, is_told: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(TURN.format(made=made, end=end))
    found = [(one["folds"], one["source"]["code"]) for one in find_folds([str(path)])]
    assert found == ([("epoch", made)] if is_told else [])
    path = tmp_path / "seeds.py"
    path.write_text(TURN.format(made=made, end=end).replace("epoch", "seed"))
    assert find_folds([str(path)]) == []


@pytest.mark.parametrize(
    ("compiled", "fit", "is_told"),
    [
        ("model.compile('adam', 'mse')", "model.fit(x, y, epochs=1)", True),
        ("model.compile(optimizer=keras.optimizers.Adam(1e-3), loss='mse')", "model.fit(x, y, verbose=0)", True),
        ("model.compile(SGD(0.1, momentum=0.9), 'mse')", "model.fit(x, y, verbose=0)", True),
        ("model.compile('sgd', 'mse')", "model.fit(x, y, epochs=1)", False),  # which has no averages
        ("model.compile(SGD(0.1), 'mse')", "model.fit(x, y, epochs=1)", False),
        ("model.compile(Adam(rate_of(epoch)), 'mse')", "model.fit(x, y, epochs=1)", False),
        ("model.compile(optimizer, 'mse')", "model.fit(x, y, epochs=1)", False),  # which is kept
        ("model.compile('adam', 'mse')", "model.fit(x, y, epochs=5)", False),
        ("model.compile('adam', 'mse')", "model.fit(x, y, epochs=1)\n    model.layers[0].trainable = True", False),
        ("if epoch == 3: model.compile('adam', 'mse')", "model.fit(x, y, epochs=1)", False),
        ("other.compile('adam', 'mse')", "model.fit(x, y, epochs=1)", False),
    ],
)
def test_a_model_that_each_epoch_compiles(tmp_path: Path, compiled: str, fit: str, *, is_told: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"model = build()\nfor epoch in range(9):\n    {compiled}\n    {fit}\n")
    found = [(one["folds"], one["source"]["code"]) for one in find_folds([str(path)])]
    assert found == ([("compiled", compiled)] if is_told else [])
