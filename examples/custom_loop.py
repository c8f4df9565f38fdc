"""The one line in a loop of one's own, stopped at the first gradient that is not finite.

The loss takes the logarithm of a probability. Nothing keeps that away from zero, and with this learning rate it gets
there: `gradwatch.NonFiniteError` then ends the loop with what was found, instead of hours of NaN.
"""

import keras
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

images, digits = load_digits(return_X_y=True)
data = tf.data.Dataset.from_tensor_slices((images.astype("float32"), digits))
batches = data.shuffle(2000, seed=0).repeat().batch(32)

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(10, "softmax")])
optimizer = keras.optimizers.SGD(0.05)


@tf.function
def train_step(watch, x, y):
    with tf.GradientTape() as tape:
        probabilities = model(x, training=True)
        loss = -tf.reduce_mean(tf.math.log(tf.gather(probabilities, y, batch_dims=1)))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    watch.log(loss=loss)


with gradwatch.watch(model, on_nonfinite="raise") as watch:
    try:
        for x, y in batches.take(1000):
            train_step(watch, x, y)
    except gradwatch.NonFiniteError as error:
        print(f"stopped: {error}")
