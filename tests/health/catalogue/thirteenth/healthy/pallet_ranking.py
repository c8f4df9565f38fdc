"""Learn in which order experienced packers load the parcels of a pallet.

Every pallet has 4 to 14 parcels; a shared network scores each and the loss is the
Plackett-Luce likelihood of the whole observed order: one softmax over what is left, after
another.  Missing parcels are padded: their features are zeros and their scores -inf, so they take no
part in any softmax.  The loss is a sum over places, so it is large and depends on pallet size.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MOST, FEATURES, STEPS, BATCH = 14, 6, 500, 32


def make_pallets(n):
    """Parcels come in the observed order (heavy, wide and sturdy first), then the padding."""
    size = rng.integers(4, MOST + 1, n)
    x = rng.normal(size=(n, MOST, FEATURES))
    there = np.arange(MOST)[None, :] < size[:, None]
    early = 3.0 * x[..., 0] + 2.0 * np.maximum(x[..., 1], 0) - 2.5 * np.abs(x[..., 2]) + 1.5 * x[..., 3] * x[..., 4]
    early = np.where(there, early + 0.7 * rng.gumbel(size=early.shape), -np.inf)
    order = np.argsort(-early, axis=1, kind="stable")
    x = np.take_along_axis(x * there[..., None], order[..., None], axis=1)
    return x.astype("float32"), there  # padding sorts last, so the mask keeps its form


def build():
    parcels = keras.Input((MOST, FEATURES), name="parcels")
    x = keras.layers.Dense(64, activation="gelu", name="hidden_1")(parcels)
    x = keras.layers.Dense(64, activation="gelu", name="hidden_2")(x)
    score = keras.layers.Dense(1, use_bias=False, name="urgency")(x)  # a common shift has no effect
    return keras.Model(parcels, keras.layers.Reshape((MOST,))(score), name="packer")


def plackett_luce(score, there):
    """- sum over places of  score of the next one - log sum exp of those still there."""
    later = np.triu(np.ones((MOST, MOST), bool))  # row: place, column: who is left
    left = later[None] & there[:, None, :]
    masked = tf.where(left, score[:, None, :], tf.constant(-np.inf))
    # Rows of padded places hold -inf only: give them a harmless row before the reduction.
    masked = tf.where(there[:, :, None], masked, 0.0)
    per_place = tf.reduce_logsumexp(masked, axis=2) - score
    return tf.reduce_sum(tf.where(there, per_place, 0.0), axis=1)


def kendall(score, there):
    pairs = np.triu(np.ones((MOST, MOST), bool), 1)[None] & there[:, None, :] & there[:, :, None]
    right = np.sign(score[:, :, None] - score[:, None, :])
    return (right * pairs).sum() / pairs.sum()


def main():
    x, there = make_pallets(4000)
    test_x, test_there = make_pallets(1000)
    model = build()
    watch = gradwatch.watch(model)
    optimizer = keras.optimizers.Lion(3e-4, weight_decay=0.01)
    optimizer.build(model.trainable_variables)

    @tf.function(jit_compile=True)
    def train_step(x, there):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(plackett_luce(model(x, training=True), there))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for step in range(STEPS):
        pick = rng.integers(0, len(x), BATCH)
        loss = train_step(tf.constant(x[pick]), tf.constant(there[pick]))
        if step % 5 == 0:
            watch.log(loss=loss)

    tau = kendall(model.predict(test_x, verbose=0), test_there)
    print(f"score kendall_tau {tau:.4f} chance 0.0")


if __name__ == "__main__":
    main()
