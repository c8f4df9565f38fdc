import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

CONFIG = {"micro_batch": 16, "accumulate": 4, "steps": 350, "lr": 0.1, "momentum": 0.9, "classes": 10}


def load_split():
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(x))
    x, y = (x[order] / 16.0).astype("float32"), y[order].astype("int32")
    return (x[:1400], y[:1400]), (x[1400:], y[1400:])


def build_classifier():
    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(64, activation="relu", name="hidden_1"),
            keras.layers.Dense(48, activation="relu", name="hidden_2"),
            keras.layers.Dense(CONFIG["classes"], name="logits"),
        ],
        name="sorter",
    )


class Accumulator:
    """Averages the gradients of several micro-batches into one update."""

    def __init__(self, variables, every):
        self.every = every
        self.slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]

    def add(self, grads):
        for slot, g in zip(self.slots, grads):
            slot.assign_add(g / self.every)

    def read(self):
        return [s.value() for s in self.slots]

    def reset(self):
        for s in self.slots:
            s.assign(tf.zeros_like(s))


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.optimizer = keras.optimizers.SGD(config["lr"], momentum=config["momentum"])
        self.optimizer.build(model.trainable_variables)
        self.accumulator = Accumulator(model.trainable_variables, config["accumulate"])
        self.every = config["accumulate"]

    @tf.function
    def micro_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
        self.accumulator.add(tape.gradient(loss, self.model.trainable_variables))
        return loss

    @tf.function
    def apply(self):
        self.optimizer.apply_gradients(zip(self.accumulator.read(), self.model.trainable_variables))

    def train_step(self, batches):
        total = 0.0
        for _ in range(self.every):
            total += self.micro_step(*next(batches))
        self.apply()
        return total / self.every


def main():
    (x, y), (xt, yt) = load_split()
    model = build_classifier()
    trainer = Trainer(model, CONFIG)
    watch = gradwatch.watch(model)
    batches = iter(
        tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1400, seed=SEED).repeat().batch(CONFIG["micro_batch"])
    )
    for step in range(CONFIG["steps"]):
        loss = trainer.train_step(batches)
        watch.log(loss=loss)
        if step % 50 == 0:
            print(f"step {step} loss {float(loss):.4f}")
    pred = model.predict(xt, verbose=0).argmax(1)
    print("SCORE", float((pred == yt).mean()))


if __name__ == "__main__":
    main()
