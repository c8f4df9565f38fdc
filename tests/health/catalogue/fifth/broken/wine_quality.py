import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2400):
    rng = np.random.default_rng(8)
    x = rng.normal(0, 1, (n, 11))
    s = x[:, 0] + x[:, 1] * x[:, 2] + 0.7 * np.abs(x[:, 3])
    y = np.digitize(s, np.quantile(s, [0.33, 0.66]))
    return x.astype("float32"), y.astype("int32")


class DeepTaster(keras.Model):
    def __init__(self, depth=9, width=40):
        super().__init__()
        self.blocks = [layers.Dense(width, activation="sigmoid", name=f"block_{i}") for i in range(depth)]
        self.head = layers.Dense(3, name="grade")

    def call(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        hit = tf.reduce_mean(tf.cast(tf.argmax(logits, 1, output_type=tf.int32) == y, tf.float32))
        return {"loss": loss, "acc": hit}


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = DeepTaster()
    model.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.9))
    gradwatch.watch(model)
    model.fit(x, y, batch_size=48, epochs=16, verbose=2)


if __name__ == "__main__":
    main()
