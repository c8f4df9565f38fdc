import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DIM = 32
EPOCHS = 8
LEARNING_RATE = 0.002


def to_patches(images):
    blocks = images.reshape(-1, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4)
    return blocks.reshape(-1, 16, 4).astype("float32")


images, digits = load_digits(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(
    to_patches(images.reshape(-1, 8, 8) / 16.0), digits, test_size=0.25, random_state=SEED, stratify=digits
)


class Patches(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.project = keras.layers.Dense(DIM)
        self.places = keras.layers.Embedding(16, DIM)

    def call(self, x):
        return self.project(x) + self.places(tf.range(16))[None]


def encoder_block(x, index):
    h = keras.layers.MultiHeadAttention(4, DIM // 4, name=f"attention_{index}")(x, x)
    x = keras.layers.LayerNormalization(name=f"norm_{index}a")(x + h)
    h = keras.layers.Dense(64, activation="gelu", name=f"widen_{index}")(x)
    h = keras.layers.Dense(DIM, name=f"narrow_{index}")(h)
    return keras.layers.LayerNormalization(name=f"norm_{index}b")(x + h)


inputs = keras.Input((16, 4))
h = Patches(name="patches")(inputs)
for index in range(3):
    h = encoder_block(h, index)
h = keras.layers.GlobalAveragePooling1D()(h)
model = keras.Model(inputs, keras.layers.Dense(10, name="digits")(h))
optimizer = keras.optimizers.Adam(LEARNING_RATE)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=SEED).batch(48)
for epoch in range(EPOCHS):
    for x, y in dataset:
        loss = train_step(x, y)
        watch.log(loss=loss)
    if epoch % 2 == 0:
        print(epoch, float(loss))

predicted = np.argmax(model.predict(x_test, verbose=0), axis=1)
print("SCORE", float(np.mean(predicted == y_test)))
