import os

import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

FAULTS = ["none", "leak", "fouling", "valve", "compressor"]
HIDDEN = "sigmoid"
DEPTH = 8
WIDTH = 48


def telemetry():
    x, y = make_classification(
        n_samples=5000,
        n_features=18,
        n_informative=10,
        n_redundant=4,
        n_classes=len(FAULTS),
        n_clusters_per_class=1,
        class_sep=1.6,
        flip_y=0.01,
        random_state=SEED,
    )
    return train_test_split(x.astype("float32"), y, test_size=0.2, random_state=SEED, stratify=y)


x_train, x_test, y_train, y_test = telemetry()
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)


def build():
    model = keras.Sequential(name="chiller")
    model.add(keras.Input((x_train.shape[1],)))
    for i in range(DEPTH):
        model.add(layers.Dense(WIDTH, activation=HIDDEN, name=f"hidden_{i + 1}"))
    model.add(layers.Dense(len(FAULTS), activation="softmax", name="fault"))
    return model


model = build()
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=20, verbose=0)
print("train accuracy", history.history["accuracy"][-1])

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", float(acc))
