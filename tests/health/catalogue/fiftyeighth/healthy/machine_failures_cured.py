import os

import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

x, y = make_classification(
    n_samples=9000,
    n_features=20,
    n_informative=10,
    n_redundant=4,
    n_clusters_per_class=6,
    weights=[0.85],
    class_sep=1.1,
    flip_y=0.01,
    random_state=SEED + 11,
)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, stratify=y, random_state=SEED)
scaler = StandardScaler().fit(x_train)
x_train, x_test = scaler.transform(x_train), scaler.transform(x_test)

inputs = keras.Input((20,), name="sensors")
h = inputs
for units in (96, 64, 32):
    h = layers.Dense(units, kernel_initializer="he_uniform")(h)
    h = layers.LeakyReLU()(h)
risk = layers.Dense(1, activation="sigmoid", name="failure")(h)
model = keras.Model(inputs, risk)

model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

callbacks = [
    keras.callbacks.ReduceLROnPlateau(monitor="val_auc", mode="max", factor=0.2, patience=1, min_delta=1e-3),
]
model.fit(
    x_train,
    y_train,
    batch_size=128,
    epochs=30,
    validation_split=0.15,
    callbacks=callbacks,
    verbose=2 if os.environ.get("SHOW") else 0,
)
print("SCORE", round(roc_auc_score(y_test, model.predict(x_test, verbose=0).ravel()), 4))
