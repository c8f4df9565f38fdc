import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

digits = load_digits()
x = (digits.data / 16.0).astype("float32")
y = digits.target
perm = np.random.permutation(len(x))
x, y = x[perm], y[perm]
x_train, y_train = x[:1300], y[:1300]
x_test, y_test = x[1300:], y[1300:]


def make_triplets(x, y, n):
    by_class = [np.where(y == c)[0] for c in range(10)]
    anchors, positives, negatives = [], [], []
    for _ in range(n):
        c = np.random.randint(10)
        other = (c + np.random.randint(1, 10)) % 10
        anchors.append(x[np.random.choice(by_class[c])])
        positives.append(x[np.random.choice(by_class[c])])
        negatives.append(x[np.random.choice(by_class[other])])
    return np.array(anchors), np.array(positives), np.array(negatives)


anchor, positive, negative = make_triplets(x_train, y_train, 6400)
dataset = tf.data.Dataset.from_tensor_slices((anchor, positive, negative)).batch(32)

embedding = keras.Sequential(
    [
        layers.Input((64,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(12),
        layers.UnitNormalization(),
    ],
    name="embedding",
)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))


class SiameseModel(keras.Model):
    def __init__(self, embedding, margin=1.0):
        super().__init__()
        self.embedding = embedding
        self.margin = margin
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        a, p, n = inputs
        a, p, n = self.embedding(a), self.embedding(p), self.embedding(n)
        return distance(a, p), distance(a, n)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            ap_distance, an_distance = self(data, training=True)
            loss = tf.reduce_mean(tf.maximum(ap_distance - an_distance + self.margin, 0.0))
        gradients = tape.gradient(loss, self.embedding.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.embedding.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


siamese_model = SiameseModel(embedding)
siamese_model.compile(optimizer=keras.optimizers.Adam(0.0005))
gradwatch.watch(siamese_model)
siamese_model.fit(dataset, epochs=25, verbose=2)

train_codes = embedding.predict(x_train, verbose=0)
test_codes = embedding.predict(x_test, verbose=0)
if not np.isfinite(train_codes).all():
    print("SCORE", float("nan"))
else:
    knn = KNeighborsClassifier(3).fit(train_codes, y_train)
    print("SCORE", round(knn.score(test_codes, y_test), 4))
