import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE, N = 20, 4000
FINDINGS = ["edema", "effusion", "nodule"]
rng = np.random.default_rng(SEED)


def scans(n):
    truth = (rng.random((n, 3)) < np.array([0.45, 0.4, 0.35])).astype(int)
    img = rng.normal(0, 0.5, (n, SIZE, SIZE, 1)).astype("float32")
    for i in range(n):
        if truth[i, 0]:
            img[i, 2:9, 2:18, 0] += 0.5
        if truth[i, 1]:
            k = rng.integers(3, 6)
            img[i, -k:, :, 0] += 0.7
        if truth[i, 2]:
            r, c = rng.integers(8, 14, 2)
            img[i, r : r + 3, c : c + 3, 0] += 1.5
    return img, truth


def radiologist(truth, unsure=(0.25, 0.55, 0.5)):
    report = truth.copy()
    report[rng.random(truth.shape) < np.array(unsure)] = -1
    return report


x_train, truth_train = scans(N)
x_test, truth_test = scans(800)
report = radiologist(truth_train)
labels = {f: report[:, [k]].astype("float32") for k, f in enumerate(FINDINGS)}

inp = keras.Input((SIZE, SIZE, 1))
z = layers.Conv2D(12, 3, activation="relu", name="conv1")(inp)
z = layers.MaxPooling2D()(z)
z = layers.Conv2D(24, 3, activation="relu", name="conv2")(z)
z = layers.Flatten()(z)
z = layers.Dense(48, activation="relu", name="trunk")(z)
outputs = {f: layers.Dense(1, name=f)(z) for f in FINDINGS}
model = keras.Model(inp, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss={f: keras.losses.BinaryCrossentropy(from_logits=True) for f in FINDINGS},
)
watch = gradwatch.watch(model)
known = {f: (v[:, 0] >= 0).astype("float32") for f, v in labels.items()}
model.fit(x_train, labels, sample_weight=known, batch_size=64, epochs=7, verbose=2)

pred = model.predict(x_test, verbose=0)
acc = []
for k, f in enumerate(FINDINGS):
    guess = pred[f][:, 0] > 0
    recall = [np.mean(guess[truth_test[:, k] == v] == v) for v in (0, 1)]
    acc.append(np.mean(recall))
    print(f, acc[-1])
print("SCORE", float(np.mean(acc)))
