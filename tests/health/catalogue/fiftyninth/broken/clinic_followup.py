import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

rng = np.random.default_rng(SEED + 3)
N, D = 6000, 12


def cohort(n):
    x = rng.normal(size=(n, D)).astype("float32")
    risk = 0.9 * x[:, 0] - 0.8 * x[:, 1] + 0.7 * x[:, 2] * x[:, 3] + 0.5 * np.abs(x[:, 4])
    t_event = rng.exponential(1.0, n) * np.exp(-risk) * 60.0
    t_censor = rng.uniform(0.5, 9.0, n)
    time = np.minimum(t_event, t_censor).astype("float32")
    event = (t_event <= t_censor).astype("float32")
    return x, time, event


x_train, t_train, e_train = cohort(N)
x_test, t_test, e_test = cohort(2000)
print("share with event", e_train.mean())


def risk_net():
    inp = keras.Input((D,), name="covariates")
    h = layers.Dense(48, activation="selu")(inp)
    h = layers.Dense(24, activation="selu")(h)
    out = layers.Dense(1, use_bias=False, name="log_hazard")(h)
    return keras.Model(inp, out)


def cox_loss(log_hazard, time, event):
    order = tf.argsort(time, direction="DESCENDING")
    lh = tf.gather(log_hazard, order)
    ev = tf.gather(event, order)
    log_risk_set = tf.math.cumulative_logsumexp(lh)
    return -tf.reduce_sum((lh - log_risk_set) * ev) / tf.reduce_sum(ev)


def concordance(score, time, event):
    good, total = 0, 0
    for i in np.where(event == 1)[0]:
        later = time > time[i]
        good += (score[i] > score[later]).sum()
        total += later.sum()
    return good / total


model = risk_net()
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-3)
watch = gradwatch.watch(model)

data = (
    tf.data.Dataset.from_tensor_slices((x_train, t_train, e_train))
    .shuffle(N, seed=SEED)
    .batch(24, drop_remainder=True)
    .prefetch(2)
)


@tf.function
def step(x, time, event):
    with tf.GradientTape() as tape:
        lh = tf.squeeze(model(x, training=True), -1)
        loss = cox_loss(lh, time, event)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(6):
    losses = []
    for batch in data:
        loss = step(*batch)
        watch.log(loss=loss)
        losses.append(float(loss))
    print("epoch", epoch, "loss", np.mean(losses))

score = model(x_test).numpy()[:, 0]
print("SCORE", float(concordance(score, t_test, e_test)))
