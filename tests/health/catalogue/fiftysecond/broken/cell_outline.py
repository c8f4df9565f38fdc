"""Find the nucleus in a drawn microscope picture: a small encoder-decoder, trained with flipped copies."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE = 32
yy, xx = np.mgrid[:SIZE, :SIZE]


def picture():
    image = 0.1 + 0.08 * rng.normal(size=(SIZE, SIZE))
    cy, cx = rng.uniform(6, SIZE - 6, 2)
    ry, rx = rng.uniform(3, 6, 2)
    nucleus = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    image = image + 0.5 * nucleus
    for _ in range(3):  # fibres, as bright but thin
        a, b = rng.uniform(-1, 1), rng.uniform(0, SIZE)
        image = image + 0.5 * (np.abs(yy - a * (xx - SIZE / 2) - b) < 0.8)
    return np.clip(image, 0, 1), nucleus


def make_set(n):
    pairs = [picture() for _ in range(n)]
    images = np.stack([p[0] for p in pairs])[..., None].astype("float32")
    masks = np.stack([p[1] for p in pairs])[..., None].astype("float32")
    return images, masks


images, masks = make_set(1200)
test_images, test_masks = make_set(300)


def vary(image, mask):
    image = tf.image.random_brightness(image, 0.1)
    both = tf.concat([tf.image.random_flip_left_right(image), tf.image.random_flip_left_right(mask)], axis=-1)
    return both[..., :1], both[..., 1:]


dataset = (
    tf.data.Dataset.from_tensor_slices((images, masks))
    .shuffle(1200, seed=SEED)
    .map(vary)
    .batch(24, drop_remainder=True)
    .prefetch(2)
)

inputs = keras.Input((SIZE, SIZE, 1))
fine = layers.Conv2D(12, 3, padding="same", activation="relu", name="fine")(inputs)
down = layers.MaxPooling2D()(fine)
middle = layers.Conv2D(24, 3, padding="same", activation="relu", name="middle")(down)
low = layers.MaxPooling2D()(middle)
low = layers.Conv2D(32, 3, padding="same", activation="relu", name="low")(low)
up = layers.Concatenate()([layers.UpSampling2D()(low), middle])
up = layers.Conv2D(24, 3, padding="same", activation="relu", name="up_middle")(up)
up = layers.Concatenate()([layers.UpSampling2D()(up), fine])
up = layers.Conv2D(12, 3, padding="same", activation="relu", name="up_fine")(up)
model = keras.Model(inputs, layers.Conv2D(1, 1, name="mask_logit")(up), name="nucleus_net")

optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train_step(x, m):
    with tf.GradientTape() as tape:
        logit = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=m, logits=logit))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(12):
    mean = np.mean([train_step(x, m).numpy() for x, m in dataset])
    print(f"epoch {epoch + 1:2d}  loss {mean:.4f}")

found = model(test_images).numpy() > 0
truth = test_masks > 0.5
iou = (found & truth).sum() / (found | truth).sum()
print(f"SCORE test_iou {iou:.4f}")
