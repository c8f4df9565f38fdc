import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
TRUE_DAMPING, TRUE_STIFFNESS = 0.4, 4.0
omega = np.sqrt(TRUE_STIFFNESS - TRUE_DAMPING**2 / 4)


def motion(t):
    return np.exp(-TRUE_DAMPING * t / 2) * np.cos(omega * t)


t_obs = rng.uniform(0, 5, (60, 1)).astype("float32")
x_obs = (motion(t_obs) + rng.normal(0, 0.01, t_obs.shape)).astype("float32")


class SpringModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = keras.Sequential(
            [
                keras.layers.Dense(32, activation="tanh"),
                keras.layers.Dense(32, activation="tanh"),
                keras.layers.Dense(1),
            ]
        )
        self.damping = tf.Variable(1.0, trainable=True, name="damping")
        self.stiffness = tf.Variable(1.0, trainable=True, name="stiffness")

    def call(self, t):
        return self.net(t / 2.5 - 1.0)

    def residual(self, t):
        with tf.GradientTape() as outer:
            outer.watch(t)
            with tf.GradientTape() as inner:
                inner.watch(t)
                x = self(t)
            v = inner.gradient(x, t)
        a = outer.gradient(v, t)
        return a + self.damping * v + self.stiffness * x


model = SpringModel()
model(t_obs[:1])
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 4000, alpha=0.05))
watch = gradwatch.watch(model)


@tf.function
def step(t_col):
    with tf.GradientTape() as tape:
        data_loss = tf.reduce_mean(tf.square(model(t_obs, training=True) - x_obs))
        pde_loss = tf.reduce_mean(tf.square(model.residual(t_col)))
        loss = data_loss + 0.05 * pde_loss
    variables = model.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    watch.log(loss=loss)
    return loss, data_loss, pde_loss


for i in range(4000):
    t_col = tf.random.uniform((64, 1), 0.0, 5.0)
    loss, data_loss, pde_loss = step(t_col)
    if i % 500 == 0:
        print(i, float(loss), float(data_loss), float(pde_loss))

c, k = float(model.damping), float(model.stiffness)
print("damping", c, "stiffness", k)
error = abs(c - TRUE_DAMPING) / TRUE_DAMPING + abs(k - TRUE_STIFFNESS) / TRUE_STIFFNESS
print("SCORE", 1.0 - error / 2)
