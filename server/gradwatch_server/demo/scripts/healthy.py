"""A small convolutional network learns handwritten digits. Nothing is wrong with it."""

import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

BATCH_SIZE = 64
EPOCHS = 50
LEARNING_RATE = 1e-3

keras.utils.set_random_seed(0)
images, digits = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1).astype("float32") / 16
train_images, test_images, train_digits, test_digits = train_test_split(
    images, digits, test_size=360, random_state=0, stratify=digits
)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Resizing(24, 24, name="enlarge"),
        layers.RandomTranslation(0.1, 0.1, name="shift"),
        layers.RandomRotation(0.05, name="turn"),
        layers.Conv2D(16, 3, padding="same", use_bias=False, name="conv_1"),
        layers.BatchNormalization(momentum=0.9, name="norm_1"),
        layers.ReLU(name="relu_1"),
        layers.MaxPooling2D(name="pool_1"),
        layers.Conv2D(32, 3, padding="same", use_bias=False, name="conv_2"),
        layers.BatchNormalization(momentum=0.9, name="norm_2"),
        layers.ReLU(name="relu_2"),
        layers.MaxPooling2D(name="pool_2"),
        layers.Conv2D(64, 3, padding="same", use_bias=False, name="conv_3"),
        layers.BatchNormalization(momentum=0.9, name="norm_3"),
        layers.ReLU(name="relu_3"),
        layers.GlobalAveragePooling2D(name="average"),
        layers.Dense(64, activation="relu", name="hidden"),
        layers.Dense(10, name="logits"),
    ],
    name="digits",
)
model.compile(
    optimizer=keras.optimizers.Adam(LEARNING_RATE),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

steps_per_epoch = -(-len(train_images) // BATCH_SIZE)
gradwatch.watch(
    model,
    name="digits-cnn",
    config={"steps": EPOCHS * steps_per_epoch, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE},
)

model.fit(train_images, train_digits, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)

_, accuracy = model.evaluate(test_images, test_digits, verbose=0)
print(f"accuracy on {len(test_images)} digits never seen: {accuracy:.1%}")
