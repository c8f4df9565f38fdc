import os

import keras
import numpy as np
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 17)

SPECIES = 8
SIZE = 16


def leaf_image(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    cx, cy = rng.normal(SIZE / 2, 0.8, 2)
    angle = rng.uniform(-0.3, 0.3) + (kind % 4) * np.pi / 4
    u = (xx - cx) * np.cos(angle) + (yy - cy) * np.sin(angle)
    v = -(xx - cx) * np.sin(angle) + (yy - cy) * np.cos(angle)
    length = 6.0 if kind < 4 else 4.0
    width = 2.0 if kind < 4 else 2.6
    image = ((u / length) ** 2 + (v / width) ** 2 < 1).astype("float32")
    if kind >= 4:
        image *= 0.6 + 0.4 * np.cos(u * 1.8)
    image += rng.normal(0, 0.15, image.shape)
    return np.clip(image, 0, 1)


labels = rng.integers(0, SPECIES, 3200)
images = np.stack([leaf_image(k) for k in labels])[..., None].astype("float32")
x_train, x_test, y_train, y_test = train_test_split(images, labels.astype("int32"), test_size=0.2, random_state=SEED)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(12, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(24, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(SPECIES),
    ]
)
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

history = model.fit(
    x_train,
    y_train,
    validation_split=0.1,
    epochs=8,
    batch_size=32,
    verbose=0,
)
for epoch, (loss, acc) in enumerate(zip(history.history["loss"], history.history["accuracy"])):
    print(f"epoch {epoch + 1}: loss {loss:.3f} accuracy {acc:.3f}")

scores = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean(np.argmax(scores, axis=1) == y_test)))
