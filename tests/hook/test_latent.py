"""Latent codes whose mean or log-variance a function keeps above 0."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from tests.hook.diagnosis import diagnose, found_in, known_in

CAPTURE = ("gradient", "operation")


WIDTH, LATENT = 6, 2
X = np.random.default_rng(0).normal(size=(32, WIDTH)).astype("float32")


class Coder(keras.Model):
    """A variational autoencoder.

    Args:
        function: what the encoder's last layer ends in.
        form: how mean and log-variance are made of what it gives.
    """

    def __init__(self, function, form):
        super().__init__(name="coder")
        widths = {"mean": LATENT, "spread": LATENT} if form == "heads" else {"code": 2 * LATENT}
        functions = [function, *([None] if form == "heads" else [])]
        self.heads = [layers.Dense(n, f, name=name) for (name, n), f in zip(widths.items(), functions, strict=True)]
        self.decoder = layers.Dense(WIDTH)
        self.form = form
        self.noise = keras.random.SeedGenerator(0)

    def call(self, x):
        code, *spread = (head(x) for head in self.heads)
        if spread:
            mean, log_variance = code, spread[0]
        elif self.form == "slices":
            mean, log_variance = code[:, :LATENT], 0.1 * code[:, LATENT:]
        else:
            mean, log_variance = ops.split(code, 2, axis=-1)
        noise = keras.random.normal(ops.shape(mean), seed=self.noise)
        if self.form == "deviations":  # of which a softplus is as good as any
            return self.decoder(mean - 1.0 + ops.softplus(log_variance) * noise)
        self.add_loss(-0.5 * ops.mean(1 + log_variance - mean**2 - ops.exp(log_variance)))
        return self.decoder(ops.exp(log_variance / 2) * noise + mean)


def train(watch, function, form, n_steps=2):
    keras.utils.set_random_seed(0)
    model = Coder(function, form)
    model.compile("adam", "mse")
    model(X)
    watched = watch(model)
    model.fit(X, X, batch_size=32, epochs=n_steps, verbose=0)
    return watched


def draws_in(recording):
    return [
        (one["type"], one["layer"].rpartition("/")[2], one["draws"]) for one in found_in(recording) if "draws" in one
    ]


@pytest.mark.parametrize(
    ("function", "form", "expected"),
    [
        ("relu", "split", ("Relu", "code", "both")),
        ("softplus", "split", ("Softplus", "code", "both")),
        ("relu", "slices", ("Relu", "code", "both")),
        ("relu", "heads", ("Relu", "mean", "mean")),
    ],
)
def test_what_is_never_below_0(watch, read, function, form, expected):
    assert draws_in(read(train(watch, function, form))) == [expected]


@pytest.mark.parametrize(
    ("function", "form"),
    [(None, "split"), ("tanh", "split"), (None, "slices"), (None, "heads"), ("relu", "deviations")],
)
def test_others_are_not_told(watch, read, function, form):
    assert draws_in(read(train(watch, function, form))) == []


def codes_in(recording):
    found = [one["codes"] for one in known_in(recording, "codes")]
    return [[path.rpartition("/")[2] for path in paths] for paths in found]


@pytest.mark.parametrize(
    ("function", "form", "codes"),
    [
        (None, "split", [["code"]]),
        (None, "slices", [["code"]]),
        (None, "heads", [["mean", "spread"]]),
        (None, "deviations", []),
    ],
)
def test_the_layers_that_give_a_code(watch, read, function, form, codes):
    assert codes_in(read(train(watch, function, form))) == codes


def test_it_is_told_with_its_cause(watch, read):
    (found,) = [one for one in diagnose(read(train(watch, "relu", "split", 130))).findings() if "latent" in one.title]
    assert found.title == "A relu stops the latent mean and log-variance from going below 0"
    assert found.layer.endswith("code")


def test_noise_that_is_added_as_it_is(watch, read):
    model = keras.Sequential([layers.Dense(4, "relu"), layers.GaussianNoise(0.1), layers.Dense(1)])
    model.compile("adam", "mse")
    model(X)
    watched = watch(model)
    model.fit(X, X[:, :1], epochs=2, verbose=0)
    assert draws_in(read(watched)) == []


class Drawing(layers.Layer):
    """Draws of a code, and their divergence."""

    def __init__(self, form, factor=-0.5):
        super().__init__()
        self.factor = factor
        self.form, self.mean, self.scale = form, layers.Dense(LATENT), layers.Dense(LATENT)

    def call(self, x):
        mean, scale = self.mean(x), self.scale(x)
        deviation, variance, log_variance = FORMS[self.form](scale)
        self.add_loss(self.factor * ops.mean(1 + log_variance - ops.square(mean) - variance))
        return mean + deviation * keras.random.normal(ops.shape(mean))


FORMS = {
    "half": lambda s: (ops.exp(0.5 * s), ops.exp(s), s),
    "by two": lambda s: (ops.exp(s / 2), ops.exp(s), s),
    "of the deviation": lambda s: (ops.exp(s), ops.exp(2 * s), 2 * s),
    "squared": lambda s: (one := ops.exp(s), ops.square(one), 2 * s),
    "not halved": lambda s: (ops.exp(s), ops.exp(s), s),
    "halved behind": lambda s: (0.5 * ops.exp(s), ops.exp(s), s),
    "one for both": lambda s: (one := ops.exp(s), one, s),
    "halved in both": lambda s: (ops.exp(0.5 * s), ops.exp(0.5 * s), s),
    "of a softplus": lambda s: (one := ops.softplus(s), ops.square(one), 2 * ops.log(one + 1e-6)),
}
POWERS = {"not halved": 2.0, "halved behind": 2.0, "one for both": 2.0, "halved in both": 2.0}


@pytest.mark.parametrize("form", FORMS)
def test_the_spread_of_a_draw(watch, read, form):
    model = keras.Sequential([keras.Input((WIDTH,)), Drawing(form), layers.Dense(WIDTH)])
    model.compile("adam", "mse")
    watched = watch(model)
    model.fit(X, X, batch_size=32, verbose=0)
    found = [one["deviates"] for one in found_in(read(watched)) if "deviates" in one]
    assert found == ([POWERS[form]] if form in POWERS else [])


@pytest.mark.parametrize(
    ("form", "factor", "is_told"),
    [
        ("half", 0.5, True),
        ("squared", 0.5, True),
        ("of the deviation", 0.01, True),
        ("half", -0.5, False),
        ("half", 0.0, False),
        ("squared", -1.0, False),
    ],
)
def test_a_divergence_that_is_made_large(watch, read, form, factor, *, is_told):
    model = keras.Sequential([keras.Input((WIDTH,)), Drawing(form, factor), layers.Dense(WIDTH)])
    model.compile("adam", "mse")
    watched = watch(model)
    model.fit(X, X, batch_size=32, verbose=0)
    assert [one["widens"] for one in found_in(read(watched)) if "widens" in one] == ([True] if is_told else [])


class Wandering(layers.Layer):
    """Draws of a code that is to go far, and be sure."""

    def __init__(self):
        super().__init__()
        self.mean, self.scale = layers.Dense(LATENT), layers.Dense(LATENT)

    def call(self, x):
        mean, scale = self.mean(x), self.scale(x)
        self.add_loss(0.1 * ops.mean(ops.exp(scale) - ops.square(mean)))
        return mean + ops.exp(0.5 * scale) * keras.random.normal(ops.shape(mean))


def test_a_mean_alone_that_is_made_large(watch, read):
    model = keras.Sequential([keras.Input((WIDTH,)), Wandering(), layers.Dense(WIDTH)])
    model.compile("adam", "mse")
    watched = watch(model)
    model.fit(X, X, batch_size=32, verbose=0)
    assert found_in(read(watched)) == []
