import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_TILES, SIZE, CLASSES = 388, 24, 4
BATCH, EPOCHS = 16, 11


def tile():
    """Four-band reflectance of a 24 x 24 tile split into crop parcels."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    seeds = rng.uniform(0, SIZE, (6, 2))
    crop = rng.integers(0, CLASSES, 6)
    owner = np.argmin((yy[..., None] - seeds[:, 0]) ** 2 + (xx[..., None] - seeds[:, 1]) ** 2, axis=-1)
    label = crop[owner]
    spectra = np.array(
        [[0.05, 0.08, 0.06, 0.40], [0.09, 0.12, 0.15, 0.28], [0.04, 0.06, 0.04, 0.10], [0.07, 0.11, 0.08, 0.52]]
    )
    image = spectra[label] * rng.uniform(0.8, 1.2) + rng.normal(0, 0.03, (SIZE, SIZE, 4))
    return image.astype("float32"), label.astype("int32")


class PolyDecay(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, base, total_steps, power=0.9):
        self.base = base
        self.total_steps = total_steps
        self.power = power

    def __call__(self, step):
        progress = tf.cast(step, tf.float32) / float(self.total_steps)
        return self.base * tf.pow(1.0 - progress, self.power)

    def get_config(self):
        return {"base": self.base, "total_steps": self.total_steps, "power": self.power}


def make_model():
    inp = keras.Input((SIZE, SIZE, 4))
    a = layers.Conv2D(16, 3, padding="same", use_bias=False)(inp)
    a = layers.ReLU()(layers.BatchNormalization()(a))
    b = layers.MaxPooling2D()(a)
    b = layers.Conv2D(32, 3, padding="same", use_bias=False)(b)
    b = layers.ReLU()(layers.BatchNormalization()(b))
    c = layers.Concatenate()([a, layers.UpSampling2D()(b)])
    return keras.Model(inp, layers.Conv2D(CLASSES, 3, padding="same")(c))


images, labels = map(np.stack, zip(*(tile() for _ in range(N_TILES))))
train = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(N_TILES, seed=SEED)
    .map(lambda x, y: (x * 4.0 - 0.6, y))
    .batch(BATCH)
    .prefetch(2)
)
schedule = PolyDecay(0.05, EPOCHS * (N_TILES // BATCH))

model = make_model()
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train, epochs=EPOCHS, shuffle=False, verbose=2)
