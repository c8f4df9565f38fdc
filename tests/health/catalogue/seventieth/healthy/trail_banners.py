import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 101)

BANNERS = 5
CONTEXT = 6
true_w = np.random.default_rng(7).normal(0, 1.2, (CONTEXT, BANNERS))


def contexts(n):
    return rng.normal(0, 1, (n, CONTEXT)).astype("float32")


def click_prob(x):
    return 1.0 / (1.0 + np.exp(-(x @ true_w - 0.5)))


policy = keras.Sequential(
    [
        keras.Input((CONTEXT,), name="visitor"),
        keras.layers.Dense(32, activation="tanh", name="hidden"),
        keras.layers.Dense(BANNERS, name="preference"),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
watch = gradwatch.watch(policy)


@tf.function
def update(x, action, advantage):
    with tf.GradientTape() as tape:
        logits = policy(x, training=True)
        log_prob = tf.nn.log_softmax(logits)
        chosen = tf.gather(log_prob, action, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_prob) * log_prob, axis=1))
        loss = -tf.reduce_mean(chosen * advantage) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


baseline = 0.4
for step in range(1500):
    x = contexts(64)
    logits = policy(x).numpy()
    gumbel = rng.gumbel(size=logits.shape)
    action = np.argmax(logits + gumbel, axis=1).astype("int32")
    prob = click_prob(x)[np.arange(64), action]
    clicked = (rng.random(64) < prob).astype("float32")
    loss = update(x, action, (clicked - baseline).astype("float32"))
    watch.log(loss=loss)
    baseline = 0.98 * baseline + 0.02 * float(clicked.mean())
    if step % 300 == 0:
        print("step", step, "click rate", round(baseline, 3))

x = contexts(3000)
best = click_prob(x).max(axis=1).mean()
random_rate = click_prob(x).mean()
picked = click_prob(x)[np.arange(3000), policy.predict(x, verbose=0).argmax(axis=1)].mean()
print("SCORE", float((picked - random_rate) / (best - random_rate)))
