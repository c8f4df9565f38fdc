import os

import keras
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

images, labels = load_digits(return_X_y=True)
images = (images.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
labels = labels.astype("int32")
x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.2, stratify=labels, random_state=SEED)


def jitter(image, label):
    padded = tf.pad(image, [[1, 1], [1, 1], [0, 0]])
    return tf.image.random_crop(padded, (8, 8, 1)), label


train_data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=SEED)
    .map(jitter, num_parallel_calls=1)
    .batch(32)
    .prefetch(2)
)
test_data = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(128)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="strokes"),
        keras.layers.MaxPooling2D(name="pool"),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu", name="shapes"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dense(64, activation="relu", name="parts"),
        keras.layers.Dense(10, activation="softmax", name="digit"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.1),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
checkpoint = keras.callbacks.EarlyStopping(monitor="val_accuracy", mode="max", patience=12, restore_best_weights=False)
gradwatch.watch(model)
model.fit(train_data, validation_data=test_data, epochs=10, callbacks=[checkpoint], verbose=0)

_, accuracy = model.evaluate(test_data, verbose=0)
print("SCORE", float(accuracy))
