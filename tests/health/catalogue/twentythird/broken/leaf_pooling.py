"""Classify spots on leaf images with a small convolutional net and generalised-mean pooling."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, CLASSES = 24, 4
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def leaf(label):
    img = 0.35 + 0.08 * rng.normal(size=(SIZE, SIZE))
    img += 0.1 * np.sin(xx / rng.uniform(2, 5) + rng.uniform(0, 6))
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.uniform(4, SIZE - 4, 2)
        r = np.hypot(yy - cy, xx - cx)
        if label == 1:
            img += 0.6 * (r < 2.2)
        elif label == 2:
            img += 0.6 * (np.abs(r - 3.0) < 0.7)
        elif label == 3:
            img -= 0.6 * (np.abs(yy - cy) + np.abs(xx - cx) < 2.6)
    return np.clip(img, 0, 1)


def make_leaves(n):
    y = rng.integers(0, CLASSES, n)
    x = np.stack([leaf(k) for k in y])[..., None]
    return x.astype("float32"), y.astype("int32")


x_train, y_train = make_leaves(4000)
x_test, y_test = make_leaves(1200)


class GeMPooling(keras.layers.Layer):
    """Generalised mean over the spatial axes with a learned exponent."""

    def build(self, input_shape):
        self.p = self.add_weight(name="p", shape=(), initializer=keras.initializers.Constant(3.0))

    def call(self, x):
        return tf.pow(tf.reduce_mean(tf.pow(x, self.p), axis=(1, 2)), 1.0 / self.p)


def block(x, filters):
    x = keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = keras.layers.BatchNormalization(momentum=0.9)(x)
    return keras.layers.ReLU()(x)


inputs = keras.Input((SIZE, SIZE, 1))
h = block(inputs, 16)
h = keras.layers.MaxPooling2D()(h)
h = block(h, 24)
h = keras.layers.MaxPooling2D()(h)
h = block(h, 32)
h = GeMPooling()(h)
h = keras.layers.Dropout(0.2)(h)
model = keras.Model(inputs, keras.layers.Dense(CLASSES)(h))

optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-4)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(50)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(5):
    losses = [float(train_step(x, y)) for x, y in data]
    print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

pred = model.predict(x_test, batch_size=200, verbose=0).argmax(1)
print("SCORE accuracy", round(float((pred == y_test).mean()), 4))
