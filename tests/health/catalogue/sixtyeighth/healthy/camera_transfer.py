import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FEATURES = 32
PARTS = 6
BATCH = 64
STEPS = 1800

CENTRES = rng.normal(0.0, 1.0, (PARTS, 10))
LENS = rng.normal(0.0, 1.0, (10, FEATURES)) / 3.0
TINT = rng.normal(0.0, 1.0, (PARTS, FEATURES)) / 2.5
GLARE = rng.normal(0.0, 1.0, FEATURES) / 2.5


def pictures(n, new_camera):
    part = rng.integers(0, PARTS, n)
    x = (CENTRES[part] + 0.5 * rng.normal(size=(n, 10))) @ LENS
    if new_camera:
        x = x + TINT[rng.integers(0, PARTS, n)] + 1.5 * GLARE
    else:
        x = x + TINT[part]
    return (x + 0.15 * rng.normal(size=x.shape)).astype("float32"), part


x_old, y_old = pictures(4000, new_camera=False)
x_new, _ = pictures(4000, new_camera=True)
x_test, y_test = pictures(1500, new_camera=True)


@tf.custom_gradient
def reverse_gradient(x, strength):
    def grad(upstream):
        return -strength * upstream, None

    return tf.identity(x), grad


features = keras.Sequential(
    [keras.Input((FEATURES,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(32, activation="relu")],
    name="features",
)
classifier = keras.Sequential([keras.Input((32,)), keras.layers.Dense(PARTS)], name="classifier")
critic = keras.Sequential(
    [keras.Input((32,)), keras.layers.Dense(48, activation="relu"), keras.layers.Dense(1)], name="critic"
)
optimizer = keras.optimizers.Adam(1e-3)
class_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
camera_loss = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(features, classifier, critic)
CAMERA = tf.concat([tf.zeros((BATCH, 1)), tf.ones((BATCH, 1))], axis=0)


@tf.function
def train_step(old, labels, new, strength):
    with tf.GradientTape() as tape:
        h = features(tf.concat([old, new], axis=0), training=True)
        label_error = class_loss(labels, classifier(h[:BATCH], training=True))
        camera_error = camera_loss(CAMERA, critic(reverse_gradient(h, strength), training=True))
        loss = label_error + camera_error
    variables = features.trainable_variables + classifier.trainable_variables + critic.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, label_error, camera_error


for step in range(STEPS):
    strength = 2.0 / (1.0 + np.exp(-8.0 * step / STEPS)) - 1.0
    old, new = rng.integers(0, 4000, BATCH), rng.integers(0, 4000, BATCH)
    loss, label_error, camera_error = train_step(
        tf.constant(x_old[old]), tf.constant(y_old[old]), tf.constant(x_new[new]), tf.constant(strength, tf.float32)
    )
    watch.log(loss=loss)
    if step % 300 == 0:
        print(step, float(label_error), float(camera_error))

predicted = np.argmax(classifier(features(x_test)).numpy(), axis=1)
print("SCORE", float(np.mean(predicted == y_test)))
