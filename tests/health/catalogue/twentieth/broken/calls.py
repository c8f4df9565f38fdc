# Bird call recorder: the first syllable tells the species, the rest is chatter.
import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
STEPS, CH, SPECIES, UNITS = 60, 6, 4, 32


class MinimalGated(keras.layers.Layer):
    """One gate: f decides what is kept of the state and what comes in."""

    def __init__(self, units, gate_bias=0.0, **kw):
        super().__init__(**kw)
        self.units = self.state_size = self.output_size = units
        self.gate_bias = gate_bias

    def build(self, shape):
        k = shape[-1]
        self.wf = self.add_weight(shape=(k, self.units), name="wf")
        self.uf = self.add_weight(shape=(self.units, self.units), initializer="orthogonal", name="uf")
        self.bf = self.add_weight(
            shape=(self.units,), name="bf", initializer=keras.initializers.Constant(self.gate_bias)
        )
        self.wh = self.add_weight(shape=(k, self.units), name="wh")
        self.uh = self.add_weight(shape=(self.units, self.units), initializer="orthogonal", name="uh")
        self.bh = self.add_weight(shape=(self.units,), initializer="zeros", name="bh")

    def call(self, x, states):
        h = states[0]
        f = tf.sigmoid(x @ self.wf + 0.3 * (h @ self.uf) + self.bf)
        cand = tf.tanh(x @ self.wh + (f * h) @ self.uh + self.bh)
        h = f * h + (1.0 - f) * cand
        return h, [h]


def recordings(n):
    y = rng.integers(0, SPECIES, n)
    x = rng.normal(0, 0.5, (n, STEPS, CH)).astype("float32")
    for i in range(n):
        x[i, :5, y[i]] += 2.0
    return x, y.astype("int32")


xt, yt = recordings(3000)
xv, yv = recordings(800)

model = keras.Sequential(
    [
        keras.Input((STEPS, CH)),
        keras.layers.RNN(MinimalGated(UNITS)),
        keras.layers.Dense(SPECIES),
    ]
)
opt = keras.optimizers.Adam(2e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model, opt)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((xt, yt)).shuffle(3000, seed=1).batch(64, drop_remainder=True)
for epoch in range(16):
    losses = [float(step(x, y)) for x, y in ds]
pred = model.predict(xv, verbose=0).argmax(1)
print("loss %.4f  held-out accuracy %.3f" % (np.mean(losses), (pred == yv).mean()))
