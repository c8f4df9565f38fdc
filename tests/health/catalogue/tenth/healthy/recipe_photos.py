"""Match recipes (bags of ingredients) to photo features with two towers and a symmetric contrastive loss."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

INGREDIENTS, PHOTO, STYLE, N, BATCH = 120, 48, 10, 6400, 128

style = rng.normal(size=(N, STYLE))
to_bag, to_photo = rng.normal(size=(STYLE, INGREDIENTS)), rng.normal(size=(STYLE, PHOTO))
bags = (style @ to_bag + rng.normal(0, 1.0, (N, INGREDIENTS)) > 3.5).astype("float32")
photos = np.tanh(0.4 * style @ to_photo + rng.normal(0, 0.3, (N, PHOTO))).astype("float32")


class TwoTowers(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.recipe = tf.keras.Sequential(
            [
                tf.keras.Input((INGREDIENTS,)),
                tf.keras.layers.Dense(256, activation="relu"),
                tf.keras.layers.Dense(32),
                tf.keras.layers.UnitNormalization(),
            ],
            name="recipe",
        )
        self.photo = tf.keras.Sequential(
            [
                tf.keras.Input((PHOTO,)),
                tf.keras.layers.Dense(256, activation="relu"),
                tf.keras.layers.Dense(32),
                tf.keras.layers.UnitNormalization(),
            ],
            name="photo",
        )
        self.log_temp = self.add_weight(shape=(), initializer=tf.keras.initializers.Constant(1.0), name="log_temp")

    def call(self, pair):
        return tf.exp(self.log_temp) * tf.matmul(self.recipe(pair[0]), self.photo(pair[1]), transpose_b=True)

    def train_step(self, data):
        pair = data[0]
        with tf.GradientTape() as tape:
            logits = self(pair, training=True)
            who = tf.range(tf.shape(logits)[0])
            loss = 0.5 * tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(who, logits)
                + tf.nn.sparse_softmax_cross_entropy_with_logits(who, tf.transpose(logits))
            )
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        hit = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), who), tf.float32))
        return {"loss": loss, "hit": hit, "temp": tf.exp(self.log_temp)}


model = TwoTowers()
gradwatch.watch(model)
model((tf.zeros((2, INGREDIENTS)), tf.zeros((2, PHOTO))))
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3), jit_compile=False)
pairs = tf.data.Dataset.from_tensor_slices(((bags, photos),)).shuffle(N, seed=SEED).batch(BATCH, drop_remainder=True)
model.fit(pairs, epochs=7, verbose=2)
