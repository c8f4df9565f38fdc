import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, CLASSES = 400, 4
line = rng.integers(0, CLASSES, N)
src, dst = [], []
for i in range(N):
    same = rng.choice(np.where(line == line[i])[0], 5)
    other = rng.choice(N, 2)
    for j in np.concatenate([same, other, [i]]):
        src.append(j)
        dst.append(i)
src, dst = tf.constant(src), tf.constant(dst)
centers = rng.normal(0, 0.5, (CLASSES, 12))
riders = rng.lognormal(0.0, 0.5, (N, 1))
features = ((centers[line] + rng.normal(0, 1.2, (N, 12))) * riders).astype("float32")
order = rng.permutation(N)
train_idx, test_idx = order[:200], order[200:]


class GraphAttention(keras.layers.Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.query = keras.layers.Dense(units, use_bias=False)
        self.key = keras.layers.Dense(units, use_bias=False)
        self.value = keras.layers.Dense(units)
        self.activation = keras.activations.get(activation)

    def call(self, h):
        n = tf.shape(h)[0]
        q, k, v = self.query(h), self.key(h), self.value(h)
        score = tf.reduce_sum(tf.gather(q, dst) * tf.gather(k, src), -1, keepdims=True)
        weight = tf.exp(score - tf.gather(tf.math.unsorted_segment_max(score, dst, n), dst))
        total = tf.math.unsorted_segment_sum(weight, dst, n)
        alpha = weight / tf.gather(total, dst)
        return self.activation(tf.math.unsorted_segment_sum(alpha * tf.gather(v, src), dst, n))


class MetroNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.att1 = GraphAttention(32, "relu")
        self.att2 = GraphAttention(32, "relu")
        self.out = keras.layers.Dense(CLASSES)

    def call(self, x):
        return self.out(self.att2(self.att1(x)))


model = MetroNet()
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
x = tf.constant(features)
model(x)
watch = gradwatch.watch(model)


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(line[train_idx], tf.gather(logits, train_idx))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for i in range(300):
    loss = step()
    if i % 50 == 0:
        print(i, float(loss))

logits = model(x).numpy()
score = float(np.mean(np.argmax(logits[test_idx], -1) == line[test_idx]))
print("SCORE", score if np.isfinite(logits).all() else float("nan"))
