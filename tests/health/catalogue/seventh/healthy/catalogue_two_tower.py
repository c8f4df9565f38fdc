"""Matching product photos with product texts: two towers, contrastive loss, learned temperature."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PRODUCT_DIM, PHOTO_DIM, WORDS, EMBED = 10, 64, 120, 24
photo_map = rng.normal(size=(PRODUCT_DIM, PHOTO_DIM)) / np.sqrt(PRODUCT_DIM)
word_map = rng.normal(size=(PRODUCT_DIM, WORDS)) * 0.9 / np.sqrt(PRODUCT_DIM)


def catalogue(n):
    product = rng.normal(size=(n, PRODUCT_DIM))
    photo = np.tanh(1.5 * product @ photo_map) + rng.normal(0, 0.2, (n, PHOTO_DIM))
    words = rng.poisson(np.exp(0.3 + product @ word_map))
    return photo.astype("float32"), np.log1p(words).astype("float32")


train_photo, train_text = catalogue(8000)
test_photo, test_text = catalogue(500)
text_mean, text_std = train_text.mean(0), train_text.std(0) + 1e-6
train_text = (train_text - text_mean) / text_std
test_text = (test_text - text_mean) / text_std


def tower(width, name):
    return keras.Sequential(
        [
            keras.Input((width,)),
            layers.Dense(96, activation="silu"),
            layers.LayerNormalization(),
            layers.Dense(EMBED),
            layers.UnitNormalization(),
        ],
        name=name,
    )


class TwoTower(keras.Model):
    def __init__(self, photo_tower, text_tower):
        super().__init__()
        self.photo_tower, self.text_tower = photo_tower, text_tower
        self.log_scale = self.add_weight(
            name="log_scale", shape=(), initializer=keras.initializers.Constant(np.log(1 / 0.07))
        )
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.hit_tracker = keras.metrics.Mean(name="in_batch_hits")

    @property
    def metrics(self):
        return [self.loss_tracker, self.hit_tracker]

    def call(self, pair, training=False):
        photo, text = pair
        scale = ops.exp(ops.minimum(self.log_scale, 4.6052))
        similarity = ops.matmul(
            self.photo_tower(photo, training=training),
            ops.transpose(self.text_tower(text, training=training)),
        )
        return scale * similarity

    def train_step(self, data):
        (pair,) = data
        with tf.GradientTape() as tape:
            logits = self(pair, training=True)
            target = ops.arange(ops.shape(logits)[0])
            to_text = ops.sparse_categorical_crossentropy(target, logits, from_logits=True)
            to_photo = ops.sparse_categorical_crossentropy(target, ops.transpose(logits), from_logits=True)
            loss = 0.5 * (ops.mean(to_text) + ops.mean(to_photo))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.hit_tracker.update_state(ops.cast(ops.equal(ops.argmax(logits, 1), target), "float32"))
        return {m.name: m.result() for m in self.metrics}


matcher = TwoTower(tower(PHOTO_DIM, "photo_tower"), tower(WORDS, "text_tower"))
matcher.compile(optimizer=keras.optimizers.Adam(2e-3))
pairs = (
    tf.data.Dataset.from_tensor_slices((train_photo, train_text))
    .shuffle(8000, seed=seed)
    .batch(128, drop_remainder=True)
)
gradwatch.watch(matcher)
matcher.fit(pairs.map(lambda photo, text: ((photo, text),)), epochs=8, verbose=2)

similarity = ops.convert_to_numpy(matcher((test_photo, test_text)))
rank = np.sum(similarity >= np.diag(similarity)[:, None], axis=1)
print(
    f"FINAL recall@1 {np.mean(rank == 1):.4f} recall@5 {np.mean(rank <= 5):.4f} among 500 "
    f"(chance 0.002), temperature {1 / np.exp(float(matcher.log_scale)):.4f}"
)
