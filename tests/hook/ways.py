"""The ways in which one model is trained on one batch after another, each watched in full."""

import keras
import tensorflow as tf

__all__ = ["WAYS", "by_fit", "by_loop"]

BATCH = 32


def by_fit(watch, model, optimizer, x, y, epochs, **options):
    model.compile(optimizer, "mse", **options)
    watched = watch(model, budget=0)
    model.fit(x, y, batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0)
    return watched


def by_loop(watch, model, optimizer, x, y, epochs, *, is_eager=False, loss_of=None):
    loss_of = loss_of or keras.losses.MeanSquaredError()
    watched = watch(model, optimizer, budget=0)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y if y.shape.rank > 1 else y[:, None], model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
        return loss

    run = step if is_eager else tf.function(step)
    for x_batch, y_batch in tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH).repeat(epochs):
        run(x_batch, y_batch)
    return watched


WAYS = {
    "fit": by_fit,
    "jit": lambda *given: by_fit(*given, jit_compile=True),
    "steps per execution": lambda *given: by_fit(*given, steps_per_execution=3),
    "fit eagerly": lambda *given: by_fit(*given, run_eagerly=True),
    "loop": by_loop,
    "eager loop": lambda *given: by_loop(*given, is_eager=True),
}
