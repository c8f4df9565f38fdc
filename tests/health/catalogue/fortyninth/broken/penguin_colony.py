"""Trains a small network that tells which colony a ringed penguin comes from by its body measures."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 11)

COLONIES = ["Cape North", "Shingle Bay", "Old Pier", "Far Islet", "Lee Side"]
SHARE = [0.37, 0.27, 0.18, 0.13, 0.05]
K = len(COLONIES)
BATCH = 64

# bill length, bill depth, flipper, mass, tarsus, eye ring, crown width, beak angle
centres = rng.normal(0.0, 1.3, size=(K, 8))


def ringing_season(n):
    colony = rng.choice(K, size=n, p=SHARE)
    sex = rng.integers(0, 2, size=(n, 1))
    body = centres[colony] + 0.5 * sex + rng.normal(0.0, 1.0, size=(n, 8))
    bent = np.sin(body[:, :2] * 1.3)
    return np.concatenate([body, bent, sex], axis=1).astype("float32"), colony.astype("int32")


x_train, y_train = ringing_season(12000)
x_test, y_test = ringing_season(3000)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

model = keras.Sequential(
    [
        keras.Input((x_train.shape[1],)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(K),
    ]
)
optimizer = keras.optimizers.Adam(5e-4)


def colony_balanced_loss(labels, logits):
    """Mean over colonies of the mean cross-entropy within the colony."""
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    member = tf.one_hot(labels, K)
    total = tf.reduce_sum(member * ce[:, None], axis=0)
    birds = tf.reduce_sum(member, axis=0)
    return tf.reduce_mean(total / birds)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = colony_balanced_loss(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(12000, seed=seed).batch(BATCH, drop_remainder=True)
)
for epoch in range(20):
    losses = [float(step(xb, yb)) for xb, yb in data]
    print(f"epoch {epoch:2d}  balanced loss {np.mean(losses):.4f}")

guess = model.predict(x_test, verbose=0).argmax(axis=1)
recall = [np.mean(guess[y_test == k] == k) for k in range(K)]
for name, r in zip(COLONIES, recall):
    print(f"  {name:12s} recall {r:.3f}")
print("SCORE balanced_accuracy", round(float(np.mean(recall)), 4))
