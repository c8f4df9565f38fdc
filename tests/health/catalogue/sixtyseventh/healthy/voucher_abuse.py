import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, DEVICES, SHOPS = 24000, 4000, 60


def load_redemptions():
    device = rng.zipf(1.25, N) % DEVICES
    shop = rng.integers(0, SHOPS, N)
    numeric = rng.normal(0, 1, (N, 8)).astype("float32")
    risk = rng.normal(0, 0.8, SHOPS)
    logit = (
        -6.0
        + risk[shop]
        + 1.3 * numeric[:, 0]
        + 0.9 * numeric[:, 1]
        - 0.8 * numeric[:, 2]
        + 0.7 * numeric[:, 3] * numeric[:, 4]
    )
    abuse = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype("float32")
    return device, shop, numeric, abuse


device, shop, numeric, abuse = load_redemptions()
split = 18000


def dataset(rows):
    inputs = {"device": device[rows].astype("int32"), "shop": shop[rows].astype("int32"), "numeric": numeric[rows]}
    return tf.data.Dataset.from_tensor_slices((inputs, abuse[rows]))


train_data = dataset(slice(0, split)).shuffle(split, seed=SEED).batch(128).prefetch(2)
test_data = dataset(slice(split, N)).batch(512)

device_in = keras.Input((), dtype="int32", name="device")
shop_in = keras.Input((), dtype="int32", name="shop")
numeric_in = keras.Input((8,), name="numeric")
x = keras.layers.Concatenate(name="redemption")(
    [
        keras.layers.Embedding(DEVICES, 4, name="device_vectors")(device_in),
        keras.layers.Embedding(SHOPS, 6, name="shop_vectors")(shop_in),
        numeric_in,
    ]
)
x = keras.layers.Dense(48, activation="relu", name="signals")(x)
x = keras.layers.Dense(24, activation="relu", name="suspicion")(x)
abuse_out = keras.layers.Dense(
    1, activation="sigmoid", name="abuse", bias_initializer=keras.initializers.Constant(-4.0)
)(x)
model = keras.Model(inputs={"device": device_in, "shop": shop_in, "numeric": numeric_in}, outputs=abuse_out)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
)
gradwatch.watch(model)
model.fit(train_data, epochs=4, verbose=0)

prob = model.predict(test_data, verbose=0)[:, 0]
print("SCORE", float(roc_auc_score(abuse[split:], prob)))
