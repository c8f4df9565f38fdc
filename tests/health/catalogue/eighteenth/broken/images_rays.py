"""Flatland radiance field: line cameras around a scene of coloured discs."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(17)
NEAR, FAR, SAMPLES, PIX = 1.2, 3.8, 28, 48
DISCS = [
    (-0.35, 0.2, 0.28, (0.9, 0.2, 0.1)),
    (0.4, 0.35, 0.22, (0.1, 0.8, 0.3)),
    (0.1, -0.45, 0.33, (0.2, 0.3, 0.9)),
    (-0.55, -0.5, 0.15, (0.9, 0.8, 0.1)),
]


def camera(angle):
    eye = 2.5 * np.array([np.cos(angle), np.sin(angle)])
    rays = angle + np.pi + np.linspace(-0.38, 0.38, PIX)
    return np.concatenate([np.tile(eye, (PIX, 1)), np.stack([np.cos(rays), np.sin(rays)], 1)], 1)


def photograph(rays, fine=400):
    t = np.linspace(NEAR, FAR, fine)
    pts = rays[:, None, :2] + t[:, None] * rays[:, None, 2:]
    sigma, rgb = np.zeros(pts.shape[:2]), np.zeros(pts.shape[:2] + (3,))
    for cx, cy, rad, col in DISCS:
        hit = np.hypot(pts[..., 0] - cx, pts[..., 1] - cy) < rad
        sigma[hit], rgb[hit] = 12.0, col
    alpha = 1 - np.exp(-sigma * (t[1] - t[0]))
    trans = np.cumprod(np.concatenate([np.ones((len(rays), 1)), 1 - alpha[:, :-1]], 1), 1)
    return ((trans * alpha)[..., None] * rgb).sum(1)


class Field(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu") for _ in range(3)])
        self.density = tf.keras.layers.Dense(1)
        self.colour = tf.keras.layers.Dense(3, activation="sigmoid")
        self.freq = tf.constant(2.0 ** np.arange(5), tf.float32)
        self.t = tf.constant(np.linspace(NEAR, FAR, SAMPLES), tf.float32)

    def call(self, rays):
        pts = rays[:, None, :2] + self.t[:, None] * rays[:, None, 2:]
        enc = tf.reshape(pts[..., None] * self.freq, (-1, SAMPLES, 10))
        feat = self.body(tf.concat([pts, tf.sin(enc), tf.cos(enc)], -1))
        sigma = tf.nn.relu(self.density(feat)[..., 0])
        gap = tf.concat([self.t[1:] - self.t[:-1], [np.inf]], 0)
        alpha = 1.0 - tf.exp(-sigma * gap)
        trans = tf.math.cumprod(1.0 - alpha + 1e-10, axis=1, exclusive=True)
        return tf.reduce_sum((trans * alpha)[..., None] * self.colour(feat), axis=1)

    def train_step(self, data):
        rays, pixels = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(rays, training=True) - pixels))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"photo": loss}


angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
train = np.concatenate([camera(a) for a in angles])
test = np.concatenate([camera(a + 0.05) for a in angles[::6]])
pix_train = photograph(train).astype("float32")
pix_test = photograph(test)

field = Field()
field.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
field(train[:2].astype("float32"))
gradwatch.watch(field)
h = field.fit(train.astype("float32"), pix_train, batch_size=128, epochs=24, verbose=0)
for e in range(0, 24, 4):
    print(e, h.history["photo"][e])
mse = np.mean((field.predict(test.astype("float32"), verbose=0) - pix_test) ** 2)
print(f"loss {h.history['photo'][-1]:.5f}  PSNR of unseen cameras {-10 * np.log10(mse):.2f} dB")
