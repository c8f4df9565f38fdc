"""Joint angles that reach a given point: a mixture density network for a two-link arm."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

L1, L2, COMPONENTS = 0.6, 0.4, 4


def forward(q):
    x = L1 * np.cos(q[:, 0]) + L2 * np.cos(q[:, 0] + q[:, 1])
    y = L1 * np.sin(q[:, 0]) + L2 * np.sin(q[:, 0] + q[:, 1])
    return np.stack([x, y], axis=1)


def make_poses(n):
    q = np.stack([rng.uniform(0.3, 1.5, n), rng.choice([-1, 1], n) * rng.uniform(0.6, 2.2, n)], axis=1)
    reach = forward(q) + 0.002 * rng.normal(size=(n, 2))
    return (3 * reach).astype("float32"), q.astype("float32")


x_train, y_train = make_poses(20000)
x_test, y_test = make_poses(3000)
slipped = rng.choice(len(y_train), 10, replace=False)  # the elbow encoder skips now and then
y_train[slipped, 1] += rng.normal(0, 0.8, 10)

inputs = keras.Input((2,))
h = keras.layers.Dense(96, activation="swish")(inputs)
h = keras.layers.Dense(96, activation="swish")(h)
h = keras.layers.Dense(64, activation="swish")(h)
weight_logits = keras.layers.Dense(COMPONENTS, name="weights")(h)
centres = keras.layers.Reshape((COMPONENTS, 2))(keras.layers.Dense(COMPONENTS * 2, name="centres")(h))
log_sigma = keras.layers.Dense(COMPONENTS, name="log_sigma")(h)
model = keras.Model(inputs, [weight_logits, centres, log_sigma])


def negative_log_likelihood(q, logits, mu, log_s):
    log_pi = tf.nn.log_softmax(logits)
    z2 = tf.reduce_sum(tf.square(q[:, None, :] - mu), axis=2) * tf.exp(-2.0 * log_s)
    log_component = log_pi - 0.5 * z2 - 2.0 * log_s - np.log(2 * np.pi)
    likelihood = tf.reduce_sum(tf.exp(log_component), axis=1)
    return -tf.reduce_mean(tf.math.log(likelihood))


EPOCHS, BATCH = 8, 125
steps = EPOCHS * len(x_train) // BATCH
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, steps), clipnorm=5.0)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(20000, seed=seed).batch(BATCH)


@tf.function
def train_step(x, q):
    with tf.GradientTape() as tape:
        loss = negative_log_likelihood(q, *model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(EPOCHS):
    losses = [float(train_step(x, q)) for x, q in data]
    print("epoch", epoch, "nll", round(float(np.mean(losses)), 4))

logits, mu, _ = model.predict(x_test, batch_size=500, verbose=0)
best = mu[np.arange(len(mu)), logits.argmax(1)]
miss = np.linalg.norm(forward(best) - x_test / 3, axis=1)
print("SCORE reach_error", round(float(miss.mean()), 4))
