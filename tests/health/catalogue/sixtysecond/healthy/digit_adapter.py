import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class AdapterConfig:
    base_steps: int = 150
    steps: int = 300
    rank: int = 4
    lr: float = 5e-3


class LowRank(keras.layers.Layer):
    def __init__(self, base, rank, scale=2.0, **kw):
        super().__init__(**kw)
        self.base, self.rank, self.scale = base, rank, scale
        self.base.trainable = False

    def build(self, shape):
        units = self.base.units
        self.down = self.add_weight(shape=(shape[-1], self.rank), initializer="he_normal", name="down")
        self.up = self.add_weight(shape=(self.rank, units), initializer="zeros", name="up")

    def call(self, x):
        pre = self.base(x) + self.scale * tf.matmul(tf.matmul(x, self.down), self.up)
        return tf.nn.relu(pre)


def fit(model, optimizer, data, steps, watch=None):
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        v = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    ds = iter(tf.data.Dataset.from_tensor_slices(data).shuffle(1400, seed=SEED).repeat().batch(64))
    for step in range(steps):
        loss = train_step(*next(ds))
        if watch is not None:
            watch.log(loss=loss)
        if step % 100 == 0:
            print(step, float(loss))


def main():
    cfg = AdapterConfig()
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(3).permutation(len(x))
    x, y = (x[order] / 16.0).astype("float32"), y[order].astype("int32")
    first, second = keras.layers.Dense(64, name="base_1"), keras.layers.Dense(64, name="base_2")
    inp = keras.Input((64,))
    h = keras.layers.ReLU()(second(keras.layers.ReLU()(first(inp))))
    base = keras.Model(inp, keras.layers.Dense(10, name="base_out")(h), name="base")
    fit(base, keras.optimizers.Adam(3e-3), (x[:1400], y[:1400]), cfg.base_steps)

    turned = np.rot90(x.reshape(-1, 8, 8), axes=(1, 2)).reshape(-1, 64).copy()
    inp = keras.Input((64,))
    h = LowRank(first, cfg.rank, name="adapter_1")(inp)
    h = LowRank(second, cfg.rank, name="adapter_2")(h)
    frozen_out = base.get_layer("base_out")
    frozen_out.trainable = False
    model = keras.Model(inp, frozen_out(h), name="adapted")
    watch = gradwatch.watch(model)
    fit(model, keras.optimizers.Adam(cfg.lr), (turned[:1400], y[:1400]), cfg.steps, watch)
    pred = model(turned[1400:]).numpy().argmax(1)
    print("SCORE", float((pred == y[1400:]).mean()))


if __name__ == "__main__":
    main()
