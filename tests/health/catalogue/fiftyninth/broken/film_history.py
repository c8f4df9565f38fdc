import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N_FILMS, GENRES, MAX_HIST = 400, 8, 15
rng = np.random.default_rng(SEED + 21)
film_genre = rng.integers(0, GENRES, N_FILMS + 1)
by_genre = [np.where(film_genre[1:] == g)[0] + 1 for g in range(GENRES)]


def sessions(n):
    hist = np.zeros((n, MAX_HIST), "int32")
    cand = rng.integers(1, N_FILMS + 1, n).astype("int32")
    click = np.zeros(n, "float32")
    for i in range(n):
        liked = rng.choice(GENRES, 2, replace=False)
        watched = 0 if rng.random() < 0.004 else rng.integers(3, MAX_HIST + 1)
        for j in range(watched):
            hist[i, j] = rng.choice(by_genre[rng.choice(liked)])
        if rng.random() < 0.5:
            cand[i] = rng.choice(by_genre[rng.choice(liked)])
        p = 0.92 if film_genre[cand[i]] in liked else 0.08
        click[i] = rng.random() < p
    return hist, cand, click


class InterestNet(keras.Model):
    def __init__(self, dim=16):
        super().__init__()
        self.films = layers.Embedding(N_FILMS + 1, dim, name="films")
        self.key = layers.Dense(dim, name="key")
        self.mlp = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(1)], name="mlp")

    def call(self, inputs, training=False):
        hist, cand = inputs
        seen = self.films(hist)
        target = self.films(cand)
        scores = tf.einsum("btd,bd->bt", self.key(seen), target) * 4.0
        scores = tf.where(hist > 0, scores, -np.inf)
        weights = tf.nn.softmax(scores, axis=-1)
        interest = tf.einsum("bt,btd->bd", weights, seen)
        return self.mlp(tf.concat([interest, target, interest * target], -1))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            m.update_state(loss) if m.name == "loss" else m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


h_tr, c_tr, y_tr = sessions(16000)
h_te, c_te, y_te = sessions(3000)

model = InterestNet()
model.compile(optimizer=keras.optimizers.Nadam(2e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
model((h_tr[:2], c_tr[:2]))
watch = gradwatch.watch(model)
train = tf.data.Dataset.from_tensor_slices(((h_tr, c_tr), y_tr[:, None])).shuffle(16000, seed=SEED).batch(64)
model.fit(train, epochs=8, verbose=2)

known = (h_te > 0).any(1)
logit = model.predict((h_te[known], c_te[known]), verbose=0)[:, 0]
print("SCORE", float(((logit > 0) == (y_te[known] > 0.5)).mean()))
