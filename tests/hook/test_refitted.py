"""Validation data that are prepared by what was fitted to themselves, in the user's own code."""

import ast

import pytest

from gradwatch import syntax
from gradwatch.slips.script.refitted import find_refitted, find_renumbered

CAPTURE = ("gradient", "operation")


FIT = "model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=3)"
BOTH = "a, b = load(); k = {n: i for i, n in enumerate(set(a + b))}"


@pytest.fixture
def find(monkeypatch):
    def found(*lines):
        tree = ast.parse("\n".join(lines))
        monkeypatch.setattr(syntax, "parse", lambda file: tree)
        return [ast.unparse(one.node) for one in find_refitted(["train.py"])]

    return found


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x_val = scaler.fit_transform(x_val)", "scaler.fit_transform(x_val)"),
        ("y_val = LabelEncoder().fit_transform(names[cut:])", "LabelEncoder().fit_transform(names[cut:])"),
        ("x_val = (x_val - x_val.mean(0)) / x_val.std(0)", "(x_val - x_val.mean(0)) / x_val.std(0)"),
        ("x_val = x_val / np.max(x_val, axis=0)", "x_val / np.max(x_val, axis=0)"),
        ("_, y_val = np.unique(held, return_inverse=True)", "np.unique(held, return_inverse=True)"),
        ("norm.adapt(x_val)", "norm.adapt(x_val)"),
        ("scaler.fit(x_val); x_val = scaler.transform(x_val)", "scaler.fit(x_val)"),
        (
            "a = load(); ids = {n: i for i, n in enumerate(sorted(set(a)))}; y_val = np.array([ids[n] for n in a])",
            "np.array([ids[n] for n in a])",
        ),
        ("x_train = scaler.fit_transform(x_train); x_val = scaler.transform(x_val)", None),
        ("x_train, x_val = split(scaler.fit_transform(x))", None),
        ("mean, std = x_train.mean(0), x_train.std(0); x_val = (x_val - mean) / std", None),
        ("x_val = (x_val - x_train.mean(0)) / x_train.std(0)", None),
        ("x_val = (x_val - x_val.mean(axis=1, keepdims=True)) / x_val.std(axis=1, keepdims=True)", None),
        ("x_val = x_val / np.max(x_val, axis=(1, 2), keepdims=True)", None),
        ("norm.adapt(x_train)", None),
        (
            f"{BOTH}; y_train = [k[n] for n in b]; y_val = [k[n] for n in a]",
            None,
        ),
    ],
)
def test_what_is_fitted_to_validation_data(find, line, told):
    assert find(line, FIT) == ([] if told is None else [told])


@pytest.mark.parametrize(
    ("body", "calls", "is_told"),
    [
        ("return (x - x.mean(0)) / x.std(0)", "x_train = scale(a); x_val = scale(b)", True),
        ("x = scaler.fit_transform(x)\n    return x", "x_train, y_train = scale(a); x_val, y_val = scale(b)", True),
        ("return (x - x.mean(0)) / x.std(0)", "x = scale(a); x_train, x_val = x[:9], x[9:]", False),
        ("return (x - x.mean(-1)) / x.std(-1)", "x_train = scale(a); x_val = scale(b)", False),
        ("return x / 255", "x_train = scale(a); x_val = scale(b)", False),
    ],
)
def test_a_function_that_fits_to_each_of_its_arguments(find, body, calls, is_told):
    found = find(f"def scale(x):\n    {body}", calls, FIT)
    assert len(found) == is_told


def test_validation_data_within_a_data_set_and_within_the_call(find):
    sets = "train = tf.data.Dataset.from_tensor_slices((x, y)).batch(9); valid = from_tensor_slices((a, b)).batch(9)"
    assert find("a = scaler.fit_transform(a)", sets, "model.fit(train, validation_data=valid)")
    assert not find("x = scaler.fit_transform(x)", sets, "model.fit(train, validation_data=valid)")
    assert find("model.fit(x, y, validation_data=(scaler.fit_transform(a), b))")


NUMBERED = """\
tok = Tokenizer(num_words=500)
tok.fit_on_texts(train_texts)
x_train = pad_sequences(tok.texts_to_sequences(train_texts), maxlen=20)
"""
ANEW = "tok2 = Tokenizer(num_words=500)\ntok2.fit_on_texts(test_texts)\nx_test = tok2.texts_to_sequences(test_texts)\n"
AGAIN = "tok.fit_on_texts(test_texts)\nrows = tok.texts_to_sequences(test_texts)\nx_test = pad_sequences(rows)\n"
TRAINED = "model.fit(x_train, y_train, epochs=2, validation_data=(x_test, y_test))\n"
SHARED = """\
tok = Tokenizer()
tok.fit_on_texts(train_texts)
tok.fit_on_texts(test_texts)
x_train, x_test = tok.texts_to_sequences(train_texts), tok.texts_to_sequences(test_texts)
"""
ALL = "tok = Tokenizer()\ntok.fit_on_texts(texts)\nx = tok.texts_to_sequences(texts)\nx_train, x_test = x[:9], x[9:]\n"
ADAPTED = """\
layer = TextVectorization()
layer.adapt(train_texts)
x_train = layer(train_texts)
layer.adapt(test_texts)
x_test = layer(test_texts)
"""


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (NUMBERED + ANEW + TRAINED, 5),
        (NUMBERED + AGAIN + TRAINED, 4),
        (ADAPTED + TRAINED, 4),
        (NUMBERED + "x_test = tok.texts_to_sequences(test_texts)\n" + TRAINED, None),
        (SHARED + TRAINED, None),
        (ALL + TRAINED, None),
        (NUMBERED + ANEW + "model.fit(x_train, y_train, epochs=2)\n", None),
        ("scaler = Scaler()\nx_train = scaler.fit(a)\nx_test = scaler.fit(b)\n" + TRAINED, None),
    ],
)
def test_words_that_are_numbered_anew(tmp_path, lines, line):
    path = tmp_path / "train.py"
    path.write_text(lines)
    assert [one["source"]["line"] for one in find_renumbered([str(path)])] == ([] if line is None else [line])
