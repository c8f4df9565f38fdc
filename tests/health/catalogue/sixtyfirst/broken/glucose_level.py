import os

import keras
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

x, y = make_friedman1(n_samples=5000, n_features=8, noise=0.5, random_state=SEED)
glucose = 90.0 + 3.5 * y
x_train, x_test = x[:4000], x[4000:]
y_train, y_test = glucose[:4000, None], glucose[4000:, None]

x_scaler = StandardScaler().fit(x_train)
y_scaler = StandardScaler().fit(y_train)
x_train = x_scaler.transform(x_train).astype("float32")
x_test = x_scaler.transform(x_test).astype("float32")
t_train = y_scaler.transform(y_train).astype("float32")
t_test = y_scaler.transform(y_test).astype("float32")

model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(64, activation="relu", name="meal"),
        keras.layers.Dense(64, activation="relu", name="insulin"),
        keras.layers.Dense(1, activation="relu", name="glucose"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=1e-3),
    loss="mean_squared_error",
    metrics=["mae"],
)
gradwatch.watch(model)

history = model.fit(
    x_train,
    t_train,
    validation_data=(x_test, t_test),
    batch_size=64,
    epochs=20,
    verbose=2,
)

pred = y_scaler.inverse_transform(model.predict(x_test, verbose=0))
print("SCORE", r2_score(y_test, pred))
