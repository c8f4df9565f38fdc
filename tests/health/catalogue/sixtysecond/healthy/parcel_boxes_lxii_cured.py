import os
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE = 24


class Boxes(NamedTuple):
    xy: tf.Tensor
    wh: tf.Tensor


def make_scenes(n, seed):
    rng = np.random.default_rng(seed)
    img = rng.normal(0, 0.1, (n, SIZE, SIZE, 1)).astype("float32")
    boxes = np.zeros((n, 4), "float32")
    for i in range(n):
        w, h = rng.integers(2, 14, 2)
        x0, y0 = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
        img[i, y0 : y0 + h, x0 : x0 + w, 0] += rng.uniform(0.6, 1.2)
        boxes[i] = [(x0 + w / 2) / SIZE, (y0 + h / 2) / SIZE, w / SIZE, h / SIZE]
    return img, boxes


def conv_block(x, filters, name):
    x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu", name=name)(x)
    return keras.layers.MaxPooling2D()(x)


def build_detector():
    inp = keras.Input((SIZE, SIZE, 1))
    x = conv_block(inp, 12, "stem")
    x = conv_block(x, 24, "body")
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(64, activation="relu", name="neck")(x)
    raw = keras.layers.Dense(4, name="box_head", bias_initializer=keras.initializers.Constant(0.4))(x)
    return keras.Model(inp, raw, name="detector")


def decode(raw):
    return Boxes(xy=tf.sigmoid(raw[:, :2]), wh=tf.sigmoid(raw[:, 2:]))


def box_losses(raw, target, coord=5.0):
    pred = decode(raw)
    centre = tf.reduce_sum(tf.square(pred.xy - target[:, :2]), axis=1)
    extent = tf.reduce_sum(tf.square(tf.sqrt(pred.wh) - tf.sqrt(target[:, 2:])), axis=1)
    return {"centre": coord * tf.reduce_mean(centre), "extent": coord * tf.reduce_mean(extent)}


def iou(a, b):
    a0, a1 = a[:, :2] - a[:, 2:] / 2, a[:, :2] + a[:, 2:] / 2
    b0, b1 = b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2
    inter = np.clip(np.minimum(a1, b1) - np.maximum(a0, b0), 0, None).prod(1)
    union = np.abs(a[:, 2:]).prod(1) + b[:, 2:].prod(1) - inter
    return inter / union


def main():
    (x, t), (xv, tv) = make_scenes(3000, 3), make_scenes(500, 4)
    model = build_detector()
    opt = keras.optimizers.Adam(1e-3)
    watch = gradwatch.watch(model)

    @tf.function
    def train_step(images, targets):
        with tf.GradientTape() as tape:
            losses = box_losses(model(images, training=True), targets)
            total = tf.add_n(list(losses.values()))
        grads = tape.gradient(total, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        losses["total"] = total
        return losses

    ds = tf.data.Dataset.from_tensor_slices((x, t)).shuffle(3000, seed=SEED).batch(32)
    for epoch in range(4):
        for images, targets in ds:
            losses = train_step(images, targets)
            watch.log(loss=losses["total"], centre=losses["centre"], extent=losses["extent"])
        print("epoch", epoch, {k: round(float(v), 4) for k, v in losses.items()})
    pred = decode(model(xv))
    score = iou(np.concatenate([pred.xy.numpy(), pred.wh.numpy()], axis=1), tv)
    print("SCORE", float(np.nan_to_num(score).mean()))


if __name__ == "__main__":
    main()
