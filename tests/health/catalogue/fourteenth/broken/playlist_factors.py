"""Playlist continuation by matrix factorisation. Listeners and tracks have latent tastes; the
model learns an embedding of each from observed plays with a pairwise ranking loss against
sampled tracks. The measure is the AUC of held-out plays against random tracks."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LISTENERS, TRACKS, DIM = 400, 1500, 16
BATCH, STEPS = 256, 1200


def make_plays(per_listener):
    taste = rng.normal(size=(LISTENERS, 5))
    style = rng.normal(size=(TRACKS, 5))
    pull = taste @ style.T * 1.2
    p = np.exp(pull - pull.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return np.array([(u, t) for u in range(LISTENERS) for t in rng.choice(TRACKS, per_listener, False, p[u])])


plays = rng.permutation(make_plays(70))
cut = int(0.85 * len(plays))
train, test = plays[:cut].astype("int32"), plays[cut:].astype("int32")


class Factors(keras.Model):
    def __init__(self):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.listener = layers.Embedding(LISTENERS, DIM, embeddings_initializer=init, name="listener")
        self.track = layers.Embedding(TRACKS, DIM, embeddings_initializer=init, name="track")
        self.bias = layers.Embedding(TRACKS, 1, embeddings_initializer="zeros", name="track_bias")

    def call(self, inputs):
        who, what = inputs
        return tf.reduce_sum(self.listener(who) * self.track(what), axis=-1) + self.bias(what)[..., 0]


model = Factors()
model([train[:2, 0], train[:2, 1]])
optimizer = keras.optimizers.Nadam(3e-3)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(who, played):
    other = tf.constant(np.random.randint(0, TRACKS, BATCH), tf.int32)
    with tf.GradientTape() as tape:
        margin = model([who, played]) - model([who, other])
        loss = tf.reduce_mean(tf.nn.softplus(-margin))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((train[:, 0], train[:, 1])).shuffle(len(train), seed=SEED)
data = data.repeat().batch(BATCH).take(STEPS)
for step, (who, played) in enumerate(data):
    loss = train_step(who, played)
    watch.log(loss=loss)
    if step % 200 == 0:
        print(f"step {step} loss {float(loss):.4f}")

other = rng.integers(0, TRACKS, len(test))
won = model([test[:, 0], test[:, 1]]).numpy() > model([test[:, 0], other]).numpy()
score = float(won.mean())
print(f"score auc {score:.3f} chance {0.5:.3f}")
