"""Trainings under `tf.distribute` over two virtual devices, watched; and the loop that says what their numbers are.

    python -m tests.hook.replicas OUT [CASE ...]

Virtual devices must be made before TensorFlow starts, so this is a process of its own. It writes what each training's
hook said, with the reference, to OUT.
"""

import contextlib
import functools
import io
import pickle
import sys
import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import gradwatch
from gradwatch import session
from tests.hook import training
from tests.hook.recording import Collector
from tests.hook.training import LOSS, as_dense, batches, data
from tests.numerics.reference import row

X, Y = data()
SICK = X.copy()
SICK[2 * training.BATCH + training.BATCH // 2 + 1] = np.nan  # of the third batch, in the second replica's half
N_REPLICAS = 2
CASES = {}


def halves(x, y):
    """What each replica gets of a batch."""
    n = len(x) // N_REPLICAS
    return [(x[i : i + n], y[i : i + n]) for i in range(0, len(x), n)]


def reference(model, optimizer, given, *, clip=lambda gradients: gradients):
    """Trains a model on one device as the replicas do together: each part of the batch by itself.

    Returns:
        What of the optimizer should have been seen, and what of each replica, as `training.reference_loop` gives it.
    """
    applied = {"loss": [], "learning_rate": [], "gradient_norm": []}
    own = [{"loss": [], "learning_rate": [], "gradient_norm": []} for _ in range(N_REPLICAS)]
    variables = model.trainable_variables
    optimizer.build(variables)
    for x, y in given:
        parts = []
        for seen, (part_x, part_y) in zip(own, halves(x, y), strict=True):
            with tf.GradientTape() as tape:
                loss = LOSS(part_y, model(part_x, training=True))
            gradients = [as_dense(one) / N_REPLICAS for one in tape.gradient(loss, variables)]
            seen["loss"].append(float(loss))
            keep(seen, "gradient", variables, gradients)
            parts.append(clip([tf.constant(one, tf.float32) for one in gradients]))
        sums = [sum(one.numpy() for one in parts_of_one) for parts_of_one in zip(*parts, strict=True)]
        before = [variable.numpy() for variable in variables]
        applied["loss"].append(np.mean([seen["loss"][-1] for seen in own]))
        applied["learning_rate"].append(float(optimizer.learning_rate))
        optimizer.apply([tf.constant(one, tf.float32) for one in sums], variables)
        after = [variable.numpy() for variable in variables]
        keep(applied, "gradient", variables, sums)
        keep(applied, "weight", variables, after)
        keep(applied, "update", variables, [new - old for new, old in zip(after, before, strict=True)])
    return [{key: np.array(values) for key, values in seen.items()} for seen in (applied, *own)]


def keep(seen, kind, variables, tensors):
    rows = [row(tensor) for tensor in tensors]
    for variable, one in zip(variables, rows, strict=True):
        seen.setdefault((kind, variable.path), []).append(one)
    if kind == "gradient":
        seen["gradient_norm"].append(float(np.sqrt(np.square([one[0] for one in rows]).sum())))


def case(function):
    CASES[function.__name__] = function
    return function


@functools.cache
def mirrored(devices=("CPU:0", "CPU:1")):
    """One strategy for all: the collectives of a second one on the same devices take the first one's for their own."""
    return tf.distribute.MirroredStrategy(list(devices))


def build(strategy, optimizer, *, make=training.sequential, is_built=True, **compile_options):
    """A model and its optimizer in a strategy's scope; compiled where options are given."""
    with strategy.scope():
        model, optimizer = make(), optimizer()
        if is_built:
            optimizer.build(model.trainable_variables)
        if compile_options:
            model.compile(optimizer, LOSS, **{"jit_compile": False, **compile_options})
    return model, optimizer


def fit(model, x=X, epochs=1):
    model.fit(x, Y, batch_size=training.BATCH, epochs=epochs, shuffle=False, verbose=0)


def loop(strategy, model, optimizer, *, x=X, y=Y, compiler=tf.function, watched=None, apply=None):
    """A custom loop; the loss is divided by the batch's size in all replicas, as TensorFlow's guide has it."""

    def step(x, y):
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(y, model(x, training=True), from_logits=True)
            loss = tf.reduce_sum(losses) / training.BATCH
        gradients = tape.gradient(loss, model.trainable_variables)
        (apply or optimizer.apply)(gradients, model.trainable_variables)
        if watched is not None:
            watched.log(part=loss)
        return loss

    @compiler
    def train(x, y):
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(training.BATCH)
    for batch in strategy.experimental_distribute_dataset(dataset):
        loss = train(*batch)
        if watched is not None:
            watched.log(whole=loss)


def watch(*targets, budget=0, **options):
    return gradwatch.watch(*targets, budget=budget, **options)


def adam():
    return keras.optimizers.Adam(0.01)


def given(x=X, y=Y):
    return batches(x, y, epochs=1)


@case
def fitted():
    model, _ = build(mirrored(), adam, jit_compile=False)
    with watch(model):
        fit(model)
    return reference(training.sequential(), adam(), given())


@case
def looped():
    strategy = mirrored()
    model, optimizer = build(strategy, adam)
    with watch(model) as watched:
        loop(strategy, model, optimizer, watched=watched)
    return reference(training.sequential(), adam(), given())


@case
def looped_eagerly_with_an_optimizer_not_built():
    strategy = mirrored()
    model, optimizer = build(strategy, adam, is_built=False)
    with watch(model) as watched:
        loop(strategy, model, optimizer, compiler=lambda train: train, watched=watched)
    return reference(training.sequential(), adam(), given())


@case
def clipped_and_decayed():
    """Keras clips in each replica, before the reduction; weight decay belongs to the update."""
    strategy = mirrored()
    options = {"learning_rate": 0.01, "weight_decay": 0.1}
    model, optimizer = build(strategy, lambda: keras.optimizers.AdamW(**options, global_clipnorm=0.1))
    with watch(optimizer):
        loop(strategy, model, optimizer)
    clip = lambda gradients: tf.clip_by_global_norm(gradients, 0.1)[0]  # noqa: E731
    return reference(training.sequential(), keras.optimizers.AdamW(**options), given(), clip=clip)


@case
def sparse():
    strategy = mirrored()
    x, y = training.tokens()
    model, optimizer = build(strategy, lambda: keras.optimizers.SGD(0.1), make=training.embedding)
    with watch(model):
        loop(strategy, model, optimizer, x=x, y=y)
    return reference(training.embedding(), keras.optimizers.SGD(0.1), given(x, y))


@case
def left_out():
    """The body's gradient is stopped, and the loop gives the optimizer the head's alone."""
    strategy = mirrored()

    def make():
        first, last = training.sequential().layers
        stop = keras.layers.Lambda(tf.stop_gradient)
        return keras.Sequential([keras.Input((training.WIDTH,)), first, stop, last], name="sequential_model")

    model, optimizer = build(strategy, adam, make=make, is_built=False)
    with strategy.scope():
        optimizer.build(model.trainable_variables[2:])

    def apply(gradients, variables):
        pairs = zip(gradients, variables, strict=True)
        optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])

    with watch(model):
        loop(strategy, model, optimizer, apply=apply)


@case
def loss_scaled():
    """The optimizer reduces the gradients within a conditional, where they cannot be read."""
    scaled = lambda: keras.optimizers.LossScaleOptimizer(adam(), initial_scale=1024.0)  # noqa: E731
    model, _ = build(mirrored(), scaled, jit_compile=False)
    with watch(model):
        fit(model)
    return reference(training.sequential(), adam(), given())


@case
def sick():
    """The second replica's half of the third batch holds a NaN; full statistics are thinned."""
    model, _ = build(mirrored(), adam, make=training.smooth, jit_compile=False)
    with watch(model, every=100):
        fit(model, SICK)
    return reference(training.smooth(), adam(), given(SICK))


@case
def raised():
    model, _ = build(mirrored(), adam, jit_compile=False)
    with watch(model, on_nonfinite="raise") as watched:
        try:
            fit(model, SICK, epochs=5_000)
        except gradwatch.NonFiniteError as error:
            watched.close(error)
            return str(error)
    return "nothing was raised"


@case
def skipped():
    """Not to be done: said at once where the strategy is known, else when it is met."""
    strategy = mirrored()
    model, _ = build(strategy, adam)
    try:
        watch(model, on_nonfinite="skip")
    except gradwatch.ConfigurationError as error:
        refusal = str(error)
    outside = training.sequential()
    with watch(outside, on_nonfinite="skip"):
        gradients = [tf.zeros_like(variable) for variable in outside.trainable_variables]
        taken = loop_over(strategy, gradients, outside)
    return refusal, taken


def loop_over(strategy, gradients, model):
    with strategy.scope():
        optimizer = keras.optimizers.SGD(0.1)
    with contextlib.suppress(Exception):  # whether TensorFlow can do it is its own affair
        strategy.run(lambda: optimizer.apply(gradients, model.trainable_variables))
    return True


@case
def two_optimizers():
    """Two optimizers in one step share its number, in every replica."""
    strategy = mirrored()
    model, first = build(strategy, lambda: keras.optimizers.SGD(0.1, name="front"), is_built=False)
    with strategy.scope():
        second = keras.optimizers.SGD(0.1, name="back")
        first.build(model.trainable_variables[:2])
        second.build(model.trainable_variables[2:])

    def apply(gradients, variables):
        first.apply(gradients[:2], variables[:2])
        second.apply(gradients[2:], variables[2:])

    with watch(model):
        loop(strategy, model, first, apply=apply)


@case
def alone_compiled():
    """A mirrored strategy of one device is no different from none, but for its variables; compiled by XLA here."""
    strategy = mirrored(("CPU:0",))
    model, optimizer = build(strategy, adam)
    with watch(model):
        loop(strategy, model, optimizer, compiler=tf.function(jit_compile=True))
    return training.reference_loop(training.sequential(), adam(), given())


@case
def compiled_over_two():
    """XLA over two CPUs: what TensorFlow says."""
    model, optimizer = build(mirrored(), adam)
    try:
        loop(mirrored(), model, optimizer, compiler=tf.function(jit_compile=True))
    except tf.errors.OpError as error:
        return error.message
    return "trained"


@case
def one_device():
    model, _ = build(tf.distribute.OneDeviceStrategy("CPU:1"), adam, jit_compile=False)
    with watch(model):
        fit(model)
    return training.reference_loop(training.sequential(), adam(), given())


class UnknownStrategy(tf.distribute.Strategy):
    """A strategy that the hook has never heard of; it does what one device does."""

    def __init__(self):
        super().__init__(tf.distribute.OneDeviceStrategy("CPU:0").extended)


@case
def central_storage():
    strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0")
    return refuse(strategy)


@case
def unknown():
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    strategy.__class__ = UnknownStrategy
    return refuse(strategy)


def refuse(strategy):
    """Trains once watched and once not; gives the weights of both, or what TensorFlow itself cannot do."""
    results = []
    for is_watched in (True, False):
        model, optimizer = build(strategy, lambda: keras.optimizers.SGD(0.1))
        with watch(model) if is_watched else contextlib.nullcontext():
            try:
                loop(strategy, model, optimizer)
                results.append(model.get_weights())
            except Exception as error:
                results.append(f"{type(error).__name__}: {error}"[:200])
    return results


@case
def broken_in_one_replica():
    """The hook fails in the second replica alone: the replicas must not wait for each other, and training goes on."""
    from gradwatch.probe import Stream

    honest = Stream.before

    def before(self, *arguments):
        if self.replica == 1:
            raise RuntimeError("a mistake in the hook")
        return honest(self, *arguments)

    strategy = mirrored()
    model, optimizer = build(strategy, adam)
    Stream.before = before
    try:
        with watch(model):
            loop(strategy, model, optimizer)
    finally:
        Stream.before = honest
    plain, optimizer = build(strategy, adam)
    loop(strategy, plain, optimizer)
    return model.get_weights(), plain.get_weights()


def main(out, *names):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * N_REPLICAS)
    tf.config.experimental.enable_op_determinism()
    keras.utils.set_random_seed(0)
    collected = []
    session.Sender = lambda **arguments: collected.append(Collector(**arguments)) or collected[-1]
    results = {}
    for name in names or CASES:
        collected.clear()
        keras.utils.clear_session()  # names count from the start
        said, began_s = io.StringIO(), time.process_time()
        with contextlib.redirect_stderr(said):
            result = CASES[name]()
        results[name] = {
            "messages": [collector.messages for collector in collected],
            "said": said.getvalue(),
            "result": result,
            "cpu_s": time.process_time() - began_s,
        }
    Path(out).write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
