"""Handwritten digits as they come, 0 to 255, with the cross-entropy taken from the scores.

The same training as ``log_clip.py``, with one change: the loss is given the scores, so that a digit held for impossible
still has a gradient.
"""

import sys

import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

JIT = "--jit" in sys.argv
BATCH_SIZE = 64
EPOCHS = 30
LEARNING_RATE = 0.001

keras.utils.set_random_seed(0)
images, digits = load_digits(return_X_y=True)
images = images.astype("float32") * (255 / 16)
train_images, test_images, train_digits, test_digits = train_test_split(
    images, digits, test_size=360, random_state=0, stratify=digits
)

model = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(64, activation="relu", name="hidden"),
        layers.Dense(10, name="scores"),
    ],
    name="digits-clipped",
)
model.compile(
    optimizer=keras.optimizers.Adam(LEARNING_RATE),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=JIT,
)
steps = EPOCHS * -(-len(train_images) // BATCH_SIZE)
gradwatch.watch(
    model, name="digits-clipped", config={"steps": steps, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE}
)

train_truth, test_truth = keras.utils.to_categorical(train_digits, 10), keras.utils.to_categorical(test_digits, 10)
model.fit(train_images, train_truth, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)

_, accuracy = model.evaluate(test_images, test_truth, verbose=0)
print(f"accuracy on {len(test_images)} digits never seen: {accuracy:.1%}")
