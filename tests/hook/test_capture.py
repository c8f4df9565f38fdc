"""The numbers of every way to train, against the instrumented loop's."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.hook import training
from tests.hook.training import LOSS, assert_close, assert_recorded, batches, data, reference_loop
from tests.numerics.reference import block

X, Y = data()
FIRST, BIAS = "sequential_model/first/kernel", "sequential_model/first/bias"


def adam():
    return keras.optimizers.Adam(0.01)


def sgd(**options):
    return keras.optimizers.SGD(0.1, **options)


def compiled(model, optimizer, **options):
    model.compile(optimizer, LOSS, **{"jit_compile": False, **options})
    return model


def fit(model, x=X, y=Y, epochs=2):
    return model.fit(x, y, batch_size=training.BATCH, epochs=epochs, shuffle=False, verbose=0)


def loop(model, optimizer, given, *, compiler, after=lambda loss: None):
    """A custom loop: eagerly (``compiler=None``), or under `tf.function`."""

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    run = step if compiler is None else compiler(step)
    for x, y in given:
        after(run(tf.constant(x), tf.constant(y)))


FITS = {
    "fit": {},
    "fit, jit": {"jit_compile": True},
    "fit, eagerly": {"run_eagerly": True},
    "fit, 4 steps in one execution": {"steps_per_execution": 4},
    "fit, jit, 4 steps in one execution": {"steps_per_execution": 4, "jit_compile": True},
}
LOOPS = {
    "tf.function": tf.function,
    "tf.function, jit": lambda step: tf.function(step, jit_compile=True),
    "eager loop": None,
}


@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_fit(watch, read, options):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model = compiled(training.sequential(), adam(), **options)
    watched = watch(model)
    fit(model)
    recording = read(watched)
    assert_recorded(recording, seen)
    loss = recording.scalar("loss")
    np.testing.assert_allclose(list(loss.values()), seen["loss"], rtol=1e-4)
    assert recording.n_lost == 0


@pytest.fixture
def all_eagerly():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.filterwarnings("ignore:Even though the")  # of `fit` itself: its data set is a graph still
@pytest.mark.usefixtures("all_eagerly")
@pytest.mark.parametrize("is_loop", [False, True], ids=["fit", "tf.function"])
def test_where_functions_are_told_to_run_eagerly_steps_are_recorded_all_the_same(watch, read, is_loop):
    """A user's breakpoints are in the user's functions: what measures beside them is a graph as ever."""
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = compiled(training.sequential(), adam()), adam()
    watched = watch(model, optimizer) if is_loop else watch(model)
    if is_loop:
        loop(model, optimizer, batches(X, Y), compiler=tf.function)
    else:
        fit(model)
    assert_recorded(read(watched), seen)
    assert tf.config.functions_run_eagerly(), "what the user asked for still holds"


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_custom_loop(watch, read, compiler):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = training.sequential(), adam()
    watched = watch(model)
    loop(model, optimizer, batches(X, Y), compiler=compiler)
    assert_recorded(read(watched), seen)


def test_optimizer_as_the_target(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = training.sequential(), adam()
    watched = watch(optimizer)
    loop(model, optimizer, batches(X, Y), compiler=tf.function)
    assert_recorded(read(watched), seen)


def test_a_loop_around_a_compiled_models_own_optimizer_and_apply(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model = compiled(training.sequential(), adam())
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        model.optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for x, y in batches(X, Y):
        step(x, y)
    assert_recorded(read(watched), seen)


def test_apply_without_variables(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model, optimizer = training.sequential(), adam()
    optimizer.build(model.trainable_variables)
    watched = watch(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables))

    for x, y in batches(X, Y):
        step(x, y)
    assert_recorded(read(watched), seen)


def test_train_on_batch(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    for x, y in batches(X, Y):
        model.train_on_batch(x, y)
    recording = read(watched)
    assert_recorded(recording, seen)
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-4)


@pytest.mark.parametrize("build", [training.functional, training.Subclassed, training.shared_layer])
def test_models(watch, read, build):
    reference = build()
    seen = reference_loop(reference, adam(), batches(X, Y))
    model = compiled(build(), adam())
    watched = watch(model)
    fit(model)
    recording = read(watched)
    assert recording.tensors() == [variable.path for variable in model.trainable_variables]
    assert_recorded(recording, seen)


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=["fit", "jit", "eagerly"])
def test_embedding(watch, read, options):
    x, y = training.tokens()
    seen = reference_loop(training.embedding(), sgd(), batches(x, y))
    model = compiled(training.embedding(), sgd(), **options)
    watched = watch(model)
    fit(model, x, y)
    assert_recorded(read(watched), seen)


def test_last_batch_smaller_than_the_others(watch, read):
    """`fit` then traces for any batch size: no static shape of activations or of sparse gradients."""
    x, y = (part[: 3 * training.BATCH + 5] for part in training.tokens())
    seen = reference_loop(training.embedding(), sgd(), batches(x, y))
    model = compiled(training.embedding(), sgd())
    watched = watch(model)
    fit(model, x, y)
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eagerly"])
def test_gradient_that_is_none_is_recorded_as_missing(watch, read, run_eagerly):
    class WithUnused(training.Subclassed):
        def __init__(self):
            super().__init__()
            self.unused = training.dense(4, "unused")
            self.unused.build((None, training.WIDTH))

    with pytest.warns(UserWarning, match="Gradients do not exist"):
        seen = reference_loop(WithUnused(), sgd(), batches(X, Y, epochs=1))
    model = compiled(WithUnused(), sgd(), run_eagerly=run_eagerly)
    watched = watch(model)
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        fit(model, epochs=1)
    recording = read(watched)
    (kernel,) = [name for name in recording.tensors() if name.endswith("unused/kernel")]
    missing = recording.statistics("gradient", kernel)
    assert (missing[:, 9] == 0).all()
    assert np.isnan(missing[:, :9]).all()
    (entry,) = [t for t in recording.tables[0]["tensors"] if (t["kind"], t["tensor"]) == ("gradient", kernel)]
    assert entry["n_elements"] == 4 * training.WIDTH, "the table gives the variable's real size"
    assert_recorded(recording, seen)


@pytest.mark.parametrize("clip", [{"clipnorm": 1e-3}, {"global_clipnorm": 1e-3}], ids=str)
def test_gradients_are_taken_before_the_optimizer_clips_them(watch, read, clip):
    seen = reference_loop(training.sequential(), sgd(**clip), batches(X, Y, epochs=1))
    model = compiled(training.sequential(), sgd(**clip))
    watched = watch(model)
    fit(model, epochs=1)
    recording = read(watched)
    assert_recorded(recording, seen)
    assert min(recording.scalar("gradient_norm").values()) > 0.01, "far above what clipping leaves"


@pytest.mark.parametrize("target", ["model", "inner optimizer"])
def test_loss_scale_optimizer_as_received(watch, read, target):
    """Gradients are recorded with the scale that `apply` receives them with, and the scale beside them."""
    scaled = keras.optimizers.LossScaleOptimizer(sgd(), initial_scale=1024.0, dynamic_growth_steps=3)
    seen = reference_loop(training.sequential(), scaled, batches(X, Y), scale_loss=True)
    inner = sgd()
    wrapper = keras.optimizers.LossScaleOptimizer(inner, initial_scale=1024.0, dynamic_growth_steps=3)
    model = training.sequential()
    watched = watch(model if target == "model" else inner)
    fit(compiled(model, wrapper))
    recording = read(watched)
    assert_recorded(recording, seen)
    assert list(recording.scalar("loss_scale").values()) == [1024.0] * 3 + [2048.0] * 3 + [4096.0] * 2
    np.testing.assert_allclose(list(recording.scalar("loss").values()), seen["loss"], rtol=1e-3)


def test_mixed_precision(watch, read):
    """float16 activations, and the loss scale that Keras wraps around the optimizer by itself."""
    x = keras.Input((training.WIDTH,))
    hidden = keras.layers.Dense(8, "relu", dtype="mixed_float16", name="half")(x)
    model = keras.Model(x, keras.layers.Dense(3, dtype="float32", name="last")(hidden))
    watched = watch(model)
    fit(compiled(model, sgd(), auto_scale_loss=True), epochs=1)
    recording = read(watched)
    assert recording.steps() == [0, 1, 2, 3]
    assert np.isfinite(recording.statistics("gradient", "half/kernel")[:, :10]).all()


def test_frozen_layers_are_not_in_the_table(watch, read):
    def build():
        model = training.sequential()
        model.layers[0].trainable = False
        return model

    seen = reference_loop(build(), adam(), batches(X, Y))
    model = compiled(build(), adam())
    watched = watch(model)
    fit(model)
    recording = read(watched)
    assert recording.tensors() == ["sequential_model/last/kernel", "sequential_model/last/bias"]
    assert_recorded(recording, seen)


def test_gradient_accumulation_shows_updates_where_they_happen(watch, read):
    options = {"gradient_accumulation_steps": 2}
    seen = reference_loop(training.sequential(), sgd(**options), batches(X, Y))
    model = compiled(training.sequential(), sgd(**options))
    watched = watch(model)
    fit(model)
    for kind, path in [key for key in seen if key[0] in ("weight", "update")]:
        seen[kind, path][::2] = np.nan  # nothing changes at the micro-steps between: nothing is read
    assert_recorded(read(watched), seen)


@pytest.mark.parametrize("compiler", LOOPS.values(), ids=LOOPS)
def test_sums_of_gradients_handed_over_as_the_variables_that_hold_them(watch, read, compiler):
    """Two micro-steps a step, added up by hand; the sums are set back to zero after each."""
    given = batches(X, Y)[:8]
    seen, recorded = [], None
    for is_watched in (False, True):
        keras.backend.clear_session(free_memory=False)
        model, optimizer = training.sequential(), sgd()
        optimizer.build(model.trainable_variables)
        sums = [tf.Variable(tf.zeros_like(variable), trainable=False) for variable in model.trainable_variables]
        watched = watch(model, optimizer) if is_watched else None

        def add(x, y, model=model, sums=sums):
            with tf.GradientTape() as tape:
                loss = LOSS(y, model(x, training=True))
            for one, gradient in zip(sums, tape.gradient(loss, model.trainable_variables), strict=True):
                one.assign_add(gradient)

        def apply(model=model, sums=sums, optimizer=optimizer):
            optimizer.apply_gradients(zip(sums, model.trainable_variables, strict=True))

        if compiler is not None:
            add, apply = compiler(add), compiler(apply)
        for n, (x, y) in enumerate(given):
            add(tf.constant(x), tf.constant(y))
            if n % 2:
                if not is_watched:
                    seen.append([one.numpy() for one in sums])
                apply()
                for one in sums:
                    one.assign(tf.zeros_like(one))
        if watched is not None:
            recorded = read(watched)
    assert recorded is not None
    assert recorded.steps() == list(range(len(given) // 2))
    for place, path in enumerate(recorded.tensors()):
        found = recorded.statistics("gradient", path)
        assert_close(found, block(*(step[place] for step in seen)), path)


def test_capture_of_gradients_alone(watch, read):
    model = compiled(training.sequential(), adam())
    watched = watch(model, capture="gradient")
    fit(model)
    recording = read(watched)
    assert {tensor["kind"] for tensor in recording.tables[0]["tensors"]} == {"gradient"}
    assert recording.steps() == list(range(8))


def test_every_thins_all_but_norm_and_nonfinite_counts(watch, read):
    seen = reference_loop(training.sequential(), adam(), batches(X, Y))
    model = compiled(training.sequential(), adam())
    watched = watch(model, every=3)
    fit(model)
    recording = read(watched)
    found, expected = recording.statistics("gradient", FIRST), seen["gradient", FIRST]
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=1e-3)
    assert (found[:, 5:8] == 0).all(), "at every step"
    is_full = np.isfinite(found[:, 1])
    assert is_full.tolist() == [step % 3 == 0 for step in range(8)]
    assert_close(found[is_full], expected[is_full])
    weights = recording.statistics("weight", FIRST)
    assert np.isnan(weights[~is_full]).all()
    assert_close(weights[is_full], seen["weight", FIRST][is_full])
    assert_close(recording.statistics("update", BIAS)[is_full], seen["update", BIAS][is_full])


def test_tensor_table(watch, read):
    model = compiled(training.sequential(), adam())
    watched = watch(model)
    fit(model, epochs=1)
    table = read(watched).tables[0]
    kernels = [tensor for tensor in table["tensors"] if tensor["tensor"] == FIRST]
    assert [tensor["kind"] for tensor in kernels] == ["gradient", "weight", "update"]
    for tensor in kernels:
        assert (tensor["layer"], tensor["variable"]) == ("sequential_model/first", "kernel")
        assert (tensor["shape"], tensor["n_elements"], tensor["dtype"]) == ([5, 8], 40, "float32")
    assert table["optimizer"] == model.optimizer.name


def test_run_describes_itself(watch, collectors):
    model = compiled(training.sequential(), adam())
    watched = watch(model, name="mine", project="p", tags=["a"], config={"batch_size": 16, "rate": float("nan")})
    run = collectors[0].run["run"]
    assert (run["run_id"], run["name"], run["project"], run["tags"]) == (watched.run_id, "mine", "p", ["a"])
    assert run["config"]["batch_size"] == 16
    assert run["config"]["optimizer"] == "Adam"
    assert run["config"]["model.n_parameters"] == 5 * 8 + 8 + 8 * 3 + 3
    assert run["config"]["optimizer.learning_rate"] == pytest.approx(0.01)
    assert run["environment"]["tensorflow"] == tf.__version__
    assert watched.url.endswith(f"/runs/{watched.run_id}")


def test_end_of_the_run_is_said_once_and_last(watch, read):
    model = compiled(training.sequential(), adam())
    with watch(model) as watched:
        fit(model)
    watched.close()
    messages = watched.collector.messages
    states = [message for message in messages if message["type"] == "state"]
    assert states == [messages[-1]]
    assert (states[0]["state"], states[0]["error"], states[0]["last_step"]) == ("finished", None, 7)
    assert watched.collector.is_closed


def test_a_crash_in_the_block_is_told(watch):
    with pytest.raises(RuntimeError, match="out of cheese"), watch(training.sequential()) as watched:
        raise RuntimeError("out of cheese")
    state = watched.collector.messages[-1]
    assert (state["state"], state["error"]) == ("crashed", "RuntimeError: out of cheese")
