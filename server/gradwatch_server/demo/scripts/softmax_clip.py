"""Six classes, all 1,024 training images in one batch. A class's evidence is a sigmoid, its logit the evidence's log.

The logits look harmless, -20 or -50, and softmax takes them well. What nobody looks at is the slope of the log there:
1 / evidence. When an evidence is too small for a float32, 1 / 0 meets a sigmoid's slope of 0, and every weight is NaN.
"""

import sys

import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

JIT = "--jit" in sys.argv
CLASSES = 6
BATCH_SIZE = 1024
GAIN = 4.5
LEARNING_RATE = 0.005
STEPS = 400

keras.utils.set_random_seed(0)
images, digits = load_digits(n_class=CLASSES, return_X_y=True)
images = images.astype("float32") * GAIN
train_images, test_images, train_digits, test_digits = train_test_split(
    images, digits, train_size=BATCH_SIZE, random_state=0, stratify=digits
)


class LogEvidence(layers.Layer):
    """Logits: the logarithm of how sure each class is of itself."""

    def call(self, scores):
        """Takes scores, gives logits."""
        evidence = tf.sigmoid(scores)
        return tf.math.log(evidence)


model = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(128, activation="relu", name="hidden"),
        layers.Dense(CLASSES, name="scores"),
        LogEvidence(name="logits"),
        layers.Softmax(name="probabilities"),
    ],
    name="six-digits",
)
model.compile(
    optimizer=keras.optimizers.SGD(LEARNING_RATE),
    loss="categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=JIT,
)
gradwatch.watch(
    model, name="six-digits", config={"steps": STEPS, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE}
)

batch = (train_images, keras.utils.to_categorical(train_digits, CLASSES))
model.fit(tf.data.Dataset.from_tensors(batch).repeat(), steps_per_epoch=STEPS, shuffle=False, verbose=0)

_, accuracy = model.evaluate(test_images, keras.utils.to_categorical(test_digits, CLASSES), verbose=0)
print(f"accuracy on {len(test_images)} digits never seen: {accuracy:.1%}")
