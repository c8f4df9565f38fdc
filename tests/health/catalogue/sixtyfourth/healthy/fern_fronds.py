import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BATCH = 64


def build_backbone():
    inputs = keras.Input((8, 8, 1))
    x = keras.layers.Conv2D(32, 3, padding="same", use_bias=False, name="frond_conv1")(inputs)
    x = keras.layers.BatchNormalization(name="frond_bn1")(x)
    x = keras.layers.ReLU()(x)
    x = keras.layers.Conv2D(48, 3, padding="same", use_bias=False, name="frond_conv2")(x)
    x = keras.layers.BatchNormalization(name="frond_bn2")(x)
    x = keras.layers.ReLU()(x)
    x = keras.layers.MaxPooling2D()(x)
    return keras.Model(inputs, keras.layers.Flatten()(x), name="backbone")


digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_train, x_test, y_train, y_test = train_test_split(images, digits.target, test_size=0.3, random_state=SEED)
low = y_train < 5

backbone = build_backbone()
source = keras.Sequential([backbone, keras.layers.Dense(5, name="source_head")])
source.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
source.fit(x_train[low], y_train[low], batch_size=BATCH, epochs=12, verbose=0)

backbone.trainable = False
inputs = keras.Input((8, 8, 1))
features = backbone(inputs, training=False)
features = keras.layers.Dropout(0.4)(features)
logits = keras.layers.Dense(5, name="target_head")(features)
target = keras.Model(inputs, logits)

x_new, y_new = x_train[~low], y_train[~low] - 5
held = y_test >= 5
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(target)
data = tf.data.Dataset.from_tensor_slices((x_new, y_new)).shuffle(1000, seed=SEED).batch(BATCH)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, target(x, training=True))
    grads = tape.gradient(loss, target.trainable_variables)
    optimizer.apply_gradients(zip(grads, target.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(40):
    losses = [float(step(x, y)) for x, y in data]
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", np.mean(losses))

pred = target.predict(x_test[held], verbose=0).argmax(axis=1)
print("SCORE", float((pred == y_test[held] - 5).mean()))
