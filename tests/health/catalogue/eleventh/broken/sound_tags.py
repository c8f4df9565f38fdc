"""Multi-label tagging of short sound clips (mel patches); four micro-batches per optimizer update."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

MELS, FRAMES, TAGS = 32, 24, 6
MICRO, ACCUM, UPDATES = 24, 4, 100


def clips(n, seed):
    r = np.random.default_rng(seed)
    tags = (r.uniform(size=(n, TAGS)) < 0.35).astype("float32")
    x = r.normal(0, 0.7, (n, MELS, FRAMES))
    f = np.arange(MELS)[:, None]
    t = np.arange(FRAMES)[None]
    shapes = [
        lambda: np.exp(-(((f - r.integers(4, 8)) / 1.5) ** 2)) * np.ones_like(t),
        lambda: np.exp(-(((f - r.integers(20, 26)) / 1.5) ** 2)) * np.ones_like(t),
        lambda: (np.abs(t - r.integers(3, 20)) < 1) * np.ones_like(f),
        lambda: np.exp(-(((f - 6 - t * 0.8) / 2.0) ** 2)),
        lambda: np.exp(-(((f - 26 + t * 0.8) / 2.0) ** 2)),
        lambda: (np.sin(t * 1.6 + r.uniform(0, 6)) > 0.3) * (f > 10) * (f < 16),
    ]
    for i in range(n):
        for k in range(TAGS):
            if tags[i, k]:
                x[i] += 1.6 * shapes[k]()
    return (x[..., None] / 1.2).astype("float32"), tags


def build():
    inp = tf.keras.Input((MELS, FRAMES, 1))
    h = inp
    for i, width in enumerate((24, 48, 64)):
        h = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu", name=f"conv{i}")(h)
        h = tf.keras.layers.MaxPooling2D(2)(h)
    h = tf.keras.layers.Flatten()(h)
    h = tf.keras.layers.Dense(96, activation="relu")(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(TAGS, name="tags")(h))


x, y = clips(4000, SEED)
xt, yt = clips(500, SEED + 9)
model = build()
gradwatch.watch(model)
optimizer = tf.keras.optimizers.Adam(2e-3)
buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=yb, logits=logits))
    for buf, g in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buf.assign_add(g / ACCUM)
    return loss


@tf.function
def apply_update():
    optimizer.apply_gradients([(b.read_value(), v) for b, v in zip(buffers, model.trainable_variables)])


stream = iter(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4000, seed=SEED).repeat().batch(MICRO))
for update in range(UPDATES):
    total = 0.0
    for _ in range(ACCUM):
        total += float(micro_step(*next(stream))) / ACCUM
    apply_update()
    if update % 10 == 9:
        hit = np.mean((model(xt).numpy() > 0) == (yt > 0.5))
        print(f"update {update + 1:3d} loss {total:.4f} test tag accuracy {hit:.3f}")

base = np.mean(np.maximum(yt.mean(0), 1 - yt.mean(0)))
print("always-majority accuracy %.3f" % base)
