"""The clock that optimizers share, new optimizers, several watches; the loss, the rate and what is logged."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch.errors import ConfigurationError
from tests.hook import training
from tests.hook.recording import Recording
from tests.hook.test_capture import FIRST, X, Y, adam, compiled, fit, sgd
from tests.hook.training import LOSS, assert_close, assert_recorded, batches, reference_loop

CAPTURE = ("gradient", "weight", "update")


class TwoPlayers:
    """A pair of models that train each other, as in a GAN: a critic, several times for each step of the other."""

    def __init__(self, n_critic=1):
        self.n_critic = n_critic
        self.generator = keras.Sequential([keras.Input((2,)), training.dense(2, "out")], name="generator")
        self.critic = keras.Sequential([keras.Input((2,)), training.dense(1, "score")], name="critic")
        self.optimizers = {"generator": sgd(name="of_generator"), "critic": sgd(name="of_critic")}

    def play(self, n_steps, compiler=tf.function):
        @compiler
        def step(z, real):
            for _ in range(self.n_critic):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(self.critic(self.generator(z))) - tf.reduce_mean(self.critic(real))
                self._apply("critic", self.critic, tape.gradient(loss, self.critic.trainable_variables))
            with tf.GradientTape() as tape:
                loss = -tf.reduce_mean(self.critic(self.generator(z)))
            self._apply("generator", self.generator, tape.gradient(loss, self.generator.trainable_variables))

        for i in range(n_steps):
            step(tf.fill([4, 2], 1.0 + i), tf.ones([4, 2]))

    def _apply(self, who, model, gradients):
        self.optimizers[who].apply(gradients, model.trainable_variables)


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
def test_two_optimizers_share_one_clock(watch, read, compiler):
    players = TwoPlayers()
    watched = watch(players.generator, players.critic)
    players.play(5, compiler)
    recording = read(watched)
    streams = {table["optimizer"]: stream for stream, table in recording.tables.items()}
    assert set(streams) == {"of_critic", "of_generator"}
    for stream in streams.values():
        assert recording.steps(stream) == list(range(5))
    assert recording.tensors("gradient", streams["of_critic"])[0] == "critic/score/kernel"


def test_an_optimizer_that_applies_again_advances_the_clock(watch, read):
    players = TwoPlayers(n_critic=3)
    watched = watch(players.critic, players.generator)
    players.play(3)
    recording = read(watched)
    streams = {table["optimizer"]: stream for stream, table in recording.tables.items()}
    assert recording.steps(streams["of_critic"]) == list(range(9))
    assert recording.steps(streams["of_generator"]) == [2, 5, 8]


def test_one_of_two_optimizers_is_watched(watch, read):
    players = TwoPlayers()
    watched = watch(players.optimizers["generator"])
    players.play(3)
    recording = read(watched)
    assert [table["optimizer"] for table in recording.tables.values()] == ["of_generator"]


def test_two_optimizers_for_one_model(watch, read):
    """Layers with rates of their own: each optimizer a stream, both in one step."""
    model, fast, slow = training.sequential(), sgd(), adam()
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        fast.apply(gradients[:2], model.trainable_variables[:2])
        slow.apply(gradients[2:], model.trainable_variables[2:])

    for x, y in batches(X, Y):
        step(x, y)
    recording = read(watched)
    assert [recording.steps(stream) for stream in (0, 1)] == [list(range(8))] * 2


def test_compile_again_with_a_new_optimizer(watch, read):
    """The steps go on, in a stream of their own; as the numbers of a training in two parts."""
    reference = training.sequential()
    seen = [reference_loop(reference, optimizer, batches(X, Y)) for optimizer in (adam(), sgd())]
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    fit(model)
    compiled(model, sgd())
    fit(model)
    recording = read(watched)
    assert recording.steps(0) == list(range(8))
    assert recording.steps(1) == list(range(8, 16))
    for stream in (0, 1):
        assert_close(recording.statistics("gradient", FIRST, stream), seen[stream]["gradient", FIRST])


def test_watch_before_compile_and_before_build(watch, read):
    seen = reference_loop(training.Subclassed(), adam(), batches(X, Y))
    model = training.Subclassed()
    watched = watch(model)
    fit(compiled(model, adam()))
    assert_recorded(read(watched), seen)


def test_watch_a_model_that_was_trained_before(watch, read):
    reference = training.sequential()
    optimizer = adam()
    reference_loop(reference, optimizer, batches(X, Y))
    seen = reference_loop(reference, optimizer, batches(X, Y))
    model = compiled(training.sequential(), adam())
    fit(model)
    watched = watch(model)
    fit(model)
    assert_recorded(read(watched), seen)


def test_fit_twice_with_evaluation_and_prediction_between(watch, read):
    reference, optimizer = training.sequential(), adam()
    seen = reference_loop(reference, optimizer, batches(X, Y, epochs=4))
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    model.evaluate(X, Y, verbose=0)
    fit(model)
    model.evaluate(X, Y, verbose=0)
    model.predict(X, verbose=0)
    model.fit(X, Y, batch_size=training.BATCH, epochs=2, shuffle=False, verbose=0, validation_data=(X[:8], Y[:8]))
    recording = read(watched)
    assert_recorded(recording, seen)
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-4)


def test_two_watches_of_different_models(watch, read):
    models = [compiled(training.sequential(), adam()), compiled(training.functional(), sgd())]
    seen = [
        reference_loop(training.sequential(), adam(), batches(X, Y)),
        reference_loop(training.functional(), sgd(), batches(X, Y)),
    ]
    watches = [watch(model) for model in models]
    for model in models:
        fit(model)
    for watched, expected in zip(watches, seen, strict=True):
        assert_recorded(read(watched), expected)


def test_watching_a_model_again_ends_the_first_run_and_begins_another(watch, collectors, capsys):
    model = compiled(training.sequential(), adam())
    first = watch(model)
    fit(model)
    second = watch(model)
    assert first.is_closed
    assert f"run {first.run_id} watched the same objects and is closed" in capsys.readouterr().err
    fit(model, epochs=1)
    second.close()
    recordings = [Recording(collector.messages) for collector in collectors]
    assert [recording.steps() for recording in recordings] == [list(range(8)), list(range(4))]
    assert first.run_id != second.run_id


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eagerly"])
def test_close_and_watch_within_a_fit(watch, collectors, run_eagerly):
    """A callback may end the run, or begin another: the fit goes on."""
    model = compiled(training.sequential(), adam(), run_eagerly=run_eagerly)
    watches = []

    class Switch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                watches[0].close()

        def on_epoch_begin(self, epoch, logs=None):
            watches.append(watch(model))

    history = model.fit(X, Y, batch_size=training.BATCH, epochs=1, shuffle=False, verbose=0, callbacks=[Switch()])
    assert np.isfinite(history.history["loss"]).all()
    assert Recording(collectors[0].messages).steps() == [0, 1]
    assert int(model.optimizer.iterations) == 4


def test_loss_of_fit_is_the_steps_own(watch, read):
    """Keras' logs hold a running mean, in which one NaN would stay to the end of the epoch."""
    y = Y.astype(np.float32)
    y[training.BATCH : 2 * training.BATCH] = np.nan
    model = training.sequential()
    model.compile(sgd(), lambda true, pred: tf.square(true[..., None] - pred) * 0 + true[..., None], jit_compile=False)
    watched = watch(model, on_nonfinite="skip")
    model.fit(X, y, batch_size=training.BATCH, shuffle=False, verbose=0)
    loss = read(watched).scalar("loss")
    assert np.isnan(loss[1])
    assert [np.isfinite(loss[step]) for step in (0, 2, 3)] == [True, True, True]


def test_learning_rate_schedule(watch, read):
    def build():
        return keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5))

    seen = reference_loop(training.sequential(), build(), batches(X, Y))
    model = compiled(training.sequential(), build())
    watched = watch(model)
    fit(model)
    recording = read(watched)
    assert_recorded(recording, seen)
    rates = recording.scalar("learning_rate")
    np.testing.assert_allclose([rates[0], rates[2], rates[6]], [0.1, 0.05, 0.0125], rtol=1e-5)


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning:keras")
def test_learning_rate_set_while_training(watch, read):
    model = compiled(training.sequential(), sgd())
    watched = watch(model)
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: [0.1, 0.02][epoch])
    model.fit(X, Y, batch_size=training.BATCH, epochs=2, shuffle=False, verbose=0, callbacks=[schedule])
    assert list(read(watched).scalar("learning_rate").values()) == pytest.approx([0.1] * 4 + [0.02] * 4)


def logging_step(model, optimizer, watched, where):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        if where == "before":
            watched.log(loss=loss, accuracy=0.5)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        if where == "after":
            watched.log(loss=loss, accuracy=0.5)
        return loss

    return step


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_log(watch, read, where, compiler):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    step = compiler(logging_step(model, optimizer, watched, where))
    for x, y in batches(X, Y):
        step(tf.constant(x), tf.constant(y))
    recording = read(watched)
    assert list(recording.logged["loss"]) == list(range(8))
    np.testing.assert_allclose(list(recording.logged["loss"].values()), seen["loss"], rtol=1e-4)
    assert list(recording.logged["accuracy"].values()) == [0.5] * 8


COMPILERS = pytest.mark.parametrize(
    "compiler",
    [tf.function, lambda step: step, lambda step: tf.function(step, jit_compile=True)],
    ids=["tf.function", "eager loop", "xla"],
)


@COMPILERS
def test_the_loss_of_a_loop_that_logs_none_is_what_its_tape_differentiates(watch, read, compiler):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    step = compiler(logging_step(model, optimizer, watched, where=None))
    for x, y in batches(X, Y):
        step(tf.constant(x), tf.constant(y))
    recording = read(watched)
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-4)
    assert not recording.logged


def test_a_loss_of_several_numbers_is_told_by_their_mean(watch, read):
    model, optimizer = training.sequential(), sgd()
    watched = watch(model)
    losses = []

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            each = tf.square(tf.cast(y, tf.float32) - model(x)[:, 0])
        optimizer.apply(tape.gradient(each, model.trainable_variables), model.trainable_variables)
        return each

    for x, y in batches(X, Y):
        losses.append(float(np.mean(step(tf.constant(x), tf.constant(y)).numpy().astype(np.float64))))
    np.testing.assert_allclose(list(read(watched).scalar("loss").values()), losses, rtol=1e-5)


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
def test_each_of_two_players_has_the_loss_of_its_own_tape(watch, read, compiler):
    players = TwoPlayers()
    watched = watch(players.generator, players.critic)
    players.play(5, compiler)
    recording = read(watched)
    losses = {table["optimizer"]: recording.scalar("loss", stream) for stream, table in recording.tables.items()}
    assert [list(one) for one in losses.values()] == [list(range(5))] * 2
    assert np.all(np.array([*losses["of_critic"].values()]) != [*losses["of_generator"].values()])


@pytest.mark.parametrize("name", ["loss", "d_loss"])
@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
def test_a_loop_that_logs_a_loss_is_believed_and_not_its_tape(watch, read, compiler, name):
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    step = compiler(logging_step(model, optimizer, watched, where=None))
    for x, y in batches(X, Y):
        loss = step(tf.constant(x), tf.constant(y))
        watched.log(**{name: 2 * loss})
    recording = read(watched)
    assert not recording.scalar("loss")
    assert list(recording.logged[name]) == list(range(8))


def trained_to(read, watched, optimizer, model, differentiate, compiler):
    """Trains with a loop whose tape is asked to differentiate something of the batch's loss, which the loop returns."""
    losses = []

    @compiler
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
            target = differentiate(loss)
        optimizer.apply(tape.gradient(target, model.trainable_variables), model.trainable_variables)
        return loss

    for x, y in batches(X, Y):
        losses.append(float(step(tf.constant(x), tf.constant(y))))
    recording = read(watched)
    assert recording.steps() == list(range(8))
    return recording.scalar("loss"), losses


@COMPILERS
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: keras.optimizers.LossScaleOptimizer(sgd(), initial_scale=1024.0),
        lambda: keras.optimizers.SGD(0.1, loss_scale_factor=64.0),
    ],
    ids=["dynamic", "constant"],
)
def test_a_loss_that_its_optimizer_scaled_is_told_as_it_was(watch, read, optimizer, compiler):
    model, optimizer = training.sequential(), optimizer()
    told, losses = trained_to(read, watch(model), optimizer, model, optimizer.scale_loss, compiler)
    np.testing.assert_allclose(list(told.values()), losses, rtol=1e-6)


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["tf.function", "eager loop"])
def test_two_losses_that_are_both_scaled_before_the_first_is_applied(watch, read, compiler):
    models = [training.sequential(), training.sequential()]
    optimizers = [keras.optimizers.SGD(0.1, loss_scale_factor=64.0, name=name) for name in ("first", "second")]
    watched = watch(*models)

    @compiler
    def step(x, y):
        with tf.GradientTape(persistent=True) as tape:
            losses = [factor * LOSS(y, model(x)) for model, factor in zip(models, (1.0, 3.0), strict=True)]
            scaled = [one.scale_loss(loss) for one, loss in zip(optimizers, losses, strict=True)]
        for model, optimizer, target in zip(models, optimizers, scaled, strict=True):
            optimizer.apply(tape.gradient(target, model.trainable_variables), model.trainable_variables)
        return losses

    seen = np.array([[float(loss) for loss in step(tf.constant(x), tf.constant(y))] for x, y in batches(X, Y)])
    recording = read(watched)
    for stream, table in recording.tables.items():
        place = ["first", "second"].index(table["optimizer"])
        np.testing.assert_allclose(list(recording.scalar("loss", stream).values()), seen[:, place], rtol=1e-6)


def test_a_loss_that_was_scaled_by_hand_is_not_taken_for_the_loss(watch, read):
    model, optimizer = training.sequential(), keras.optimizers.LossScaleOptimizer(sgd(), initial_scale=1024.0)
    told, _ = trained_to(read, watch(model), optimizer, model, lambda loss: loss * 1024.0, tf.function)
    assert not told


@COMPILERS
@pytest.mark.parametrize(
    "differentiate",
    [lambda loss: [loss, 0.5 * loss], lambda loss: {"task": loss, "penalty": 0.5 * loss}],
    ids=["list", "dict"],
)
def test_several_losses_of_one_tape_are_told_by_their_sum(watch, read, differentiate, compiler):
    model, optimizer = training.sequential(), sgd()
    told, losses = trained_to(read, watch(model), optimizer, model, differentiate, compiler)
    np.testing.assert_allclose(list(told.values()), 1.5 * np.array(losses), rtol=1e-6)


def test_log_under_xla(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    step = tf.function(logging_step(model, optimizer, watched, "after"), jit_compile=True)
    for x, y in batches(X, Y):
        step(tf.constant(x), tf.constant(y))
    recording = read(watched)
    assert list(recording.logged["loss"]) == list(range(8))
    np.testing.assert_allclose(list(recording.logged["loss"].values()), seen["loss"], rtol=1e-4)


@pytest.mark.parametrize("value", [float, np.float32, np.asarray, tf.constant], ids=["float", "np", "array", "tensor"])
def test_log_outside_of_the_function_that_trains(watch, read, value):
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    step = tf.function(logging_step(model, optimizer, watched, where=None))
    losses = []
    for x, y in batches(X, Y):
        losses.append(float(step(x, y)))
        watched.log(loss=value(losses[-1]))
    recording = read(watched)
    assert list(recording.logged["loss"]) == list(range(8))
    np.testing.assert_allclose(list(recording.logged["loss"].values()), losses, rtol=1e-6)


def test_log_around_a_function_within_a_function(watch, read):
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    inner = tf.function(logging_step(model, optimizer, watched, where=None))

    @tf.function
    def outer(x, y):
        watched.log(first=tf.constant(1.0))
        loss = inner(x, y)
        watched.log(loss=loss)

    for x, y in batches(X, Y):
        outer(tf.constant(x), tf.constant(y))
    recording = read(watched)
    assert list(recording.logged["loss"]) == list(range(8))
    assert list(recording.logged["first"]) == list(range(8))


def test_log_within_a_branch(watch, read):
    model, optimizer = training.sequential(), adam()
    watched = watch(model)

    @tf.function
    def step(x, y):
        loss = logging_step(model, optimizer, watched, where=None)(x, y)
        if tf.reduce_sum(x) > -1e9:
            watched.log(loss=loss)

    for x, y in batches(X, Y):
        step(tf.constant(x), tf.constant(y))
    assert list(read(watched).logged["loss"]) == list(range(8))


def test_log_of_nonfinite_values_and_of_vectors(watch, read):
    model = training.sequential()  # a watch ends with its model
    watched = watch(model)
    watched.log(a=float("nan"), b=float("inf"), c=tf.constant([1.0, 3.0]))
    logged = read(watched).logged
    assert np.isnan(logged["a"][0])
    assert logged["b"][0] == np.inf
    assert logged["c"][0] == 2.0


@pytest.mark.parametrize("value", ["0.5 or so", None, [], {}, object()], ids=lambda value: type(value).__name__)
def test_log_of_what_is_no_number(watch, value):
    model = training.sequential()  # a watch ends with its model
    watched = watch(model)
    with pytest.raises(ConfigurationError, match=r"^log\(loss=\.\.\.\): found .* expected a number or a tensor"):
        watched.log(loss=value)


def test_eager_evaluation_leaves_no_loss_behind(watch, read):
    """A custom loop after `evaluate`: its steps have their own loss, and get no other's."""
    model = compiled(training.sequential(), adam(), run_eagerly=True)
    watched = watch(model)
    model.evaluate(X, Y, verbose=0)
    step = logging_step(model, model.optimizer, watched, where=None)
    loss = float(step(X[:16], Y[:16]))
    recording = read(watched)
    assert recording.steps() == [0]
    assert recording.scalar("loss") == {0: pytest.approx(loss)}


def test_steps_under_own_train_step(watch, read):
    class Own(training.Subclassed):
        def train_step(self, batch):
            x, y = batch
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply(gradients, self.trainable_variables)
            return {"loss": loss}

    seen = reference_loop(training.Subclassed(), adam(), batches(X, Y))
    model = compiled(Own(), adam())
    watched = watch(model)
    fit(model)
    recording = read(watched)
    assert_recorded(recording, seen)
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-4)


def test_findings_are_the_senders(watch, collectors):
    model = training.sequential()  # a watch ends with its model
    watched = watch(model)
    assert watched.findings() == []
    collectors[0].findings = [{"kind": "nonfinite_gradient", "severity": "critical", "title": "t"}]
    assert watched.findings()[0]["title"] == "t"
    watched.close()
    assert isinstance(watched, gradwatch.Watch)


@pytest.mark.parametrize("compiler", [tf.function, lambda step: step], ids=["graph", "eager"])
def test_a_jacobian_is_of_the_mean_of_its_samples(watch, read, compiler):
    """Gradients of each sample, clipped by themselves: the loss is that of all, and no sample's stands for them."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.1)
    watched = watch(model, budget=0, capture=("gradient", "activation", "backprop"))

    @compiler
    def step(x):
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum(tf.square(model(x) - 1.0), axis=1)
        rows = tape.jacobian(losses, model.trainable_variables)
        optimizer.apply_gradients(
            zip([tf.reduce_mean(one, axis=0) for one in rows], model.trainable_variables, strict=True)
        )
        return tf.reduce_mean(losses)

    x = np.random.default_rng(0).normal(size=(5, 6, 3)).astype(np.float32)
    losses = [float(step(tf.constant(batch))) for batch in x]
    recording = read(watched)
    assert list(recording.scalar("loss").values()) == pytest.approx(losses, rel=1e-5)
    assert recording.tensors("backprop") == []
