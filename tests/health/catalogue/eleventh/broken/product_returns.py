"""Will a product be sent back? Predicted from its reviews and its price.

Products are taken in the order of their launch, one pass over the catalogue.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rs = np.random.RandomState(SEED)

WORDS, MAX_REVIEWS, BATCH, STEPS = 40, 12, 64, 220
TONE = rs.normal(size=WORDS)


def catalogue(years_on_sale):
    n = len(years_on_sale)
    counts = np.minimum(rs.poisson(5.0 * years_on_sale), MAX_REVIEWS)
    mood = rs.normal(size=(n, 1, 1))
    p = 1 / (1 + np.exp(-(mood * TONE - 2.0)))
    reviews = (rs.rand(n, MAX_REVIEWS, WORDS) < p).astype("float32")
    present = (np.arange(MAX_REVIEWS) < counts[:, None]).astype("float32")
    price = rs.normal(size=(n, 1)).astype("float32")
    back = (-1.6 * mood[:, 0, 0] + 0.6 * price[:, 0] + rs.logistic(size=n) * 0.5 > 0).astype("float32")
    return reviews * present[..., None], present, price, back


class ReviewPool(keras.layers.Layer):
    def call(self, codes, present):
        n = tf.reduce_sum(present, axis=1, keepdims=True)
        total = tf.reduce_sum(codes * present[..., None], axis=1)
        return tf.where(n > 0, total / n, tf.zeros_like(total))


r_in = keras.Input((MAX_REVIEWS, WORDS), name="reviews")
p_in = keras.Input((MAX_REVIEWS,), name="present")
c_in = keras.Input((1,), name="price")
codes = keras.layers.Dense(32, activation="relu", name="review_code")(r_in)
pooled = ReviewPool(name="review_pool")(codes, p_in)
x = keras.layers.Concatenate()([pooled, c_in])
x = keras.layers.Dense(32, activation="relu", name="mix")(x)
out = keras.layers.Dense(1, name="logit")(x)
model = keras.Model([r_in, p_in, c_in], out)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(2e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_on(reviews, present, price, label):
    with tf.GradientTape() as tape:
        loss = bce(label[:, None], model([reviews, present, price], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = catalogue(np.linspace(4.0, 0.6, BATCH * STEPS))
for step in range(STEPS):
    rows = slice(step * BATCH, (step + 1) * BATCH)
    loss = train_on(*[tf.constant(a[rows]) for a in data])
    if step % 20 == 0:
        print(f"step {step:4d}  loss {float(loss):.4f}")

held = catalogue(rs.uniform(0.6, 4.0, 2000))
logit = model.predict(list(held[:3]), batch_size=500, verbose=0)[:, 0]
print("held-out accuracy %.3f (share of kept %.3f)" % (np.mean((logit > 0) == held[3]), np.mean(held[3] == 0)))
