"""A last layer that does not fit its loss is told, by `fit` and in a compiled loop; one that fits it is not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch_server.health.book import LOGGED
from gradwatch_server.health.episode import (
    ByHeart,
    Growth,
    Mismatch,
    MismatchKind,
    Misshaped,
    NonFinite,
    Phase,
    Plateau,
    Runaway,
)
from gradwatch_server.health.incident import assemble
from gradwatch_server.health.slip import SlipKind
from tests.health.catalogue.play import Played, play

N, FEATURES, BATCH, N_STEPS = 512, 12, 32, 80
FORMS = ("fit", pytest.param("compiled", marks=pytest.mark.thorough))


def data(task: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.standard_normal((N, FEATURES)).astype("float32")
    score = x @ random.standard_normal((FEATURES, 4))
    if task == "classes":
        return x, score.argmax(-1)
    if task == "one-hot":
        return x, np.eye(4, dtype="float32")[score.argmax(-1)]
    if task == "from 1":
        return x, np.eye(5, dtype="float32")[score.argmax(-1) + 1][:, :4]
    if task == "some":  # a third has none
        return x, np.where(random.random((N, 1)) < 1 / 3, 0, np.eye(4, dtype="float32")[score.argmax(-1)])
    if task == "labels":  # two of a sample, on the average
        return x, (score > 0).astype("float32")
    return x, (score[:, :1] > 0).astype("float32")


def train(form: str, task: str, output: Any, loss_fn: Any) -> Played:
    """Trains a small network that ends in some output, with some loss."""

    def training(watch: Any, seed: int) -> None:
        model = keras.Sequential(
            [
                keras.Input((FEATURES,)),
                layers.Dense(16, "relu", name="hidden"),
                *(output if isinstance(output, list) else [output]),
            ]
        )
        optimizer = keras.optimizers.Adam(1e-3)
        x, y = data(task)
        watched = watch(model)
        if form == "fit":
            model.compile(optimizer, loss_fn, jit_compile=False)
            model.fit(x, y, batch_size=BATCH, epochs=N_STEPS * BATCH // N, verbose=0)
            return

        @tf.function(jit_compile=True)
        def step(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            watched.log(loss=loss)

        random = np.random.default_rng(seed)
        for _ in range(N_STEPS):
            chosen = random.integers(N, size=BATCH)
            step(tf.constant(x[chosen]), tf.constant(y[chosen]))

    return play(training)


def dense(units: int, activation: str | None = None) -> Any:
    return layers.Dense(units, activation, name="out")


SPARSE, ONE_HOT, BINARY = (
    keras.losses.SparseCategoricalCrossentropy,
    keras.losses.CategoricalCrossentropy,
    keras.losses.BinaryCrossentropy,
)


# Keras' own losses look behind the softmax or sigmoid of a layer, and take what it was given.


def of_scores(y: Any, scores: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(tf.reshape(y, [-1]), "int32"), scores))


def of_scores_and_one_hot(y: Any, scores: Any) -> Any:
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, scores))


def of_own_softmax(y: Any, scores: Any) -> Any:
    return of_scores(y, tf.nn.softmax(scores))


def of_one_score(y: Any, scores: Any) -> Any:
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, scores))


def of_each_by_hand(y: Any, p: Any) -> Any:
    p = tf.clip_by_value(p, 1e-6, 1 - 1e-6)
    return -tf.reduce_mean(3.0 * y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))


def of_each_beside_epsilon(y: Any, p: Any) -> Any:
    return -tf.reduce_mean(y * tf.math.log(p + 1e-7) + (1.0 - y) * tf.math.log(1.0 - p + 1e-7))


def by_hand(y: Any, scores: Any) -> Any:
    """Bounded, of probabilities that it makes itself."""
    p = tf.nn.softmax(scores)
    return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(tf.clip_by_value(p, 1e-7, 1.0)), axis=-1))


def of_logarithms(y: Any, scores: Any) -> Any:
    return -tf.reduce_mean(tf.reduce_sum(y * tf.nn.log_softmax(scores), axis=-1))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("task", "output", "loss_fn", "mismatch", "title"),
    [
        pytest.param(
            "classes", lambda: dense(4, "softmax"), of_scores, "softmax twice",
            "A softmax is taken twice: the loss cannot fall below 0.744", id="softmax twice",
        ),
        pytest.param(
            "one-hot", lambda: dense(4, "softmax"), of_scores_and_one_hot, "softmax twice",
            "A softmax is taken twice: the loss cannot fall below 0.744", id="softmax twice, one-hot",
        ),
        pytest.param(
            "classes", lambda: [dense(4), layers.Softmax(name="probabilities")], of_scores,
            "softmax twice", "A softmax is taken twice: the loss cannot fall below 0.744", id="a layer of its own",
        ),
        pytest.param(
            "classes", lambda: dense(4), of_own_softmax, "softmax twice",
            "A softmax is taken twice: the loss cannot fall below 0.744", id="softmax in the loss",
        ),
        pytest.param(
            "label", lambda: dense(1, "sigmoid"), of_one_score, "sigmoid twice",
            "A sigmoid is taken twice: the loss cannot fall below 0.313", id="sigmoid twice",
        ),
        pytest.param(
            "label", lambda: dense(1, "softmax"), BINARY(), "softmax of one",
            "out gives 1 for every sample: a softmax over one unit", id="softmax of one",
        ),
        pytest.param(
            "classes", lambda: [dense(4), layers.Softmax(axis=0, name="probabilities")], SPARSE(), "softmax over batch",
            "The softmax of probabilities runs over the samples of a batch", id="softmax over the batch",
        ),
        pytest.param(
            "classes", lambda: dense(4), SPARSE(), "scores", "The loss takes the output of out for probabilities",
            id="scores",
        ),
        pytest.param(
            "one-hot", lambda: dense(4), ONE_HOT(), "scores", "The loss takes the output of out for probabilities",
            id="scores, one-hot",
        ),
        pytest.param(
            "label", lambda: dense(1), BINARY(), "scores", "The loss takes the output of out for probabilities",
            id="scores, one label",
        ),
        pytest.param(
            "labels", lambda: dense(4, "softmax"), BINARY(), "softmax of many",
            "Samples have several labels, but out gives them shares of 1", id="a softmax for several labels",
        ),
        pytest.param(
            "from 1", lambda: dense(4, "softmax"), BINARY(), "softmax of few",
            "Many samples have no label, but out gives them shares of 1", id="a softmax where many have no label",
        ),
        pytest.param(
            "labels", lambda: dense(4, "softmax"), of_each_by_hand, "softmax of many",
            "Samples have several labels, but out gives them shares of 1", id="several labels, by hand",
        ),
        pytest.param(
            "labels", lambda: dense(4, "softmax"), of_each_beside_epsilon, "softmax of many",
            "Samples have several labels, but out gives them shares of 1", id="several labels, beside an epsilon",
        ),
        pytest.param(
            "from 1", lambda: dense(4, "softmax"), ONE_HOT(), "no label", "Many samples have no label at all",
            id="classes from 1",
        ),
        pytest.param(
            "from 1", lambda: dense(4), of_scores_and_one_hot, "no label", "Many samples have no label at all",
            id="classes from 1, scores",
        ),
        pytest.param(
            "from 1", lambda: dense(4), by_hand, "classes from 1", "Class 0 never occurs, and many samples have no",
            id="classes from 1, by hand",
        ),
        pytest.param(
            "from 1", lambda: dense(4), of_logarithms, "classes from 1", "Class 0 never occurs, and many samples have",
            id="classes from 1, of logarithms",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit(form: str, task: str, output: Any, loss_fn: Any, mismatch: str, title: str) -> None:
    found = train(form, task, output(), loss_fn).findings[0]
    assert found.kind == "loss_plateau"
    assert found.title.replace("sequential/", "").startswith(title)
    assert (found.evidence["mismatch"], found.first_step) == (mismatch, 0)
    assert found.hypotheses[0].confidence >= 0.9
    if form != "fit" and mismatch in ("softmax twice", "scores"):
        assert found.source is not None
        assert "test_mismatch" in found.source["file"]


def of_attention(y: Any, vectors: Any) -> Any:
    """What is near a class's own vector gets all, the other classes next to nothing."""
    near = tf.nn.l2_normalize(vectors, axis=-1, epsilon=1e-6) @ tf.eye(4)
    return tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, tf.nn.softmax(40.0 * near)))


def of_those_with_a_label(y: Any, scores: Any) -> Any:
    """As an imitation of a map's moves: where no one stands, nothing is asked."""
    has_one = tf.reduce_sum(y, axis=-1)
    entropy = tf.nn.softmax_cross_entropy_with_logits(y, scores) * has_one
    return tf.reduce_sum(entropy) / (tf.reduce_sum(has_one) + 1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("task", "output", "loss_fn"),
    [
        pytest.param("classes", lambda: dense(4), SPARSE(from_logits=True), id="scores"),
        pytest.param("classes", lambda: dense(4, "softmax"), SPARSE(), id="probabilities"),
        pytest.param("classes", lambda: dense(4, "softmax"), SPARSE(from_logits=True), id="a softmax that Keras mends"),
        pytest.param("label", lambda: dense(1, "sigmoid"), BINARY(from_logits=True), id="a sigmoid that Keras mends"),
        pytest.param("classes", lambda: dense(4), of_scores, id="scores, a loss of one's own"),
        pytest.param("label", lambda: dense(1), of_one_score, id="one score, a loss of one's own"),
        pytest.param("classes", lambda: dense(4), of_attention, id="vectors that are compared first"),
        pytest.param("one-hot", lambda: dense(4, "softmax"), ONE_HOT(), id="probabilities, one-hot"),
        pytest.param("one-hot", lambda: dense(4), by_hand, id="softmax in the loss"),
        pytest.param("one-hot", lambda: dense(4, "softmax"), BINARY(), id="one label, each by itself"),
        pytest.param("from 1", lambda: dense(4), of_those_with_a_label, id="those with a label alone"),
        pytest.param("some", lambda: dense(4), of_logarithms, id="some are left out"),
        pytest.param("labels", lambda: dense(4, "sigmoid"), BINARY(), id="several labels"),
        pytest.param("labels", lambda: dense(4, "softmax"), ONE_HOT(), id="several labels that are ranked"),
        pytest.param("label", lambda: dense(1), BINARY(from_logits=True), id="one score"),
        pytest.param("label", lambda: dense(1, "sigmoid"), BINARY(), id="one probability"),
        pytest.param("label", lambda: dense(1, "sigmoid"), keras.losses.MeanSquaredError(), id="a square"),
    ],
)
def test_what_fits(form: str, task: str, output: Any, loss_fn: Any) -> None:
    played = train(form, task, output(), loss_fn)
    assert not played.findings, played.describe()


def test_one_softmax_too_many_is_told_once() -> None:
    """The graph shows it, and the numbers do: one incident."""
    slip = {"type": "SparseSoftmaxCrossEntropyWithLogits", "name": "loss", "layer": "", "source": None}
    twice = Mismatch(first_step=0, last_step=90, stream=0, phase=Phase.LOSS)
    doubled = Misshaped(first_step=0, last_step=90, stream=0, phase=Phase.LOSS, what=SlipKind.DOUBLED, slip=slip)
    other = Misshaped(first_step=0, last_step=90, stream=0, phase=Phase.LOSS, what=SlipKind.GATHERED, slip=slip)
    assert [incident.lead for incident in assemble([twice, doubled])] == [doubled]
    assert len(assemble([twice, other])) == 2


def test_gradients_of_others_are_what_makes_a_loss_run_away() -> None:
    slip = {"type": "Gradient", "name": "dense/kernel", "layer": "dense", "source": None, "strangers": 4}
    stretch = {"stream": 0, "phase": Phase.LOSS, "first_step": 0, "last_step": 400}
    driven = Misshaped(**stretch, known_step=100, what=SlipKind.STRANGERS, slip=slip)
    growth = Growth(stream=0, phase=Phase.GRADIENT, first_step=268, last_step=400, known_step=270)
    runaway = Runaway(stream=0, phase=Phase.LOSS, first_step=200, last_step=400, known_step=250)
    (incident,) = assemble([growth, runaway, driven])
    assert incident.lead is driven
    late = Misshaped(**stretch, known_step=300, what=SlipKind.STRANGERS, slip=slip)
    assert growth in [incident.lead for incident in assemble([growth, late])]


@pytest.mark.parametrize(
    ("first_step", "more", "n_incidents"),
    [(1, {}, 1), (60, {}, 2), (1, {"narrow": ()}, 2), (1, {"is_rounded": True}, 2)],
)
def test_columns_that_are_not_scaled_are_said_with_what_broke_at_once(
    first_step: int, more: dict[str, Any], n_incidents: int
) -> None:
    given = {"narrow": (3, 4), "widest": 0, "slip": {"layer": "dense"}} | more
    wide = Misshaped(
        stream=0, phase=Phase.INPUT, first_step=0, last_step=400, known_step=50, what=SlipKind.UNSCALED, **given
    )
    growth = Growth(stream=0, phase=Phase.GRADIENT, first_step=first_step, last_step=first_step + 5, known_step=70)
    assert len(assemble([wide, growth])) == n_incidents


@pytest.mark.parametrize(("start", "n_incidents"), [(30, 1), (500, 1), (700, 2)])
def test_a_loss_that_stays_for_most_of_the_time_after_a_nan_comes_of_it(start: int, n_incidents: int) -> None:
    """A relu makes 0 of NaN: the loss goes on, at what guessing gives."""
    broken = NonFinite(stream=0, phase=Phase.GRADIENT, first_step=start, last_step=1400, known_step=start)
    level = Plateau(stream=0, phase=Phase.LOSS, first_step=0, last_step=1400, known_step=1000)
    incidents = assemble([level, broken])
    assert len(incidents) == n_incidents
    assert broken in [incident.lead for incident in incidents]


@pytest.mark.parametrize(("what", "n_incidents"), [(SlipKind.WRAPPED, 1), (None, 2)])
def test_what_does_not_carry_over_comes_of_a_slip_that_is_known(what: SlipKind | None, n_incidents: int) -> None:
    stretch = {"last_step": 400, "known_step": 100}
    slip = (
        Misshaped(stream=0, phase=Phase.LOSS, first_step=0, what=what, slip={}, **stretch)
        if what
        else Mismatch(stream=0, phase=Phase.LOSS, first_step=0, **stretch)
    )
    heart = ByHeart(stream=LOGGED, phase=Phase.LOSS, first_step=24, **stretch)
    assert len(assemble([slip, heart])) == n_incidents


def test_labels_that_no_scores_can_be_right_for_are_what_makes_them_grow() -> None:
    stretch = {"stream": 0, "phase": Phase.LOSS, "first_step": 0, "last_step": 400}
    many = Mismatch(**stretch, known_step=20, kind=MismatchKind.MANY_LABELS)
    growth = Growth(stream=0, phase=Phase.GRADIENT, first_step=211, last_step=400, known_step=215)
    (incident,) = assemble([growth, many])
    assert incident.lead is many
    assert len(assemble([growth, Mismatch(**stretch, known_step=20, kind=MismatchKind.SCORES)])) == 2
