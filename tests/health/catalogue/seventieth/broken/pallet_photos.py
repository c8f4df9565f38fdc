import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 19)

SIZE = 16


def draw(kind, rows, cols):
    image = rng.normal(0.3, 0.08, (SIZE, SIZE))
    top, left = rng.integers(1, 5, 2)
    if kind == 0:
        image[top : top + 9, left : left + 9 : 3] += 0.5
    elif kind == 1:
        image[top : top + 9 : 3, left : left + 9] += 0.5
    elif kind == 2:
        for k in range(9):
            image[top + k, left + k] += 0.6
            image[top + k, left + 8 - k] += 0.6
    else:
        image[top : top + 9, left : left + 9] += 0.3
    return np.clip(image + rows * 0.02 - cols * 0.02, 0, 1)


def make_set(n, kinds):
    label = rng.integers(0, len(kinds), n)
    x = np.stack([draw(kinds[k], rng.normal(), rng.normal()) for k in label])
    return x[..., None].astype("float32"), label.astype("int32")


x_train, y_train = make_set(2400, [0, 1, 2, 3])
x_test, y_test = make_set(600, [0, 1, 2, 3])

GLOBAL_BATCH = 64
EPOCHS = 8

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1), name="photo"),
        keras.layers.Conv2D(12, 3, activation="relu", name="block1"),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu", name="block2"),
        keras.layers.Flatten(name="features"),
        keras.layers.Dense(32, activation="relu", name="adapter"),
        keras.layers.Dense(4, name="damage"),
    ]
)
loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
optimizer = keras.optimizers.SGD(learning_rate=0.02, momentum=0.9)
train_accuracy = keras.metrics.SparseCategoricalAccuracy()
watch = gradwatch.watch(model)


def compute_loss(labels, logits):
    return loss_object(labels, logits)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        loss = compute_loss(labels, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_accuracy.update_state(labels, logits)
    return loss


dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(y_train), seed=SEED)
    .batch(GLOBAL_BATCH, drop_remainder=True)
)

for epoch in range(EPOCHS):
    train_accuracy.reset_state()
    total = 0.0
    for images, labels in dataset:
        loss = train_step(images, labels)
        watch.log(loss=loss)
        total += float(loss)
    print("epoch", epoch, "loss", round(total, 3), "accuracy", float(train_accuracy.result()))

logits = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean(logits.argmax(axis=1) == y_test)))
