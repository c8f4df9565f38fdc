import os

import keras
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CLUBS = 40
behaviour, left_club = make_classification(
    n_samples=9000,
    n_features=18,
    n_informative=9,
    n_redundant=3,
    n_clusters_per_class=2,
    weights=[0.68],
    class_sep=0.9,
    flip_y=0.03,
    random_state=SEED,
)
club = np.where(
    rng.random(len(left_club)) < 0.35,
    left_club * (CLUBS // 2) + rng.integers(0, CLUBS // 2, len(left_club)),
    rng.integers(0, CLUBS, len(left_club)),
)

b_train, b_test, c_train, c_test, y_train, y_test = train_test_split(
    behaviour, club, left_club, test_size=0.2, stratify=left_club, random_state=SEED
)
scaler = StandardScaler().fit(b_train)
b_train = scaler.transform(b_train).astype("float32")
b_test = scaler.transform(b_test).astype("float32")


def build_model():
    visits = keras.Input((18,), name="behaviour")
    home = keras.Input((), dtype="int32", name="club")
    home_vec = keras.layers.Embedding(CLUBS, 6, name="club_vectors")(home)
    x = keras.layers.Concatenate(name="member")([visits, home_vec])
    x = keras.layers.Dense(64, activation="relu", name="habits")(x)
    x = keras.layers.Dropout(0.15, name="drop")(x)
    x = keras.layers.Dense(32, activation="relu", name="summary")(x)
    out = keras.layers.Dense(1, activation="sigmoid", name="leaves")(x)
    return keras.Model([visits, home], out)


model = build_model()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit({"behaviour": b_train, "club": c_train}, y_train, validation_split=0.1, batch_size=64, epochs=6, verbose=0)

prob = model.predict({"behaviour": b_test, "club": c_test}, batch_size=512, verbose=0)[:, 0]
print("SCORE", float(roc_auc_score(y_test, prob)))
