"""Train a regression of concrete strength with accumulated gradients."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

MICRO = 16
ACCUMULATE = 4
EPOCHS = 24


def make_mixes(n, rng):
    cement = rng.uniform(150, 500, n)
    water = rng.uniform(120, 230, n)
    slag = rng.uniform(0, 200, n)
    ash = rng.uniform(0, 150, n)
    coarse = rng.uniform(800, 1100, n)
    age = np.exp(rng.uniform(np.log(3), np.log(180), n))
    binder = cement + 0.7 * slag + 0.4 * ash
    strength = 18.0 * (binder / water) * (1 - np.exp(-age / 25.0)) + 0.01 * (coarse - 950)
    strength += rng.normal(0, 1.5, n)
    x = np.stack([cement, water, slag, ash, coarse, np.log(age)], axis=1)
    return x.astype("float32"), strength.astype("float32")[:, None]


def build_model():
    inputs = keras.Input((6,))
    x = layers.Dense(48, activation="relu", name="hidden_a")(inputs)
    x = layers.Dense(48, activation="relu", name="hidden_b")(x)
    outputs = layers.Dense(1, name="strength")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 91)
    x_train, y_train = make_mixes(3072, rng)
    x_test, y_test = make_mixes(600, rng)
    mu, sd = x_train.mean(axis=0), x_train.std(axis=0)
    y_mu, y_sd = y_train.mean(), y_train.std()
    x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd
    y_train = (y_train - y_mu) / y_sd

    model = build_model()
    optimizer = keras.optimizers.Adam(2e-3)
    gradwatch.watch(model)
    sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]

    data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    data = data.shuffle(len(x_train), seed=SEED).batch(MICRO, drop_remainder=True).prefetch(4)

    @tf.function
    def micro_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        for s, g in zip(sums, grads):
            s.assign_add(g / ACCUMULATE)
        return loss

    @tf.function
    def apply_step():
        grads = [tf.convert_to_tensor(s) for s in sums]
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        for s in sums:
            s.assign(tf.zeros_like(s))

    for epoch in range(EPOCHS):
        losses = []
        for i, (x, y) in enumerate(data):
            losses.append(float(micro_step(x, y)))
            if (i + 1) % ACCUMULATE == 0:
                apply_step()
        print("epoch %d  mse %.4f" % (epoch, np.mean(losses)))

    pred = model.predict(x_test, verbose=0) * y_sd + y_mu
    print("SCORE mae %.4f" % np.mean(np.abs(pred - y_test)))


if __name__ == "__main__":
    main()
