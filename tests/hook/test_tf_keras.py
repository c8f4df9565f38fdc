"""Models and optimizers of Keras 2: the numbers of every way to train them, against an instrumented loop's."""

import sys

import numpy as np
import pytest
import tensorflow as tf

from gradwatch import interception, legacy
from gradwatch.errors import TargetError
from gradwatch.patch import defining_classes
from tests.hook import training
from tests.hook.recording import Recording
from tests.hook.training import as_dense, assert_recorded, batches, data, tokens
from tests.numerics.reference import row

tf_keras = pytest.importorskip("tf_keras", reason="tf_keras (Keras 2) is not installed")

X, Y = data()
LOSS = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
SEED = tf_keras.initializers.GlorotUniform


def sequential():
    layers = [
        tf_keras.Input((training.WIDTH,), name="x"),
        tf_keras.layers.Dense(8, "relu", name="first", kernel_initializer=SEED(1)),
        tf_keras.layers.Dense(training.N_CLASSES, name="last", kernel_initializer=SEED(2)),
    ]
    return tf_keras.Sequential(layers, name="old_model")


class Subclassed(tf_keras.Model):
    """Built late: asked for its weights before, it raises."""

    def __init__(self):
        super().__init__(name="old_subclass")
        self.inner = tf_keras.layers.Dense(8, "relu", name="inner", kernel_initializer=SEED(1))
        self.last = tf_keras.layers.Dense(training.N_CLASSES, name="last", kernel_initializer=SEED(2))

    def call(self, x):
        return self.last(self.inner(x))


def embedding():
    x = tf_keras.Input((6,), dtype="int64")
    vectors = tf_keras.layers.Embedding(40, 4, name="vectors", embeddings_initializer=SEED(4))(x)
    flat = tf_keras.layers.Flatten(name="flat")(vectors)
    last = tf_keras.layers.Dense(training.N_CLASSES, name="last", kernel_initializer=SEED(2))
    return tf_keras.Model(x, last(flat), name="old_embedding")


def adam():
    return tf_keras.optimizers.Adam(0.01)


OPTIMIZERS = {
    "Adam": adam,
    "SGD with a schedule": lambda: tf_keras.optimizers.SGD(
        tf_keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5), momentum=0.9
    ),
    "legacy Adam": lambda: tf_keras.optimizers.legacy.Adam(0.01),
    "legacy SGD with decay and clipping": lambda: tf_keras.optimizers.legacy.SGD(0.1, decay=0.1, clipnorm=0.5),
    "legacy RMSprop with a schedule": lambda: tf_keras.optimizers.legacy.RMSprop(
        tf_keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5)
    ),
}


def rate_of(optimizer, step):
    """The rate that a step uses, from the optimizer's configuration."""
    rate = optimizer.get_config()["learning_rate"]
    if isinstance(rate, dict):
        config = rate["config"]
        return config["initial_learning_rate"] * config["decay_rate"] ** (step / config["decay_steps"])
    return rate / (1 + optimizer.get_config().get("decay", 0.0) * step)


def reference_loop(model, optimizer, given):
    """Trains eagerly and unwatched, and keeps what a monitor should have seen."""
    seen = {"loss": [], "learning_rate": [], "gradient_norm": []}
    for step, (x, y) in enumerate(given):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        variables = model.trainable_variables
        given_to_apply = tape.gradient(loss, variables)
        gradients = [as_dense(one) for one in given_to_apply]
        before = [variable.numpy() for variable in variables]
        seen["loss"].append(float(loss))
        seen["learning_rate"].append(rate_of(optimizer, step))
        seen["gradient_norm"].append(float(np.sqrt(sum(row(one)[0] ** 2 for one in gradients))))
        optimizer.apply_gradients(zip(given_to_apply, variables, strict=True))
        for variable, gradient, old in zip(variables, gradients, before, strict=True):
            new = variable.numpy()
            name = variable.name.removesuffix(":0")
            for kind, one in {"gradient": gradient, "weight": new, "update": new - old}.items():
                seen.setdefault((kind, name), []).append(row(one))
    return {key: np.array(values) for key, values in seen.items()}


def compiled(model, optimizer, **options):
    model.compile(optimizer, LOSS, **options)
    return model


def fit(model, x=X, y=Y, epochs=2):
    return model.fit(x, y, batch_size=training.BATCH, epochs=epochs, shuffle=False, verbose=0)


def loop(model, optimizer, given, compiler=tf.function):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    run = compiler(step)
    for x, y in given:
        run(tf.constant(x), tf.constant(y))


FITS = {
    "fit": {},
    "fit, jit": {"jit_compile": True},
    "fit, eagerly": {"run_eagerly": True},
    "fit, 4 steps in one execution": {"steps_per_execution": 4},
}


@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_fit(watch, read, options):
    seen = reference_loop(sequential(), adam(), batches(X, Y))
    model = compiled(sequential(), adam(), **options)
    watched = watch(model)
    fit(model)
    recording = read(watched)
    assert_recorded(recording, seen)
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-4)
    assert watched.collector.run["run"]["config"]["optimizer"] == "Adam"
    assert watched.collector.run["run"]["environment"]["tf_keras"] == tf_keras.__version__


LOOPS = {
    "tf.function": tf.function,
    "tf.function, jit": lambda step: tf.function(step, jit_compile=True),
    "eager loop": lambda step: step,
}


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_custom_loop(watch, read, compiler):
    seen = reference_loop(sequential(), adam(), batches(X, Y))
    model, optimizer = sequential(), adam()
    watched = watch(model)
    if compiler is LOOPS["tf.function, jit"]:
        optimizer.build(model.trainable_variables)  # Keras 2 cannot create its slots while XLA compiles
    loop(model, optimizer, batches(X, Y), compiler)
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_optimizers(watch, read, make):
    plain_model, plain = sequential(), make()
    seen = reference_loop(plain_model, plain, batches(X, Y))
    model = compiled(sequential(), make())
    watched = watch(model)
    fit(model)
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("make", [adam, OPTIMIZERS["legacy Adam"]], ids=["Adam", "legacy Adam"])
def test_optimizer_as_the_target(watch, read, make):
    seen = reference_loop(sequential(), make(), batches(X, Y))
    model, optimizer = sequential(), make()
    watched = watch(optimizer)
    loop(model, optimizer, batches(X, Y))
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("make", [adam, OPTIMIZERS["legacy Adam"]], ids=["Adam", "legacy Adam"])
def test_variables_of_the_optimizer_keep_their_names(watch, make):
    names = []
    for is_watched in (False, True):
        model, optimizer = sequential(), make()
        if is_watched:
            watch(model)
        loop(model, optimizer, batches(X, Y)[:1])
        variables = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
        names.append([variable.name for variable in variables])
    assert names[0] == names[1]


def test_built_late(watch, read):
    seen = reference_loop(Subclassed(), adam(), batches(X, Y))
    unbuilt = Subclassed()
    watched = watch(unbuilt, model := compiled(Subclassed(), adam()))
    fit(model)
    assert_recorded(read(watched), seen)


def test_sparse_gradients(watch, read):
    x, y = tokens()
    seen = reference_loop(embedding(), adam(), batches(x, y))
    model = compiled(embedding(), adam())
    watched = watch(model)
    fit(model, x, y)
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("make", [adam, OPTIMIZERS["legacy Adam"]], ids=["Adam", "legacy Adam"])
@pytest.mark.parametrize("target", ["model", "inner optimizer"])
def test_loss_scale(watch, read, make, target):
    """Keras 2 takes the factor off before it applies, Keras 3 after: the row shows the gradients without it."""
    seen = reference_loop(sequential(), make(), batches(X, Y))
    optimizer = make()
    scaled = tf_keras.mixed_precision.LossScaleOptimizer(optimizer, dynamic=False, initial_scale=1024.0)
    model = compiled(sequential(), scaled)
    watched = watch(model if target == "model" else optimizer)
    fit(model)
    recording = read(watched)
    assert recording.steps() == list(range(8)), "the inner optimizer's apply_gradients is no step of its own"
    assert list(recording.scalar("loss_scale").values()) == [1024.0] * 8
    norms = np.array(list(recording.scalar("gradient_norm").values()))
    np.testing.assert_allclose(norms, seen["gradient_norm"], rtol=1e-3)
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-4)
    np.testing.assert_allclose(list(recording.scalar("learning_rate").values()), seen["learning_rate"], rtol=1e-6)


def test_a_skipped_step_leaves_the_weights(watch, read):
    model = compiled(sequential(), adam())
    watched = watch(model, on_nonfinite="skip")
    model.train_on_batch(X[:16], Y[:16])
    weights = model.get_weights()
    model.train_on_batch(np.full_like(X[:16], np.nan), Y[:16])
    for found, expected in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(found, expected)
    model.train_on_batch(X[:16], Y[:16])
    recording = read(watched)
    assert list(recording.scalar("skipped").values()) == [0, 1, 0]
    assert recording.n_skipped == 1


def test_minimize(watch, read):
    seen = reference_loop(sequential(), adam(), batches(X, Y))
    model, optimizer = sequential(), adam()
    watched = watch(model)
    for x, y in batches(X, Y):
        optimizer.minimize(lambda x=x, y=y: LOSS(y, model(x)), lambda: model.trainable_variables)
    assert_recorded(read(watched), seen)


def test_loss_of_an_evaluation_belongs_to_no_step(watch, read):
    model = compiled(sequential(), adam(), run_eagerly=True)
    watched = watch(model)
    model.evaluate(X, Y, verbose=0)
    loop(model, model.optimizer, batches(X, Y)[:2], lambda step: step)
    recording = read(watched)
    assert recording.steps() == [0, 1]
    assert recording.scalar("loss") == {}


def test_operations_know_their_layer(watch, read):
    model = tf_keras.Sequential(
        [
            tf_keras.Input((training.WIDTH,), name="x"),
            tf_keras.layers.Dense(4, name="first"),
            tf_keras.layers.Lambda(lambda x: tf.math.log(tf.square(x) + 1.0), name="logarithm"),
            tf_keras.layers.Dense(training.N_CLASSES, name="last"),
        ]
    )
    watched = watch(compiled(model, adam()))
    fit(model, epochs=1)
    (table,) = read(watched).tables.values()
    (log,) = [one for one in table["operations"] if one["type"] == "Log"]
    assert log["layer"] == "logarithm"
    assert log["source"]["file"] == __file__
    gradients = [one for one in table["tensors"] if one["kind"] == "gradient"]
    assert {one["layer"] for one in gradients} == {"first", "last"}


def test_a_fit_traced_before_is_traced_anew_and_again_after(watch, read):
    model = compiled(sequential(), adam())
    fit(model, epochs=1)
    watched = watch(model)
    fit(model, epochs=1)
    recording = read(watched)
    assert recording.steps() == [0, 1, 2, 3]
    fit(model, epochs=1)
    assert Recording(watched.collector.messages).steps() == [0, 1, 2, 3]


def namespaces():
    optimizers = {cls for base in legacy.optimizer_classes() for cls in defining_classes(base, "apply_gradients")}
    models = {cls for model in (tf_keras.Model, Subclassed, tf_keras.Sequential) for cls in model.__mro__}
    return {(cls, name): value for cls in {*optimizers, *models} for name, value in vars(cls).items()}


def test_what_fit_measures_on_validation_data_is_logged(watch, read):
    model = compiled(sequential(), adam())
    watched = watch(model)
    options = {"batch_size": training.BATCH, "validation_data": (X, Y), "epochs": 2, "verbose": 0}
    history = model.fit(X, Y, **options).history
    found = {name: values for name, (_, values) in read(watched).logged_arrays()}
    np.testing.assert_allclose(found["val_loss"], history["val_loss"], rtol=1e-6)


def test_close_restores_every_class(watch):
    before = namespaces()
    watched = watch(compiled(Subclassed(), adam()), tf_keras.optimizers.legacy.SGD(0.1))
    changed = {name for cls, name in before if namespaces()[cls, name] is not before[cls, name]}
    assert changed == {"apply_gradients", "compute_loss", "test_step", "fit", "evaluate"}
    watched.close()
    assert namespaces() == before


def test_mistakes_of_the_user_stay_their_own(watch):
    model, optimizer = sequential(), adam()
    watch(model)
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply_gradients([(None, variable) for variable in model.trainable_variables])
    with pytest.raises(TypeError):
        optimizer.apply_gradients(None)
    with pytest.raises((TypeError, ValueError)):
        optimizer.apply_gradients(model.trainable_variables)


def test_saved_files_are_those_of_a_training_without_the_hook(watch, tmp_path):
    paths = []
    for is_watched in (False, True):
        tf_keras.utils.set_random_seed(1)
        model = compiled(sequential(), adam())
        if is_watched:
            watch(model)
        fit(model, epochs=1)
        paths.append(tmp_path / f"{is_watched}.keras")
        model.save(paths[-1])
    plain, watched = (tf_keras.models.load_model(path) for path in paths)
    assert plain.to_json() == watched.to_json()
    assert b"gradwatch" not in paths[1].read_bytes()
    for a, b in zip(plain.get_weights(), watched.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_what_is_neither_model_nor_optimizer(watch):
    with pytest.raises(TargetError, match=r"found 'MeanSquaredError .*expected a Keras model, layer or optimizer"):
        watch(tf_keras.losses.MeanSquaredError())


def test_without_tf_keras_nothing_is_asked_of_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "tf_keras")
    assert legacy.optimizer_classes() == (tf.compat.v1.train.Optimizer,)
    assert legacy.model_classes() == ()
    assert not legacy.is_model(sequential)
    assert legacy.version() is None
    assert not interception.active_observers()


def test_weights_that_are_put_back_between_steps(watch, read):
    model = sequential()
    model.compile(tf_keras.optimizers.SGD(0.1), LOSS)
    watched = watch(model)
    base = model.get_weights()
    for _ in range(3):
        model.train_on_batch(X[:16], Y[:16])
        model.set_weights(base)
    found = [one for message in read(watched).rows[0] for one in message["assigned"]]
    assert [(one["step"], one["left"]) for one in found] == [(0, 0.0), (1, 0.0)]
