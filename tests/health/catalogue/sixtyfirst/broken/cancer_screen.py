import os

import keras
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

table = load_breast_cancer()
x_train, x_test, y_train, y_test = train_test_split(
    table.data, table.target, test_size=0.3, random_state=SEED, stratify=table.target
)
scaler = StandardScaler().fit(x_train)
x_train = scaler.transform(x_train).astype("float32")
x_test = scaler.transform(x_test).astype("float32")
y_train = y_train.astype("float32")

inputs = keras.Input((x_train.shape[1],), name="measurements")
h = keras.layers.Dense(32, activation="relu", name="cells")(inputs)
h = keras.layers.Dropout(0.2)(h)
h = keras.layers.Dense(16, activation="relu", name="tissue")(h)
outputs = keras.layers.Dense(1, activation="softmax", name="benign")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=["accuracy"],
)
gradwatch.watch(model)


class Progress(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 10 == 0:
            print(f"epoch {epoch} loss {logs['loss']:.4f} accuracy {logs['accuracy']:.3f}")


model.fit(
    x_train,
    y_train,
    batch_size=16,
    epochs=40,
    verbose=0,
    callbacks=[Progress()],
)

p = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", balanced_accuracy_score(y_test, p > 0.5))
