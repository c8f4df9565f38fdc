"""Sentence topic from frozen word vectors; attention block, warm-up and cosine decay."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, DIM, LENGTH, TOPICS = 2000, 32, 20, 6
word_topic = rng.integers(0, TOPICS, VOCAB)
centres = rng.normal(0, 1, (TOPICS, DIM))
vectors = (centres[word_topic] * 0.6 + rng.normal(0, 1, (VOCAB, DIM))).astype("float32")
vectors[0] = 0.0


def make_sentences(n):
    topic = rng.integers(0, TOPICS, n)
    ids = np.zeros((n, LENGTH), "int32")
    for i in range(n):
        length = rng.integers(8, LENGTH + 1)
        own = np.flatnonzero(word_topic == topic[i])
        words = np.where(rng.random(length) < 0.45, rng.choice(own, length), rng.integers(1, VOCAB, length))
        ids[i, :length] = np.maximum(words, 1)
    return ids, topic.astype("int32")


x_train, y_train = make_sentences(4000)
x_test, y_test = make_sentences(1000)

inputs = keras.Input((LENGTH,), dtype="int32")
embedding = layers.Embedding(VOCAB, DIM, mask_zero=True, name="vectors")
h = embedding(inputs)
embedding.set_weights([vectors])
embedding.trainable = False
h = layers.LayerNormalization()(h)
a = layers.MultiHeadAttention(4, 8)(h, h)
h = layers.Add()([h, a])
h = layers.LayerNormalization()(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dropout(0.3)(h)
outputs = layers.Dense(TOPICS, activation="softmax")(h)
model = keras.Model(inputs, outputs)

EPOCHS, BATCH = 10, 40
steps = EPOCHS * (len(x_train) // BATCH)
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=0.0,
    decay_steps=steps - 100,
    warmup_target=3e-3,
    warmup_steps=100,
)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=0.01, global_clipnorm=1.0),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", float(accuracy))
