import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TOPICS = ["billing", "login", "delivery", "refund", "hardware", "network", "account", "warranty"]
VOCAB, LENGTH, N = 1500, 24, 9000


def write_tickets():
    topic = rng.integers(0, len(TOPICS), N)
    keywords = rng.choice(np.arange(2, VOCAB), (len(TOPICS), 60), replace=False)
    tickets = np.zeros((N, LENGTH), "int32")
    for i, t in enumerate(topic):
        words = rng.integers(8, LENGTH + 1)
        text = rng.zipf(1.3, words) % (VOCAB - 2) + 2
        about = rng.random(words) < 0.16
        text[about] = rng.choice(keywords[t], about.sum())
        tickets[i, :words] = text
    return tickets, topic.astype("int32")


tickets, topic = write_tickets()
split = 7500
train_data = (
    tf.data.Dataset.from_tensor_slices((tickets[:split], topic[:split])).shuffle(split, seed=SEED).batch(64).prefetch(2)
)
test_data = tf.data.Dataset.from_tensor_slices((tickets[split:], topic[split:])).batch(256)

model = keras.Sequential(
    [
        keras.Input((LENGTH,), dtype="int32"),
        keras.layers.Embedding(VOCAB, 32, mask_zero=True, name="words"),
        keras.layers.GlobalAveragePooling1D(name="average"),
        keras.layers.Dense(48, activation="relu", name="topic_features"),
        keras.layers.Dense(len(TOPICS), name="topic_scores"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_data, epochs=6, verbose=0)

_, accuracy = model.evaluate(test_data, verbose=0)
print("SCORE", float(accuracy))
