import os
from functools import partial

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import average_precision_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

FEATURES = 20


def make_machines(n, seed):
    proj = np.random.default_rng(60).normal(size=(2, FEATURES)) / np.sqrt(FEATURES)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, FEATURES)).astype("float32")
    a, b = x @ proj.T, 0.15 * rng.normal(size=n)
    heat = a[:, 0] + 0.5 * a[:, 1] ** 2 + b
    y = (heat > 2.6).astype("float32")
    return x, y


def focal_loss(labels, logits, gamma=2.0, alpha=0.25):
    p = tf.sigmoid(logits)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    hard = labels * (1 - p) + (1 - labels) * p
    weight = labels * alpha + (1 - labels) * (1 - alpha)
    return tf.reduce_mean(weight * hard**gamma * ce)


def build_alarm(prior):
    bias = keras.initializers.Constant(float(np.log(prior / (1 - prior))))
    inp = keras.Input((FEATURES,))
    h = keras.layers.Dense(48, activation="gelu", name="alarm_1")(inp)
    h = keras.layers.Dense(48, activation="gelu", name="alarm_2")(h)
    out = keras.layers.Dense(1, bias_initializer=bias, name="alarm_logit")(h)
    return keras.Model(inp, keras.layers.Flatten()(out), name="alarm")


class AlarmTrainer:
    def __init__(self, model, loss_fn, lr=3e-3):
        self.model, self.loss_fn = model, loss_fn
        self.opt = keras.optimizers.Adam(lr, epsilon=1e-9)

    @tf.function(jit_compile=True)
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, tf.squeeze(self.model(x, training=True), axis=-1))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


def main():
    (x, y), (xt, yt) = make_machines(16000, 1), make_machines(8000, 2)
    print("share of faults", y.mean(), yt.mean())
    model = build_alarm(y.mean())
    trainer = AlarmTrainer(model, partial(focal_loss, gamma=2.0, alpha=0.5))
    watch = gradwatch.watch(model)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(16000, seed=SEED).batch(128, drop_remainder=True)
    for epoch in range(6):
        for xb, yb in ds:
            loss = trainer.train_step(xb, yb)
            watch.log(loss=loss)
        print("epoch", epoch, "loss", float(loss))
    scores = model.predict(xt, verbose=0).ravel()
    print("SCORE", float(average_precision_score(yt, scores)))


if __name__ == "__main__":
    main()
