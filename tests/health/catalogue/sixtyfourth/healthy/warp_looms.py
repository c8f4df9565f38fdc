import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

THREADS = 10
BATCH = 64
STEPS = 7200
CYCLE = 400


def make_cloth(rng, rows):
    x = rng.normal(size=(rows, THREADS))
    clean = 2 * np.sin(x[:, 0]) + x[:, 1] * x[:, 2] - np.abs(x[:, 3]) + 0.5 * x[:, 4]
    snag = 0.3 * rng.standard_t(1.5, rows)
    return x.astype("float32"), (clean + snag).astype("float32"), clean


rng = np.random.default_rng(SEED)
x, y, _ = make_cloth(rng, 8000)
x_test, _, clean_test = make_cloth(rng, 1500)

model = keras.Sequential(
    [
        keras.Input((THREADS,)),
        keras.layers.Dense(96, activation="swish", name="warp"),
        keras.layers.LayerNormalization(name="even"),
        keras.layers.Dense(64, activation="swish", name="weft"),
        keras.layers.Dense(1, name="tension"),
    ]
)
schedule = keras.optimizers.schedules.CosineDecayRestarts(
    5e-3, first_decay_steps=CYCLE, t_mul=1.0, m_mul=0.8, alpha=0.01
)
optimizer = keras.optimizers.Adam(schedule, global_clipnorm=5.0)
huber = keras.losses.Huber(delta=1.0)
watch = gradwatch.watch(model)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = huber(yb[:, None], model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


recent = []
for i in range(STEPS):
    pick = rng.integers(0, len(x), BATCH)
    recent.append(float(step(tf.constant(x[pick]), tf.constant(y[pick]))))
    if (i + 1) % CYCLE == 0:
        print("step", i + 1, "loss", np.mean(recent), "worst", np.max(recent))
        recent = []

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", float(r2_score(clean_test, pred)))
