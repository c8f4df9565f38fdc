import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def render(n):
    imgs = np.zeros((n, 16, 16, 1), "float32")
    counts = rng.integers(0, 4, n)
    ripe = rng.uniform(0.2, 1.0, n).astype("float32")
    yy, xx = np.mgrid[0:16, 0:16]
    slots = [(4, 4), (4, 11), (11, 4), (11, 11)]
    for i in range(n):
        for s in rng.permutation(4)[: counts[i] + 1]:
            cy, cx = slots[s] + rng.integers(-1, 2, 2)
            imgs[i, ..., 0] += ripe[i] * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 3.0)
    ripe = ripe + rng.normal(0, 0.05, n).astype("float32")
    return imgs, counts.astype("int32"), ripe[:, None]


x_train, count_train, ripe_train = render(2000)
x_test, count_test, ripe_test = render(500)


class OrchardNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential(
            [
                keras.layers.Conv2D(16, 3, strides=2, activation="relu", padding="same"),
                keras.layers.Conv2D(32, 3, strides=2, activation="relu", padding="same"),
                keras.layers.Flatten(),
                keras.layers.Dense(64, activation="relu"),
            ]
        )
        self.count_head = keras.layers.Dense(4)
        self.ripe_head = keras.layers.Dense(1)
        self.hinge = keras.losses.CategoricalHinge()

    def call(self, x):
        h = self.trunk(x)
        return self.count_head(h), self.ripe_head(h)

    def train_step(self, data):
        x, (count, ripe) = data
        with tf.GradientTape(persistent=True) as tape:
            logits, r = self(x, training=True)
            count_loss = self.hinge(tf.one_hot(count, 4), logits)
            ripe_loss = tf.reduce_mean(tf.square(ripe - r))
        total = [tf.zeros(v.shape) for v in self.trainable_variables]
        for task_loss in (count_loss, ripe_loss):
            grads = tape.gradient(task_loss, self.trainable_variables)
            grads = [tf.zeros(v.shape) if g is None else g for v, g in zip(self.trainable_variables, grads)]
            norm = tf.linalg.global_norm(grads)
            total = [t + g / norm for t, g in zip(total, grads)]
        self.optimizer.apply_gradients(zip(total, self.trainable_variables))
        return {"loss": count_loss + ripe_loss, "count_hinge": count_loss, "ripe_mse": ripe_loss}


model = OrchardNet()
model.compile(optimizer=keras.optimizers.Adam(2e-3))
model(x_train[:1])
watch = gradwatch.watch(model)

model.fit(x_train, (count_train, ripe_train), batch_size=32, epochs=20, verbose=2)

logits, r = model.predict(x_test, verbose=0)
acc = np.mean(np.argmax(logits, -1) == count_test)
r2 = 1 - np.mean((r - ripe_test) ** 2) / np.var(ripe_test)
score = float((acc + r2) / 2) if np.isfinite(logits).all() else float("nan")
print("SCORE", score)
