"""Train a multi-task model of toxicity assays on molecular fingerprints."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BITS = 256
ASSAYS = 8
MEASURED = np.array([0.95, 0.8, 0.7, 0.5, 0.4, 0.3, 0.15, 0.08])
BATCH = 64
EPOCHS = 20


def make_molecules(n, rng):
    world = np.random.default_rng(12)
    groups = world.random((20, BITS)) < 0.12
    potency = world.normal(0, 1.2, (20, ASSAYS))
    has_group = rng.random((n, 20)) < 0.25
    bits = (has_group.astype(int) @ groups.astype(int)) > 0
    bits ^= rng.random((n, BITS)) < 0.02
    score = (has_group - 0.25) @ potency
    active = (score + 0.2 * rng.normal(0, 1, score.shape)) > 0
    labels = np.where(rng.random((n, ASSAYS)) < MEASURED, active, -1)
    return bits.astype("float32") - 0.4, labels.astype("float32"), active


def build_model():
    return keras.Sequential(
        [
            keras.Input((BITS,)),
            layers.Dense(128, activation="relu", name="shared_a"),
            layers.Dropout(0.3),
            layers.Dense(64, activation="relu", name="shared_b"),
            layers.Dense(ASSAYS, name="assays"),
        ]
    )


def panel_loss(labels, logits):
    """Every assay counts the same, however many molecules were measured in it."""
    known = tf.cast(labels >= 0, tf.float32)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(tf.maximum(labels, 0.0), logits)
    per_assay = tf.reduce_sum(known * ce, axis=0) / tf.reduce_sum(known, axis=0)
    return tf.reduce_mean(per_assay)


def main():
    rng = np.random.default_rng(SEED + 5)
    x_train, y_train, _ = make_molecules(5120, rng)
    x_test, _, truth = make_molecules(1000, rng)

    model = build_model()
    optimizer = keras.optimizers.Adam(5e-4)
    gradwatch.watch(model)

    data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    data = data.shuffle(len(x_train), seed=SEED).batch(BATCH, drop_remainder=True).prefetch(2)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = panel_loss(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        losses = [float(train_step(x, y)) for x, y in data]
        print("epoch %d  loss %.4f" % (epoch, np.mean(losses)))

    logits = model.predict(x_test, verbose=0)
    print("SCORE accuracy %.4f" % np.mean((logits > 0) == truth))


if __name__ == "__main__":
    main()
