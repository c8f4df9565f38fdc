# Well logs -> core measurements: porosity and permeability along the borehole.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
WIN, LOGS = 16, 5


def wells(n):
    z = rng.normal(0, 1, (n, WIN + 4, LOGS)).cumsum(1)
    x = (z[:, 4:] - z.mean(1, keepdims=True)) / z.std(1, keepdims=True)
    x += rng.normal(0, 0.1, x.shape)
    poro = 0.17 + 0.05 * np.tanh(x[:, -4:, 0].mean(1) * x[:, -4:, 2].mean(1) + x[:, :, 1].max(1) - 1.6)
    poro += rng.normal(0, 0.004, n)
    shale = x[:, -6:, 3].mean(1)
    perm = 10 ** (2.3 + 0.7 * np.tanh(shale + 0.5 * x[:, -1, 4]) + rng.normal(0, 0.05, n))  # mD
    return x.astype("float32"), poro.astype("float32")[:, None], perm.astype("float32")[:, None]


def trunk():
    i = keras.Input((WIN, LOGS))
    x = layers.Conv1D(32, 3, padding="causal", activation="relu")(i)
    x = layers.Conv1D(32, 3, padding="causal", activation="relu", dilation_rate=2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(48, activation="relu")(x)
    return i, x


class CoreModel(keras.Model):
    def train_step(self, data):
        x, (poro, perm) = data
        with tf.GradientTape() as tape:
            p, k = self(x, training=True)
            loss_poro = tf.reduce_mean(tf.square(poro - p))
            loss_perm = tf.reduce_mean(tf.square(perm - k))
            loss = loss_poro + loss_perm
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "poro": loss_poro, "perm": loss_perm}


X, phi, k = wells(8000)
Xv, phiv, kv = wells(2000)
mid, spread = phi.mean(), phi.std()
phi, phiv = (phi - mid) / spread, (phiv - mid) / spread
i, x = trunk()
model = CoreModel(i, [layers.Dense(1, name="phi")(x), layers.Dense(1, name="k")(x)])
model.compile(optimizer=keras.optimizers.Adam(1e-3, global_clipnorm=1.0))
gradwatch.watch(model)
h = model.fit(X, (phi, k), batch_size=64, epochs=12, verbose=0)
out = model.predict(Xv, verbose=0)
r2 = lambda t, q: 1 - np.mean((t - q) ** 2) / t.var()
print(f"loss {h.history['loss'][-1]:.4f}  held-out R2 porosity {r2(phiv, out[0]):.3f}")
