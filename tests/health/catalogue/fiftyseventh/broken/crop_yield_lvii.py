import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make(n):
    x = rng.normal(size=(n, 10)).astype("float32")
    tons = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=n)
    organic = (x[:, 3] - x[:, 4] + 0.5 * x[:, 5] > 0).astype("float32")
    return x, {"tons": tons[:, None].astype("float32"), "organic": organic[:, None]}


x_train, y_train = make(6000)
x_test, y_test = make(1500)

EPOCHS, BATCH, BASE_LR = 30, 128, 0.05
total_steps = EPOCHS * (len(x_train) // BATCH)


class PolyDecay(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, base, total, power=0.9, warmup=40):
        self.base, self.total, self.power, self.warmup = base, total, power, warmup

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        ramp = tf.minimum(1.0, (step + 1.0) / self.warmup)
        remaining = 1.0 - (step + 1.0) / (self.total + 1.0)
        return self.base * ramp * tf.pow(remaining, self.power)

    def get_config(self):
        return {"base": self.base, "total": self.total, "power": self.power, "warmup": self.warmup}


field = keras.Input((10,))
h = keras.layers.Dense(96, activation="gelu")(field)
h = keras.layers.LayerNormalization()(h)
h = keras.layers.Dense(96, activation="gelu")(h)
tons = keras.layers.Dense(1, name="tons")(h)
organic = keras.layers.Dense(1, activation="sigmoid", name="organic")(h)
model = keras.Model(field, {"tons": tons, "organic": organic})
model.compile(
    optimizer=keras.optimizers.SGD(PolyDecay(BASE_LR, total_steps), momentum=0.9),
    loss={"tons": "mse", "organic": "binary_crossentropy"},
    loss_weights={"tons": 1.0, "organic": 0.5},
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1.0 - np.mean((pred["tons"] - y_test["tons"]) ** 2) / np.var(y_test["tons"])
acc = np.mean((pred["organic"] > 0.5) == (y_test["organic"] > 0.5))
print("SCORE", float(0.5 * (r2 + acc)))
