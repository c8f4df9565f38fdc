import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

CATEGORIES = 15
BATCH = 64


def make_auctions(rng, rows):
    fixed = np.random.default_rng(3)
    category = rng.integers(0, CATEGORIES, rows)
    base = fixed.normal(4.5, 0.6, CATEGORIES)
    traits = rng.normal(size=(rows, 8))
    rate = np.exp(
        base[category] + 0.5 * traits[:, 0] + 0.3 * np.sin(2 * traits[:, 1]) - 0.3 * traits[:, 2] * (traits[:, 3] > 0)
    )
    views = rng.poisson(rate)
    return category.astype("int32"), traits.astype("float32"), views.astype("float32"), rate


rng = np.random.default_rng(SEED)
category, traits, views, _ = make_auctions(rng, 8000)
t_category, t_traits, t_views, t_rate = make_auctions(rng, 1500)

cat_in = keras.Input((), dtype="int32", name="category")
trait_in = keras.Input((8,), name="traits")
h = keras.layers.Concatenate()([keras.layers.Embedding(CATEGORIES, 6, name="cat_code")(cat_in), trait_in])
h = keras.layers.Dense(64, activation="relu", name="lot_a")(h)
h = keras.layers.Dense(64, activation="relu", name="lot_b")(h)
log_rate = keras.layers.Dense(
    1,
    bias_initializer=keras.initializers.Constant(float(np.log(views.mean()))),
    name="log_rate",
)(h)
model = keras.Model([cat_in, trait_in], log_rate)


def poisson_nll(y_true, log_rate):
    log_rate = tf.clip_by_value(log_rate, -5.0, 10.0)
    return tf.reduce_mean(tf.exp(log_rate) - y_true * log_rate, axis=-1)


model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=100.0), loss=poisson_nll)
gradwatch.watch(model)
history = model.fit(
    [category, traits],
    views[:, None],
    batch_size=BATCH,
    epochs=15,
    validation_data=([t_category, t_traits], t_views[:, None]),
    verbose=0,
)
print("val loss", [round(v, 2) for v in history.history["val_loss"][::3]])

guess = model.predict([t_category, t_traits], verbose=0)[:, 0]
print("SCORE", float(np.corrcoef(guess, np.log(t_rate))[0, 1] ** 2))
