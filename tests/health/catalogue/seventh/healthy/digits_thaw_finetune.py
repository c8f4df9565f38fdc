"""Transfer learning: a backbone trained on digits 0-5 is reused for 6-9, frozen, then thawed."""

import os

import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)

images, labels = load_digits(return_X_y=True)
images = (images.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
source = labels <= 5
target = ~source

backbone = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv2D(32, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
    ],
    name="backbone",
)
source_model = keras.Sequential([keras.Input((8, 8, 1)), backbone, layers.Dense(6)], name="source_model")
image_in = keras.Input((8, 8, 1))
# training=False: the batch statistics stay those of the source task, also once thawed
features = backbone(image_in, training=False)
features = layers.Dropout(0.1)(features)
target_model = keras.Model(image_in, layers.Dense(4, name="head")(features), name="target_model")


def compile_with(model, rate):
    model.compile(
        optimizer=keras.optimizers.Adam(rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


# 1. source task
xs, xs_val, ys, ys_val = train_test_split(
    images[source], labels[source], test_size=0.15, random_state=seed, stratify=labels[source]
)
compile_with(source_model, 2e-3)
source_model.fit(xs, ys, batch_size=48, epochs=10, verbose=2, validation_data=(xs_val, ys_val))

# 2. new head on the frozen backbone
xt, xt_test, yt, yt_test = train_test_split(
    images[target], labels[target] - 6, test_size=0.3, random_state=seed, stratify=labels[target]
)
backbone.trainable = False
compile_with(target_model, 1e-2)
gradwatch.watch(target_model)
target_model.fit(xt, yt, batch_size=32, epochs=12, verbose=2, validation_data=(xt_test, yt_test))
_, frozen_accuracy = target_model.evaluate(xt_test, yt_test, verbose=0)
print(f"head only: test accuracy {frozen_accuracy:.4f}")

# 3. thaw everything, ten times slower
backbone.trainable = True
compile_with(target_model, 1e-3)
target_model.fit(xt, yt, batch_size=32, epochs=12, verbose=2, validation_data=(xt_test, yt_test))
_, accuracy = target_model.evaluate(xt_test, yt_test, verbose=0)
print(f"FINAL test accuracy {accuracy:.4f} (head only {frozen_accuracy:.4f})")
