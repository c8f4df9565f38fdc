import math
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# --- synthetic phase-contrast tiles: bright round cells, debris, uneven background
S = 32
yy, xx = np.mgrid[:S, :S].astype("float32")


def tile():
    img = 0.25 + 0.1 * np.sin(xx / rng.uniform(8, 20) + rng.uniform(0, 6))
    heat = np.zeros((S, S), "float32")
    for _ in range(rng.integers(1, 5)):
        cy, cx = rng.uniform(4, S - 4, 2)
        r = rng.uniform(2.2, 3.2)
        d2 = (yy - cy) ** 2 + (xx - cx) ** 2
        img = img + 0.5 * np.exp(-d2 / (2 * r * r))
        heat = np.maximum(heat, np.exp(-d2 / 3.0))
    for _ in range(rng.integers(0, 4)):
        py, px = rng.integers(0, S, 2)
        img[py, px] += 0.6
    return np.clip(img + rng.normal(0, 0.06, (S, S)), 0, 1.5), heat


def dataset(n):
    pairs = [tile() for _ in range(n)]
    return (
        np.stack([p[0] for p in pairs])[..., None].astype("float32"),
        np.stack([p[1] for p in pairs])[..., None].astype("float32"),
    )


x_train, h_train = dataset(960)
x_test, h_test = dataset(200)

# rare positives: start from a low probability as in RetinaNet
prior = keras.initializers.Constant(-math.log((1 - 0.01) / 0.01))


def build_detector(width=12):
    image = keras.Input((S, S, 1))
    f = layers.Conv2D(width, 3, padding="same", activation="relu", name="stem")(image)
    f = layers.Conv2D(width, 3, padding="same", activation="relu", name="body")(f)
    for i in range(2):
        f = layers.Conv2D(width, 3, padding="same", activation="relu", bias_initializer=prior, name=f"head_{i}")(f)
    logits = layers.Conv2D(1, 1, bias_initializer=prior, name="centers")(f)
    return keras.Model(image, logits)


model = build_detector()
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, h):
    with tf.GradientTape() as tape:
        z = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=h, logits=z))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batch = 16
for epoch in range(5):
    order = rng.permutation(len(x_train))
    total = 0.0
    for i in range(0, len(order), batch):
        b = order[i : i + batch]
        total += float(train_step(x_train[b], h_train[b])) * len(b)
    print(f"epoch {epoch + 1}: loss {total / len(order):.4f}")

p = tf.sigmoid(model(x_test)).numpy()
r2 = 1 - np.mean((p - h_test) ** 2) / np.var(h_test)
print(f"explained heat map variance {r2:.3f}")
