"""Segment hairline cracks, about one pixel in a hundred, in concrete photographs whose borders carry no annotation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, N, BATCH, IGNORE = 40, 640, 4, 255


def plate():
    img = np.full((SIDE, SIDE), rng.uniform(0.45, 0.65)) + rng.normal(0, 0.04, (SIDE, SIDE))
    coarse = rng.normal(0, 0.06, (SIDE // 5, SIDE // 5))
    img += np.kron(coarse, np.ones((5, 5)))
    mask = np.zeros((SIDE, SIDE), "int32")
    for _ in range(rng.integers(2, 6)):  # dark round pores are no cracks
        cy, cx = rng.integers(0, SIDE, 2)
        yy, xx = np.mgrid[0:SIDE, 0:SIDE]
        img[(yy - cy) ** 2 + (xx - cx) ** 2 < rng.uniform(3, 9)] -= 0.22
    if rng.random() < 0.6:
        y, x = rng.uniform(6, SIDE - 6, 2)
        angle = rng.uniform(0, 2 * np.pi)
        for _ in range(rng.integers(18, 36)):
            iy, ix = int(y), int(x)
            if not (0 <= iy < SIDE and 0 <= ix < SIDE):
                break
            mask[iy, ix] = 1
            img[iy, ix] -= rng.uniform(0.15, 0.3)
            angle += rng.normal(0, 0.25)
            y, x = y + np.sin(angle), x + np.cos(angle)
    mask[:3], mask[-3:], mask[:, :3], mask[:, -3:] = IGNORE, IGNORE, IGNORE, IGNORE
    return np.clip(img, 0, 1), mask


pairs = [plate() for _ in range(N)]
images = np.stack([p[0] for p in pairs])[..., None].astype("float32") - 0.5
masks = np.stack([p[1] for p in pairs])
cut = 500
train = (
    tf.data.Dataset.from_tensor_slices((images[:cut], masks[:cut]))
    .shuffle(cut, seed=seed)
    .batch(BATCH, drop_remainder=True)
)


def block(x, filters, dilation=1):
    x = layers.Conv2D(filters, 3, padding="same", dilation_rate=dilation, use_bias=False)(x)
    return layers.Activation("silu")(layers.GroupNormalization(4)(x))


inp = keras.Input((SIDE, SIDE, 1))
a = block(inp, 12)
b = block(a, 16, 2)
c = block(b, 16, 4)
h = block(layers.Concatenate()([a, b, c]), 16)
prior = keras.initializers.Constant(-np.log(0.985 / 0.015))
out = layers.Conv2D(1, 1, bias_initializer=prior)(h)
model = keras.Model(inp, out)

optimizer = keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(3e-3, 1000, 2e-4))
gradwatch.watch(model)


@tf.function
def train_step(img, mask):
    if tf.random.uniform([]) < 0.5:
        img, mask = tf.reverse(img, [2]), tf.reverse(mask, [2])
    known = tf.cast(mask != IGNORE, tf.float32)
    target = tf.cast(mask == 1, tf.float32)
    with tf.GradientTape() as tape:
        logit = model(img, training=True)[..., 0]
        p = tf.sigmoid(logit)
        tp = tf.reduce_sum(p * target * known)
        fp = tf.reduce_sum(p * (1 - target) * known)
        fn = tf.reduce_sum((1 - p) * target * known)
        tversky = (tp + 1) / (tp + 0.4 * fp + 0.6 * fn + 1)
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logit)
        pt = target * p + (1 - target) * (1 - p)
        focal = tf.reduce_sum(tf.square(1 - pt) * ce * known) / tf.reduce_sum(known)
        loss = tf.pow(1 - tversky + 1e-6, 0.75) + 5 * focal
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    losses = [float(train_step(*batch)) for batch in train]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

p = model.predict(images[cut:], verbose=0)[..., 0] > 0
known, truth = masks[cut:] != IGNORE, masks[cut:] == 1
iou = (p & truth & known).sum() / ((p | truth) & known).sum()
print("SCORE crack_iou", round(float(iou), 4))
