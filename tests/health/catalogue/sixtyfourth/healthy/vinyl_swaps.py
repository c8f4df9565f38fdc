import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

MEMBERS = 1500
RECORDS = 2500
GENRES = 8


def make_swaps(rng, count, taste, genre, popularity):
    member = rng.integers(0, MEMBERS, count)
    record = rng.choice(RECORDS, count, p=popularity)
    match = taste[member, genre[record]]
    liked = (match + 0.3 * rng.normal(size=count) > 0).astype("float32")
    return member.astype("int32"), record.astype("int32"), liked


class SwapModel(keras.Model):
    def __init__(self):
        super().__init__()
        reg = keras.initializers.RandomNormal(stddev=0.05)
        self.member = keras.layers.Embedding(MEMBERS, 16, embeddings_initializer=reg, name="member")
        self.record = keras.layers.Embedding(RECORDS, 16, embeddings_initializer=reg, name="record")
        self.member_bias = keras.layers.Embedding(MEMBERS, 1, embeddings_initializer="zeros")
        self.record_bias = keras.layers.Embedding(RECORDS, 1, embeddings_initializer="zeros")

    def call(self, pair, training=False):
        m, r = pair
        dot = tf.reduce_sum(self.member(m) * self.record(r), axis=1)
        return dot + self.member_bias(m)[:, 0] + self.record_bias(r)[:, 0]

    def train_step(self, data):
        pair, liked = data
        with tf.GradientTape() as tape:
            logits = self(pair, training=True)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=liked, logits=logits))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


rng = np.random.default_rng(SEED)
taste = rng.normal(size=(MEMBERS, GENRES))
genre = rng.integers(0, GENRES, RECORDS)
popularity = 1.0 / np.arange(20, RECORDS + 20)
popularity /= popularity.sum()
member, record, liked = make_swaps(rng, 60000, taste, genre, popularity)
t_member, t_record, t_liked = make_swaps(rng, 5000, taste, genre, popularity)

model = SwapModel()
model((member[:2], record[:2]))
model.compile(optimizer=keras.optimizers.Adam(4e-3))
gradwatch.watch(model)
history = model.fit((member, record), liked, batch_size=256, epochs=10, verbose=0)
print("loss", [round(float(v), 3) for v in history.history["loss"]])

scores = np.asarray(model((t_member, t_record)))
print("SCORE", float(roc_auc_score(t_liked, scores)))
