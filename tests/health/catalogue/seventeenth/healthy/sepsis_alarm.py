"""Early warning from vital signs; about one stay in fifty turns septic."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)
RATE = 0.02


def stays(n):
    septic = rng.random(n) < RATE
    severity = np.where(septic, rng.normal(1.6, 0.5, n), rng.normal(0.0, 0.5, n))
    hr = 82 + 14 * severity + rng.normal(0, 12, n)
    temp = 36.9 + np.abs(0.9 * severity) * rng.choice([-1, 1], n, p=[0.25, 0.75]) + rng.normal(0, 0.35, n)
    rr = 16 + 4 * severity + rng.normal(0, 3, n)
    sbp = 126 - 13 * severity + rng.normal(0, 14, n)
    wbc = np.exp(2.1 + 0.35 * severity + rng.normal(0, 0.35, n))
    lactate = np.exp(0.1 + 0.45 * severity + rng.normal(0, 0.4, n))
    rest = rng.normal(size=(n, 10))
    x = np.column_stack([hr, temp, rr, sbp, np.log(wbc), np.log(lactate), rest])
    return x.astype("float32"), septic.astype("float32")


x_train, y_train = stays(110000)
x_test, y_test = stays(20000)

norm = layers.Normalization()
norm.adapt(x_train)
inp = keras.Input((16,))
h = norm(inp)
for width in (64, 32):
    h = layers.Dense(width, use_bias=False)(h)
    h = layers.BatchNormalization()(h)
    h = layers.Activation("relu")(h)
logit = layers.Dense(
    1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(np.log(RATE / (1 - RATE)))
)(h)
score = layers.Flatten(data_format="channels_last")(logit)
model = keras.Model(inp, layers.Activation("sigmoid")(score))

model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.PolynomialDecay(1.0, 6500, 0.02), nesterov=True, momentum=0.5
    ),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
)
gradwatch.watch(model)
hist = model.fit(x_train, y_train[:, None], batch_size=256, epochs=16, verbose=2)

p = model.predict(x_test, batch_size=4000, verbose=0)[:, 0]
order = np.argsort(-p)
hits = np.cumsum(y_test[order])
precision = hits / np.arange(1, len(p) + 1)
ap = float(np.sum(precision * y_test[order]) / y_test.sum())
top = int(y_test.sum())
print(
    f"loss {hist.history['loss'][-1]:.5f}  held-out average precision {ap:.4f} (prevalence {y_test.mean():.4f})"
    f"  recall in the top {top} {hits[top - 1] / top:.4f}"
)
