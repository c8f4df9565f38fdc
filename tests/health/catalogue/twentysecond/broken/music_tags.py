# Auto-tagging of short music clips: each clip may carry several tags at once.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TAGS = ["guitar", "piano", "drums", "vocals", "synth", "strings", "slow", "loud", "live", "bass"]
N, FRAMES, BANDS = 3000, 32, 24


def make_clips(n):
    labels = (rng.random((n, len(TAGS))) < np.array([0.35, 0.25, 0.5, 0.55, 0.3, 0.2, 0.35, 0.3, 0.15, 0.5])).astype(
        "float32"
    )
    profile = np.random.default_rng(7).normal(0, 1, (len(TAGS), BANDS))
    rate = np.linspace(0.05, 0.45, len(TAGS))
    t = np.arange(FRAMES)
    clips = rng.normal(0, 1.0, (n, FRAMES, BANDS))
    for k in range(len(TAGS)):
        envelope = 1 + np.cos(2 * np.pi * rate[k] * t[None, :] + rng.uniform(0, 6.28, (n, 1)))
        clips += 0.3 * labels[:, k, None, None] * envelope[:, :, None] * profile[k]
    return clips.astype("float32"), labels


x, y = make_clips(N)
cut = 2400
mu, sd = x[:cut].mean((0, 1)), x[:cut].std((0, 1))
x = (x - mu) / sd

train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut, seed=seed).batch(64)


class Tagger(keras.Model):
    def __init__(self, n_tags):
        super().__init__()
        self.conv1 = layers.Conv1D(32, 5, activation="relu", padding="same")
        self.pool = layers.MaxPooling1D(2)
        self.conv2 = layers.Conv1D(48, 3, activation="relu", padding="same")
        self.gap = layers.GlobalAveragePooling1D()
        self.head = layers.Dense(n_tags, activation="softmax", name="tags")

    def call(self, inputs):
        h = self.pool(self.conv1(inputs))
        return self.head(self.gap(self.conv2(h)))


model = Tagger(len(TAGS))
model(x[:1])
loss_fn = keras.losses.CategoricalCrossentropy()
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(clips, tags):
    with tf.GradientTape() as tape:
        loss = loss_fn(tags, model(clips, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    losses = [float(train_step(a, b)) for a, b in train]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

prob = model.predict(x[cut:], verbose=0)
hit = (prob > 0.5).astype("float32")
tp = (hit * y[cut:]).sum()
f1 = 2 * tp / (hit.sum() + y[cut:].sum())
print(f"test micro-F1 {f1:.3f}")
