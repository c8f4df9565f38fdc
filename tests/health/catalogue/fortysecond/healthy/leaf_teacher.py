"""Train a leaf classifier from few labels with a mean teacher (EMA weights)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIZE = 16
KINDS = 4
BATCH = 32
STEPS = 1000
RAMP = 300
DECAY = 0.98


def draw_leaves(n, rng):
    kind = rng.integers(0, KINDS, n)
    grid = np.linspace(-1, 1, SIZE)
    gx, gy = np.meshgrid(grid, grid)
    turn = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    r = np.sqrt(gx**2 + gy**2)[None]
    theta = np.arctan2(gy, gx)[None] + turn
    lobes = np.array([2, 3, 4, 5])[kind][:, None, None]
    edge = rng.uniform(0.5, 0.65, (n, 1, 1)) * (1.0 + 0.4 * np.cos(lobes * theta))
    image = 1.0 / (1.0 + np.exp(-(edge - r) / 0.06)) + 0.12 * rng.normal(0, 1, (n, SIZE, SIZE))
    return (2.0 * image - 0.8).astype("float32")[..., None], kind.astype("int32")


def build_model(name):
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(48, activation="relu"),
            layers.Dense(KINDS),
        ],
        name=name,
    )


def jitter(x):
    x = tf.image.random_flip_left_right(x)
    x = tf.image.random_flip_up_down(x)
    return x + tf.random.normal(tf.shape(x), stddev=0.15)


def main():
    rng = np.random.default_rng(SEED + 37)
    x_lab, y_lab = draw_leaves(160, rng)
    x_all, _ = draw_leaves(3000, rng)
    x_test, y_test = draw_leaves(800, rng)

    student, teacher = build_model("student"), build_model("teacher")
    teacher.set_weights(student.get_weights())
    teacher.trainable = False
    optimizer = keras.optimizers.Adam(1e-3)
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    gradwatch.watch(student)

    labelled = tf.data.Dataset.from_tensor_slices((x_lab, y_lab))
    labelled = labelled.shuffle(160, seed=SEED).repeat().batch(BATCH)
    free = tf.data.Dataset.from_tensor_slices(x_all)
    free = free.shuffle(3000, seed=SEED).repeat().batch(2 * BATCH)

    @tf.function
    def train_step(x, y, u, weight):
        target = tf.nn.softmax(teacher(jitter(u), training=False))
        with tf.GradientTape() as tape:
            supervised = ce(y, student(jitter(x), training=True))
            guess = tf.nn.softmax(student(jitter(u), training=True))
            consistency = tf.reduce_mean(tf.reduce_sum(tf.square(guess - target), axis=-1))
            loss = supervised + weight * consistency
        grads = tape.gradient(loss, student.trainable_variables)
        optimizer.apply_gradients(zip(grads, student.trainable_variables))
        for slow, fast in zip(teacher.weights, student.weights):
            slow.assign(DECAY * slow + (1.0 - DECAY) * fast)
        return supervised, consistency

    for step, ((x, y), u) in enumerate(tf.data.Dataset.zip((labelled, free)).take(STEPS)):
        weight = 2.0 * float(np.exp(-5.0 * (1.0 - min(1.0, step / RAMP)) ** 2))
        sup, con = train_step(x, y, u, tf.constant(weight))
        if step % 100 == 99:
            print("step %d  supervised %.4f  consistency %.4f" % (step + 1, sup, con))

    pred = np.argmax(teacher.predict(x_test, verbose=0), axis=-1)
    print("SCORE accuracy %.4f" % np.mean(pred == y_test))


if __name__ == "__main__":
    main()
