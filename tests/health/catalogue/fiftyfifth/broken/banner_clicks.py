"""Click probability of banner impressions; the auction needs calibrated probabilities."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)


SITES, BANNERS = 120, 60
rng = np.random.default_rng(SEED + 1000)
site_vec = rng.normal(0, 1, (SITES, 3))
banner_vec = rng.normal(0, 1, (BANNERS, 3))
hour_effect = 0.7 * np.sin(np.arange(24) / 24 * 2 * np.pi - 1.0)


def impressions(n):
    site = rng.zipf(1.4, n) % SITES
    banner = rng.integers(0, BANNERS, n)
    hour = rng.integers(0, 24, n)
    seen_before = rng.poisson(1.2, n).astype("float32")
    logit = -1.3 + 0.8 * np.sum(site_vec[site] * banner_vec[banner], axis=1) + hour_effect[hour] - 0.35 * seen_before
    clicked = rng.random(n) < 1 / (1 + np.exp(-logit))
    features = {
        "site": site.astype("int32"),
        "banner": banner.astype("int32"),
        "hour": hour.astype("int32"),
        "seen": seen_before[:, None] / 3.0,
    }
    return features, clicked.astype("float32")[:, None]


train_x, train_y = impressions(60000)
test_x, test_y = impressions(10000)


class ClickModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.site = tf.keras.layers.Embedding(SITES, 8)
        self.banner = tf.keras.layers.Embedding(BANNERS, 8)
        self.hour = tf.keras.layers.Embedding(24, 4)
        self.mix = tf.keras.layers.Dense(48, activation="relu")
        self.mix2 = tf.keras.layers.Dense(24, activation="relu")
        self.click = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, x):
        site, banner = self.site(x["site"]), self.banner(x["banner"])
        h = tf.concat([site, banner, site * banner, self.hour(x["hour"]), x["seen"]], axis=-1)
        return self.click(self.mix2(self.mix(h)))


model = ClickModel()
model({k: v[:2] for k, v in train_x.items()})
optimizer = tf.keras.optimizers.Adam(1e-3)
gradwatch.watch(model)

feed = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(60000, seed=SEED)
    .batch(256, drop_remainder=True)
    .prefetch(2)
)


@tf.function
def step(x, clicked):
    with tf.GradientTape() as tape:
        probability = model(x, training=True)
        loss = tf.reduce_mean(tf.keras.losses.binary_crossentropy(probability, clicked))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(5):
    losses = [step(x, clicked) for x, clicked in feed]
    print(f"epoch {epoch}  loss {np.mean(losses):.4f}")

p = np.clip(model.predict(test_x, batch_size=1024, verbose=0), 1e-6, 1 - 1e-6)
print("mean predicted", p.mean(), "observed", test_y.mean())
print("SCORE test_log_loss", float(-np.mean(test_y * np.log(p) + (1 - test_y) * np.log(1 - p))))
