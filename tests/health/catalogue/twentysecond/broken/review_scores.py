import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

# Predict the star rating (1 to 5) of a product review from its bag of words
# and a few facts about the order.

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, WORDS, NUM_STARS = 4000, 120, 5
stars = rng.choice([1, 2, 3, 4, 5], size=N, p=[0.08, 0.05, 0.07, 0.17, 0.63])

polarity = rng.normal(0, 0.55, WORDS)
rates = rng.gamma(1.5, 0.12, WORDS)[None, :] * np.exp(polarity[None, :] * (stars[:, None] - 3.3))
counts = rng.poisson(np.minimum(rates, 4.0))
bow = np.log1p(counts)
delay = np.clip(rng.normal(5 - 0.5 * stars, 1.5), 0, None)[:, None]
verified = (rng.random(N) < 0.8).astype(float)[:, None]
features = np.concatenate([bow, delay, verified], axis=1).astype("float32")

cut = 3200
mean, std = features[:cut].mean(0), features[:cut].std(0) + 1e-6
features = (features - mean) / std
x_train, x_test = features[:cut], features[cut:]
s_train, s_test = stars[:cut], stars[cut:]

y_train = tf.one_hot(s_train, NUM_STARS)


class ReviewNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden1 = keras.layers.Dense(64, activation="relu")
        self.drop = keras.layers.Dropout(0.3)
        self.hidden2 = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(NUM_STARS, activation="softmax")

    def call(self, x, training=None):
        x = self.drop(self.hidden1(x), training=training)
        return self.out(self.hidden2(x))


model = ReviewNet()
model.build((None, features.shape[1]))
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(cut, seed=seed).batch(64)
model.fit(data, epochs=10, verbose=2)

predicted = model.predict(x_test, verbose=0).argmax(-1)
print("predicted counts", np.bincount(predicted, minlength=6))
print(f"SCORE test accuracy {np.mean(predicted == s_test):.3f}")
