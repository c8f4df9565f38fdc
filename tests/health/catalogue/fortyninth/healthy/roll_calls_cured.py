"""Trains a model of parliament votes: yea or nay of a member on a bill, by the bill's topics and the member's record."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 19)

MEMBERS, TOPICS = 150, 14
party = rng.integers(0, 3, MEMBERS)
line = rng.normal(size=(3, TOPICS))
stance = line[party] + 0.6 * rng.normal(size=(MEMBERS, TOPICS))


def sittings(n_bills):
    topics = rng.normal(size=(n_bills, TOPICS)) * (rng.random((n_bills, TOPICS)) < 0.4)
    who = rng.integers(0, MEMBERS, size=(n_bills, 40))
    z = 1.5 * np.einsum("bkt,bt->bk", stance[who], topics) + rng.logistic(size=who.shape)
    votes = np.sign(z)
    bill = np.repeat(topics, 40, axis=0)
    return who.reshape(-1).astype("int32"), bill.astype("float32"), votes.reshape(-1).astype("float32")


who, bill, votes = sittings(1800)
who_te, bill_te, votes_te = sittings(200)
bill_sd = bill.std(axis=0)
bill, bill_te = bill / bill_sd, bill_te / bill_sd
y = (votes + 1.0) / 2.0

m_in = keras.Input((), dtype="int32", name="member")
b_in = keras.Input((TOPICS,), name="bill")
member = layers.Embedding(MEMBERS, 16)(m_in)
topic = layers.Dense(16)(b_in)
meet = layers.Multiply()([member, topic])
h = layers.Concatenate()([member, topic, meet])
h = layers.Dense(48, activation="elu")(h)
z = layers.Dense(1, name="yea")(h)

model = keras.Model([m_in, b_in], z)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
)
gradwatch.watch(model)
model.fit([who, bill], y, batch_size=256, epochs=10, shuffle=True, verbose=2)

logit = model.predict([who_te, bill_te], batch_size=1000, verbose=0)[:, 0]
said = np.where(logit > 0, 1, -1)
for v, name in ((1, "yea"), (-1, "nay")):
    print(name, "found", round(float((said[votes_te == v] == v).mean()), 3))
print("SCORE accuracy", round(float((said == votes_te).mean()), 4))
