"""Handwritten digits in mixed precision, custom loop, dynamic loss scale."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
keras.mixed_precision.set_global_policy("mixed_float16")

images, labels = load_digits(return_X_y=True)
images = (images.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
labels = labels.astype("int32")
x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.2, random_state=seed, stratify=labels)

BATCH, EPOCHS = 64, 20
train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .batch(BATCH, drop_remainder=True)
)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.Activation("relu"),
        layers.Conv2D(32, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.Activation("relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.Activation("relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(0.1),
        layers.Dense(10, dtype="float32"),
    ]
)
# growth after 50 clean steps: the scale climbs until fp16 overflows, then halves
optimizer = keras.optimizers.LossScaleOptimizer(
    keras.optimizers.Adam(2e-3), initial_scale=2.0**15, dynamic_growth_steps=50
)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss = keras.metrics.Mean()
train_acc = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
        scaled_loss = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)
    train_acc.update_state(y, logits)


@tf.function
def predict(x):
    return model(x, training=False)


gradwatch.watch(model)
for epoch in range(EPOCHS):
    train_loss.reset_state()
    train_acc.reset_state()
    for x, y in train_ds:
        train_step(x, y)
    if epoch % 4 == 3:
        test_acc = np.mean(np.argmax(predict(x_test), 1) == y_test)
        print(
            f"epoch {epoch + 1:2d} loss {float(train_loss.result()):.4f} "
            f"acc {float(train_acc.result()):.4f} test acc {test_acc:.4f} "
            f"loss scale 2^{np.log2(float(optimizer.dynamic_scale)):.0f}"
        )

test_acc = np.mean(np.argmax(predict(x_test), 1) == y_test)
print(f"FINAL test accuracy {test_acc:.4f}")
