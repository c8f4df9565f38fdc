import os

import keras
import numpy as np
from keras.layers import Activation, Dense, Input
from keras.models import Sequential
from keras.optimizers import SGD
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelBinarizer, StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

species = np.array(["clover", "dandelion", "nettle", "plantain", "thistle"])
features, codes = make_blobs(n_samples=3000, n_features=12, centers=5, cluster_std=3.0, random_state=SEED + 21)
names = species[codes]

lb = LabelBinarizer()
targets = lb.fit_transform(names)

trainX, testX, trainY, testY = train_test_split(features, targets, test_size=0.25, random_state=SEED)
scaler = StandardScaler()
trainX = scaler.fit_transform(trainX)
testX = scaler.transform(testX)

model = Sequential()
model.add(Input(shape=(12,)))
for units in [64, 64, 64, 48, 48, 32, 32]:
    model.add(Dense(units))
    model.add(Activation("relu"))
model.add(Dense(len(lb.classes_)))
model.add(Activation("softmax"))

opt = SGD(learning_rate=0.01)
model.compile(loss="categorical_crossentropy", optimizer=opt, metrics=["accuracy"])
model.summary()
gradwatch.watch(model)

H = model.fit(
    trainX,
    trainY,
    validation_data=(testX, testY),
    epochs=25,
    batch_size=32,
    verbose=2,
)

predictions = model.predict(testX, batch_size=32, verbose=0)
accuracy = np.mean(predictions.argmax(axis=1) == testY.argmax(axis=1))
for i, name in enumerate(lb.classes_):
    rows = testY.argmax(axis=1) == i
    print(name, round(float(np.mean(predictions[rows].argmax(axis=1) == i)), 3))
print("SCORE", round(float(accuracy), 4))
