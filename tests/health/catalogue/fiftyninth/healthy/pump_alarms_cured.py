import os

import keras
from keras import layers
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

X, Y = make_multilabel_classification(
    n_samples=6000, n_features=30, n_classes=8, n_labels=2, length=60, random_state=SEED + 1
)
names = ["seal", "bearing", "flow", "heat", "leak", "motor", "valve", "power"]
x_train, x_test, y_train, y_test = train_test_split(
    X.astype("float32"), Y.astype("float32"), test_size=0.25, random_state=SEED
)
scaler = StandardScaler().fit(x_train)
x_train, x_test = scaler.transform(x_train), scaler.transform(x_test)


def dense_block(x, units, name):
    h = layers.Dense(units, use_bias=False, name=name)(x)
    h = layers.LayerNormalization()(h)
    h = layers.Activation("swish")(h)
    return layers.Dropout(0.1)(h)


inp = keras.Input((30,), name="sensors")
x = dense_block(inp, 64, "wide")
x = dense_block(x, 64, "deep")
out = layers.Dense(len(names), activation="sigmoid", name="alarms")(x)
model = keras.Model(inp, out, name="pump_alarms")

optimizer = keras.optimizers.Adam(
    learning_rate=1e-3,
    use_ema=True,
    ema_momentum=0.995,
    ema_overwrite_frequency=None,
)
model.compile(
    optimizer=optimizer,
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(multi_label=True, num_labels=len(names), name="auc")],
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2, validation_data=(x_test, y_test))

p = model.predict(x_test, verbose=0)
print("SCORE", float(average_precision_score(y_test, p, average="macro")))
