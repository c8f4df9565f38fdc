import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB, TOPICS, LENGTH = 12000, 5, 30
frequency = 1.0 / np.arange(2, VOCAB + 1) ** 0.9
frequency /= frequency.sum()
topic_of_word = rng.integers(0, TOPICS, VOCAB)
by_topic = [np.where(topic_of_word[1:] == k)[0] + 1 for k in range(TOPICS)]


def write(n):
    labels = rng.integers(0, TOPICS, n)
    memos = np.zeros((n, LENGTH), "int32")
    for i, k in enumerate(labels):
        size = rng.integers(8, LENGTH + 1)
        words = rng.choice(np.arange(1, VOCAB), size, p=frequency)
        on_topic = rng.random(size) < 0.35
        p = frequency[by_topic[k] - 1]
        words[on_topic] = rng.choice(by_topic[k], on_topic.sum(), p=p / p.sum())
        memos[i, :size] = words
    return memos, labels.astype("int32")


x_train, y_train = write(6000)
x_test, y_test = write(1000)

tokens = keras.Input((LENGTH,), dtype="int32")
h = keras.layers.Embedding(VOCAB, 32, mask_zero=True, name="words")(tokens)
h = keras.layers.GlobalAveragePooling1D()(h)
h = keras.layers.Dropout(0.3)(h)
logits = keras.layers.Dense(TOPICS, name="topic")(h)
model = keras.Model(tokens, logits)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(model)

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=SEED).batch(32)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(6):
    losses = [float(train_step(x, y)) for x, y in train_ds]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

print("SCORE", float(np.mean(model.predict(x_test, verbose=0).argmax(1) == y_test)))
