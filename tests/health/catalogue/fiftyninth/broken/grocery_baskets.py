import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N_USERS, N_ITEMS, TASTES = 300, 200, 6
rng = np.random.default_rng(SEED + 9)
user_taste = rng.dirichlet(np.full(TASTES, 0.12), N_USERS)
item_taste = rng.integers(0, TASTES, N_ITEMS)
affinity = user_taste[:, item_taste]
bought = rng.random((N_USERS, N_ITEMS)) < 0.7 * affinity
pairs = np.argwhere(bought)
rng.shuffle(pairs)
n_train = int(0.8 * len(pairs))
train_pairs, test_pos = pairs[:n_train], pairs[n_train:]
print("purchases", len(pairs))

labels = np.ones(len(train_pairs), "float32")

user_in = keras.Input((), dtype="int32", name="user")
item_in = keras.Input((), dtype="int32", name="item")
u = layers.Embedding(N_USERS, 8, name="user_vec")(user_in)
v = layers.Embedding(N_ITEMS, 8, name="item_vec")(item_in)
gmf = layers.Multiply()([u, v])
mlp = layers.Dense(32, activation="relu")(layers.Concatenate()([u, v]))
mlp = layers.Dense(16, activation="relu")(mlp)
out = layers.Dense(1, activation="sigmoid", name="buy")(layers.Concatenate()([gmf, mlp]))
model = keras.Model([user_in, item_in], out)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)

order = rng.permutation(len(train_pairs))
model.fit(
    {"user": train_pairs[order, 0], "item": train_pairs[order, 1]},
    labels[order],
    batch_size=64,
    epochs=6,
    verbose=2,
)

free = np.argwhere(~bought)
test_neg = free[rng.choice(len(free), len(test_pos), replace=False)]
both = np.concatenate([test_pos, test_neg])
truth = np.r_[np.ones(len(test_pos)), np.zeros(len(test_neg))]
p = model.predict({"user": both[:, 0], "item": both[:, 1]}, verbose=0, batch_size=512)[:, 0]
print("SCORE", float(roc_auc_score(truth, p)))
