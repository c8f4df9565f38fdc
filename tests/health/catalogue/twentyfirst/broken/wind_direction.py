import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# 12x12 pressure anomaly maps -> wind speed and unit direction at the centre
N, G = 3000, 12
yy, xx = np.meshgrid(np.linspace(-1, 1, G), np.linspace(-1, 1, G), indexing="ij")
fields = np.zeros((N, G, G), "float32")
gx = np.zeros(N)
gy = np.zeros(N)
for _ in range(4):
    cx, cy = rng.uniform(-1.5, 1.5, (2, N, 1, 1))
    amp = rng.normal(0, 1, (N, 1, 1))
    w = rng.uniform(0.6, 1.2, (N, 1, 1))
    bump = amp * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * w**2))
    fields += bump
    at0 = amp * np.exp(-(cx**2 + cy**2) / (2 * w**2)) / w**2
    gx += (at0 * cx).ravel()
    gy += (at0 * cy).ravel()
fields += rng.normal(0, 0.03, fields.shape)
x = (fields - fields.mean()) / fields.std()
x = x[..., None].astype("float32")
u, v = -gy + rng.normal(0, 0.05, N), gx + rng.normal(0, 0.05, N)
speed = np.hypot(u, v)
direction = np.stack([u, v], 1) / speed[:, None]
speed = ((speed - speed.mean()) / speed.std())[:, None].astype("float32")
direction = direction.astype("float32")
n_tr = 2400

inp = keras.Input((G, G, 1))
z = layers.Conv2D(16, 3, activation="relu", padding="same")(inp)
z = layers.MaxPooling2D()(z)
z = layers.Conv2D(32, 3, activation="relu", padding="same")(z)
z = layers.Flatten()(z)
z = layers.Dense(64, activation="relu")(z)
speed_out = layers.Dense(1, name="speed")(z)
dir_out = layers.Dense(2, name="direction")(z)
net = keras.Model(inp, [speed_out, dir_out])

opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(net)

ds = tf.data.Dataset.from_tensor_slices((x[:n_tr], speed[:n_tr], direction[:n_tr]))
ds = ds.shuffle(n_tr, seed=seed).batch(48)


@tf.function
def step(xb, sb, db):
    with tf.GradientTape() as tape:
        s_hat, d_hat = net(xb, training=True)
        speed_loss = tf.reduce_mean(tf.square(sb - s_hat))
        dir_loss = tf.reduce_mean(1.0 - keras.losses.cosine_similarity(db, d_hat))
        loss = speed_loss + dir_loss
    g = tape.gradient(loss, net.trainable_weights)
    opt.apply_gradients(zip(g, net.trainable_weights))
    return speed_loss, dir_loss


for epoch in range(10):
    hist = np.array([[float(t) for t in step(*b)] for b in ds])
    print(epoch, "speed %.4f direction %.4f" % tuple(hist.mean(0)))

s_hat, d_hat = net.predict(x[n_tr:], verbose=0)
d_hat /= np.linalg.norm(d_hat, axis=1, keepdims=True) + 1e-9
cos = np.mean(np.sum(d_hat * direction[n_tr:], 1))
r2 = 1 - np.mean((s_hat - speed[n_tr:]) ** 2) / speed[n_tr:].var()
print(f"speed R2 {r2:.3f}  mean cos(direction error) {cos:.3f}")
