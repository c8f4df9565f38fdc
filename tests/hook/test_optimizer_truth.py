"""What an optimizer does with its gradients: scaling, clipping, accumulation, skipping, and the variables it keeps.

What is left after clipping is known from a plain SGD's own update, which is the clipped gradient times the rate; what
was skipped, from weights that stood still.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch import NonFiniteError
from tests.hook import training
from tests.hook.test_capture import BIAS, FIRST, X, Y, adam, compiled, fit, sgd
from tests.hook.training import LOSS, as_dense, assert_close, assert_recorded, batches, reference_loop
from tests.numerics.reference import row

CAPTURE = ("gradient", "weight", "update")

RATE = 0.1
TOKENS = training.tokens()
OPTIMIZER_KINDS = ("gradient", "weight", "update")
WAYS = {"fit": {}, "fit, jit": {"jit_compile": True}, "fit, eagerly": {"run_eagerly": True}}
LIMITS = [{"clipnorm": 0.12}, {"global_clipnorm": 0.325}, {"clipvalue": 0.02}]


def values(scalar):
    return list(scalar.values())


def train(model, given):
    for x, y in given:
        model.train_on_batch(x, y)


def assert_clipped(recording, norms, shares):
    np.testing.assert_allclose(values(recording.scalar("clipped_norm")), norms, rtol=2e-3)
    np.testing.assert_allclose(values(recording.scalar("clipped_share")), shares, atol=0.01)


def clipping_loop(model, limit, given, n_micro_steps=1):
    """Trains with a plain SGD that clips: what the update says was left of the gradients, and the share clipped.

    The share is counted from the gradients themselves, added up in NumPy where there are micro-steps.
    """
    options = limit if n_micro_steps == 1 else limit | {"gradient_accumulation_steps": n_micro_steps}
    optimizer = keras.optimizers.SGD(RATE, **options)
    optimizer.build(model.trainable_variables)
    norms, shares, summed = [], [], None
    for i, (x, y) in enumerate(given):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        before = [variable.numpy().astype(np.float64) for variable in model.trainable_variables]
        optimizer.apply(gradients, model.trainable_variables)
        after = [variable.numpy() for variable in model.trainable_variables]
        moved = [(old - new) / RATE for old, new in zip(before, after, strict=True)]
        looked_at = gradients if n_micro_steps == 1 else [as_dense(gradient) for gradient in gradients]
        if n_micro_steps > 1:
            summed = looked_at if summed is None else [a + b for a, b in zip(summed, looked_at, strict=True)]
        if (i + 1) % n_micro_steps == 0:
            looked_at = looked_at if summed is None else [one / n_micro_steps for one in summed]
            norms.append(np.sqrt(sum(np.square(one).sum() for one in moved)))
            shares.append(share_clipped(limit, looked_at, before))
            summed = None
    return np.array(norms), np.array(shares)


def share_clipped(limit, gradients, variables):
    """Keras goes by the slices of a sparse gradient as they are."""
    slices = [np.asarray(one.values if isinstance(one, tf.IndexedSlices) else one) for one in gradients]
    norms = np.array([np.sqrt(np.square(one.astype(np.float64)).sum()) for one in slices])
    if "clipnorm" in limit:
        return (norms > limit["clipnorm"]).mean()
    if "global_clipnorm" in limit:
        return float(np.sqrt(np.square(norms).sum()) > limit["global_clipnorm"])
    return sum((np.abs(one) > limit["clipvalue"]).sum() for one in slices) / sum(one.size for one in variables)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: next(iter(limit)))
def test_clipping(watch, read, limit, way):
    """Of an embedding, whose gradient is sparse and has rows that share an index, and of a dense layer."""
    given = batches(*TOKENS, epochs=1)
    norms, shares = clipping_loop(training.embedding(), limit, given)
    seen = reference_loop(training.embedding(), sgd(**limit), given)
    assert (norms < np.array(seen["gradient_norm"]) * 0.99).any(), "the limit matters"
    model = compiled(training.embedding(), sgd(**limit), **WAYS[way])
    watched = watch(model, capture=("gradient", "update"))
    train(model, given)
    recording = read(watched)
    assert_recorded(recording, {key: value for key, value in seen.items() if key[0] != "weight"})
    assert_clipped(recording, norms, shares)


def test_clipping_of_norms_is_known_at_every_step_and_of_values_where_it_is_due(watch, read):
    steps = {}
    for limit in LIMITS:
        model = compiled(training.sequential(), sgd(**limit))
        watched = watch(model, every=3, capture="gradient")
        fit(model)
        norms, _ = clipping_loop(training.sequential(), limit, batches(X, Y))
        found = read(watched).scalar("clipped_norm")
        steps[next(iter(limit))] = list(found)
        np.testing.assert_allclose(values(found), norms[list(found)], rtol=2e-3)
    assert steps == {"clipnorm": list(range(8)), "global_clipnorm": list(range(8)), "clipvalue": [0, 3, 6]}


def test_nothing_is_said_of_clipping_without_a_limit_or_where_a_gradient_is_not_finite(watch, read):
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    fit(model, epochs=1)
    recording = read(watched)
    assert [recording.scalar(name) for name in ("clipped_norm", "clipped_share", "is_update", "skipped")] == [{}] * 4
    sick = X.copy()
    sick[2 * training.BATCH] = np.inf
    for limit in LIMITS[1:]:
        model = compiled(training.smooth(), sgd(**limit))
        watched = watch(model, capture="gradient")
        fit(model, sick, epochs=1)
        assert list(read(watched).scalar("clipped_norm")) == [0, 1]


@pytest.mark.parametrize(("way", "limit"), list(zip(WAYS, LIMITS, strict=True)), ids=WAYS)
def test_gradient_accumulation(watch, read, way, limit):
    """Micro-steps are told from updates; what is applied is clipped as a whole."""
    given = batches(*TOKENS, epochs=1)
    options = limit | {"gradient_accumulation_steps": 2}
    seen = reference_loop(training.embedding(), sgd(**options), given)
    norms, shares = clipping_loop(training.embedding(), limit, given, n_micro_steps=2)
    model = compiled(training.embedding(), sgd(**options), **WAYS[way])
    watched = watch(model, capture=OPTIMIZER_KINDS)
    train(model, given)
    recording = read(watched)
    assert values(recording.scalar("is_update")) == [0, 1] * 2
    for tensor in recording.tensors():
        assert_close(recording.statistics("gradient", tensor), seen["gradient", tensor], tensor)
        for kind in ("weight", "update"):
            found = recording.statistics(kind, tensor)
            assert_close(found[1::2], seen[kind, tensor][1::2], f"{kind} of {tensor}")
            assert np.isnan(found[::2]).all(), "nothing was updated"
    assert list(recording.scalar("clipped_norm")) == [1, 3]
    assert_clipped(recording, norms, shares)


@pytest.mark.parametrize(("every", "n_micro_steps", "due"), [(3, 2, [1, 3, 7]), (2, 4, [3, 7])])
def test_updates_that_are_thinned_are_those_that_were_applied(watch, read, every, n_micro_steps, due):
    """A cadence that meets only micro-steps would show updates that never were."""
    options = {"gradient_accumulation_steps": n_micro_steps}
    seen = reference_loop(training.sequential(), sgd(**options), batches(X, Y))
    model = compiled(training.sequential(), sgd(**options))
    watched = watch(model, every=every, capture=OPTIMIZER_KINDS)
    fit(model)
    found = read(watched).statistics("update", BIAS)
    assert np.flatnonzero(np.isfinite(found[:, 0])).tolist() == due
    assert (found[due, 0] > 0).all()
    assert_close(found[due], seen["update", BIAS][due])


def loss_scaled(scale=2.0**127, **options):
    return keras.optimizers.LossScaleOptimizer(sgd(**options), initial_scale=scale)


def scaled_loop(model, optimizer, given):
    """A loop under a loss scale: which steps left the weights as they were, the gradients' norms, and the scales."""
    plain = [variable.value for variable in model.trainable_variables]
    skipped, norms, scales = [], [], []
    for x, y in given:
        scales.append(float(optimizer.scale_loss(1.0)))
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        norms.append(float(tf.linalg.global_norm(tape.gradient(loss, plain))))
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(LOSS(y, model(x, training=True)))
        gradients = tape.gradient(loss, plain)
        before = model.get_weights()
        optimizer.apply(gradients, model.trainable_variables)
        skipped.append(float(all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))))
    return skipped, np.array(norms), np.array(scales)


@pytest.mark.parametrize("way", WAYS)
def test_dynamic_loss_scale(watch, read, way):
    """Magnitudes are the true ones; what overflowed was skipped, and is told."""
    x, optimizer = X * 20, loss_scaled(2.0**126)
    model = training.sequential()
    optimizer.build(model.trainable_variables)
    skipped, norms, scales = scaled_loop(model, optimizer, batches(x, Y))
    assert 0 < sum(skipped) < len(skipped) - 2
    model = compiled(training.sequential(), loss_scaled(2.0**126), **WAYS[way])
    watched = watch(model, capture=OPTIMIZER_KINDS)
    fit(model, x)
    recording = read(watched)
    assert values(recording.scalar("skipped")) == skipped
    assert recording.n_skipped == 0, "that is what on_nonfinite='skip' leaves out"
    done = np.array(skipped) == 0
    is_told = done & (norms * scales < np.finfo(np.float32).max)  # a scaled norm beyond float32 is its largest number
    assert is_told.sum() > 2
    np.testing.assert_allclose(np.array(values(recording.scalar("gradient_norm")))[is_told], norms[is_told], rtol=2e-3)
    updates = recording.statistics("update", FIRST)
    assert (updates[~done, 0] == 0).all()
    gradient = recording.statistics("gradient", FIRST)
    np.testing.assert_allclose(updates[done, 3], -RATE * gradient[done, 3], rtol=5e-3, err_msg="mean")
    np.testing.assert_allclose(updates[done, 4], RATE * gradient[done, 4], rtol=5e-3, err_msg="std")
    np.testing.assert_allclose(updates[done, 1], -RATE * gradient[done, 2], rtol=5e-3, err_msg="min and max")


def test_norms_in_thinned_rows_are_without_the_loss_scale(watch, read):
    seen = reference_loop(training.sequential(), sgd(), batches(X, Y))
    model = compiled(training.sequential(), loss_scaled(2.0**15))
    watched = watch(model, every=1000, capture=OPTIMIZER_KINDS)
    fit(model)
    found = read(watched).statistics("gradient", FIRST)
    assert np.isfinite(found[:, 1]).tolist() == [True] + [False] * (len(found) - 1)
    np.testing.assert_allclose(found[:, 0], np.array(seen["gradient", FIRST])[:, 0], rtol=1e-4)


@pytest.mark.parametrize(("limit", "n_micro_steps"), [(LIMITS[0], 1), (LIMITS[2], 1), (LIMITS[1], 2)])
def test_clipping_under_a_loss_scale(watch, read, limit, n_micro_steps):
    """The limit is one of true magnitudes."""
    given = batches(*TOKENS, epochs=1)
    norms, shares = clipping_loop(training.embedding(), limit, given, n_micro_steps)
    options = {} if n_micro_steps == 1 else {"gradient_accumulation_steps": n_micro_steps}
    model = compiled(training.embedding(), loss_scaled(1024.0, **limit, **options))
    watched = watch(model, capture="gradient")
    train(model, given)
    recording = read(watched)
    assert values(recording.scalar("is_update")) == ([] if n_micro_steps == 1 else [0, 1] * 2)
    assert_clipped(recording, norms, shares)


def test_fixed_loss_scale(watch, read):
    """Its factor is taken off too. It skips nothing, so that an overflow under it is trouble."""
    seen = reference_loop(training.sequential(), sgd(), batches(X, Y))
    model = compiled(training.sequential(), sgd(loss_scale_factor=256.0))
    watched = watch(model, capture=OPTIMIZER_KINDS)
    fit(model)
    recording = read(watched)
    assert_recorded(recording, seen)
    np.testing.assert_allclose(values(recording.scalar("loss")), seen["loss"], rtol=1e-3)
    assert recording.scalar("loss_scale") == recording.scalar("skipped") == {}


def test_an_optimizer_that_is_built_in_the_first_step(watch, read):
    """The scale is known from the first step on, though Keras makes it there."""
    model, optimizer = training.sequential(), loss_scaled(1024.0)
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(LOSS(y, model(x, training=True)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    given = batches(X, Y)[:2]
    for x, y in given:
        step(x, y)
    recording = read(watched)
    seen = reference_loop(training.sequential(), sgd(), given)
    assert values(recording.scalar("loss_scale")) == [1024.0] * 2
    np.testing.assert_allclose(values(recording.scalar("gradient_norm")), seen["gradient_norm"], rtol=2e-3)


def half_model(policy="mixed_float16"):
    """A model in the policy that users set for all of a script: Keras then scales the loss by itself."""
    keras.config.set_dtype_policy(policy)
    try:
        hidden = keras.layers.Dense(8, "relu", name="half", kernel_initializer=training.initializer(1))
        last = keras.layers.Dense(3, dtype="float32", name="last", kernel_initializer=training.initializer(2))
        return keras.Sequential([keras.Input((training.WIDTH,)), hidden, last])
    finally:
        keras.config.set_dtype_policy("float32")


def test_mixed_float16(watch, read):
    """float16 overflows under Keras' own first scale; once that has come down, magnitudes are those of float32."""
    x = X * 64
    model = half_model()
    watched = watch(model, on_nonfinite="raise")
    fit(compiled(model, keras.optimizers.SGD(0.0)), x)
    recording = read(watched)
    skipped = np.array(values(recording.scalar("skipped")))
    assert 0 < skipped.sum() < len(skipped), "an overflow is a loss scale's normal work: nothing was raised"
    in_float32 = half_model("float32")
    with tf.GradientTape() as tape:
        loss = LOSS(Y[-16:], in_float32(x[-16:]))
    (expected,) = tape.gradient(loss, [in_float32.layers[0].kernel.value])
    expected = row(expected)[:5]
    found = recording.statistics("gradient", recording.tensors()[0])[-1, :5]
    np.testing.assert_allclose(found, expected, rtol=0.01, atol=0.01 * expected[0])


def test_raise_at_the_floor_of_the_loss_scale(watch):
    """Gradients that are not finite at any scale: the scale comes down to 1, and then it is trouble."""
    sick = np.full_like(X, np.nan)
    model = compiled(training.sequential(), loss_scaled(2.0**4))
    watched = watch(model, on_nonfinite="raise")
    with pytest.raises(NonFiniteError, match="became non-finite at step 4"):
        fit(model, sick, epochs=5_000)
    assert np.isfinite(model.get_weights()[0]).all()
    watched.close()


def test_raise_when_a_weight_broke_under_a_loss_scale(watch):
    model = compiled(training.sequential(), loss_scaled(2.0**100))

    class Break(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                model.set_weights([np.full_like(weight, np.nan) for weight in model.get_weights()])

    watched = watch(model, on_nonfinite="raise")
    with pytest.raises(NonFiniteError, match="became non-finite at step 4"):
        model.fit(X, Y, batch_size=16, epochs=5_000, shuffle=False, verbose=0, callbacks=[Break()])
    watched.close()


APPLIED = {
    "EMA that overwrites": {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
    "weight decay": {"weight_decay": 0.3},
}


@pytest.mark.parametrize("options", APPLIED.values(), ids=APPLIED)
def test_update_is_all_that_was_done_to_the_weight(watch, read, options):
    def build():
        return keras.optimizers.AdamW(0.01, **options)

    seen = reference_loop(training.sequential(), build(), batches(X, Y))
    plain = reference_loop(training.sequential(), adam(), batches(X, Y))
    assert not np.allclose(plain["update", FIRST], seen["update", FIRST], rtol=0.01), "it matters"
    model = compiled(training.sequential(), build())
    watched = watch(model)
    fit(model)
    assert_recorded(read(watched), seen)


class TwoPlayers:
    """A GAN: each of two models has an optimizer of its own, and both are called adam."""

    def __init__(self):
        self.generator = keras.Sequential([keras.Input((2,)), training.dense(2, "out")], name="generator")
        layers = [keras.Input((2,)), training.dense(4, "hidden", "tanh"), training.dense(1, "score")]
        self.discriminator = keras.Sequential(layers, name="discriminator")
        self.models = {"generator": self.generator, "discriminator": self.discriminator}
        self.optimizers = {who: keras.optimizers.Adam(0.01, name="adam") for who in self.models}

    def losses(self, z, real):
        scores = [self.discriminator(one) for one in (self.generator(z), real)]
        return {"generator": -tf.reduce_mean(scores[0]), "discriminator": tf.reduce_mean(scores[0] - scores[1])}

    def play(self, compiler=lambda step: step):
        """Plays five steps. Returns the norm of each one's gradients at each."""

        @compiler
        def step(z, real):
            with tf.GradientTape(persistent=True) as tape:
                losses = self.losses(z, real)
            norms = {}
            for who, model in self.models.items():
                variables = model.trainable_variables
                gradients = tape.gradient(losses[who], variables)
                norms[who] = tf.linalg.global_norm(gradients)
                self.optimizers[who].apply(gradients, variables)
            return norms

        random = np.random.default_rng(0)
        draws = [random.normal(size=(2, 8, 2)).astype(np.float32) for _ in range(5)]
        played = [step(tf.constant(z), tf.constant(real)) for z, real in draws]
        return {who: [float(one[who]) for one in played] for who in self.models}


def test_two_optimizers_of_one_name(watch, read):
    expected = TwoPlayers().play()
    players = TwoPlayers()
    watched = watch(players.generator, players.discriminator)
    players.play(tf.function)
    recording = read(watched)
    names = {table["optimizer"]: stream for stream, table in recording.tables.items()}
    assert names == {"adam": 0, "adam (discriminator)": 1}
    for stream, who in enumerate(players.models):
        assert recording.steps(stream) == list(range(5))
        assert recording.tensors(stream=stream) == [one.path for one in players.models[who].trainable_variables]
        found = values(recording.scalar("gradient_norm", stream))
        np.testing.assert_allclose(found, expected[who], rtol=2e-3)


def frozen(model, is_frozen):
    model.get_layer("first").trainable = not is_frozen
    return model


def test_a_layer_frozen_and_thawed_by_compiling_again(watch, read):
    model = training.sequential()
    seen = [reference_loop(frozen(model, i == 1), adam(), batches(X, Y, epochs=1)) for i in range(3)]
    model = training.sequential()
    watched = watch(model, capture=OPTIMIZER_KINDS)
    for i in range(3):
        fit(compiled(frozen(model, i == 1), adam()), epochs=1)
    recording = read(watched)
    assert len({table["optimizer"] for table in recording.tables.values()}) == 3
    for stream, expected in enumerate(seen):
        assert recording.steps(stream) == list(range(4 * stream, 4 * stream + 4))
        keys = [key for key in expected if isinstance(key, tuple)]
        assert recording.tensors(stream=stream) == [path for kind, path in keys if kind == "gradient"]
        for kind, path in keys:
            assert_close(recording.statistics(kind, path, stream), expected[kind, path], f"{kind} of {path}")


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["graph", "eagerly"])
def test_a_layer_frozen_and_thawed_in_a_custom_loop(watch, read, compiler):
    """The same optimizer applies another list of variables; the steps go on, and are not shared."""
    phases = [False, True, False, True]

    def train(model, optimizer, compiler, after):
        optimizer.build(model.trainable_variables)
        steps = {}
        for i, (x, y) in enumerate(batches(X, Y)):
            is_frozen = phases[i // 2]
            frozen(model, is_frozen)
            if is_frozen not in steps:

                @compiler
                def step(x, y):
                    with tf.GradientTape() as tape:
                        loss = LOSS(y, model(x, training=True))
                    gradients = tape.gradient(loss, model.trainable_variables)
                    optimizer.apply(gradients, model.trainable_variables)
                    return gradients

                steps[is_frozen] = step
            after(steps[is_frozen](tf.constant(x), tf.constant(y)))

    norms = []
    train(training.sequential(), adam(), lambda step: step, lambda found: norms.append(tf.linalg.global_norm(found)))
    model = training.sequential()
    watched = watch(model)
    train(model, adam(), compiler, lambda _: None)
    recording = read(watched)
    assert recording.steps(0) == [0, 1, 4, 5]
    assert recording.steps(1) == [2, 3, 6, 7]
    assert [len(recording.tensors(stream=stream)) for stream in (0, 1)] == [4, 2]
    found = recording.scalar("gradient_norm", 0) | recording.scalar("gradient_norm", 1)
    np.testing.assert_allclose([found[step] for step in range(8)], np.array(norms), rtol=2e-3)
