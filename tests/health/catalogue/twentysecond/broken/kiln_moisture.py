import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# near-infrared spectra of timber boards -> moisture content
bands = np.linspace(0, 1, 60)
n = 3000
moisture = rng.uniform(0, 1, n)
density = rng.normal(0, 1, n)
resin = rng.normal(0, 1, n)
spectra = (
    np.exp(-(((bands - 0.35) / 0.08) ** 2)) * moisture[:, None] * 2.5
    + np.exp(-(((bands - 0.75) / 0.1) ** 2)) * (moisture**2)[:, None]
    + bands * density[:, None] * 0.5
    + np.sin(5 * bands) * resin[:, None] * 0.4
    + rng.normal(0, 0.15, (n, 60))
)
X = ((spectra - spectra.mean(0)) / spectra.std(0)).astype("float32")
y = ((moisture - moisture.mean()) / moisture.std()).astype("float32")[:, None]
X_train, y_train, X_test, y_test = X[:2400], y[:2400], X[2400:], y[2400:]

model = keras.Sequential(
    [keras.Input((60,))]
    + [keras.layers.Dense(48, activation="relu", kernel_initializer="he_normal") for _ in range(3)]
    + [keras.layers.Dense(1)]
)
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.5, momentum=0.9), loss="mean_squared_error")
gradwatch.watch(model)
history = model.fit(X_train, y_train, validation_data=(X_test, y_test), batch_size=48, epochs=8, verbose=2)

pred = model.predict(X_test, verbose=0)
print("test R2", 1 - np.mean((pred - y_test) ** 2) / np.var(y_test))
