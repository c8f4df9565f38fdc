import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

# Haploid yeast crosses: 22 biallelic loci, growth phenotype set by a three-way interaction.
LOCI = 22
CAUSAL = rng.choice(LOCI, 3, replace=False)
BATCH, STEPS = 128, 650


def crosses(n):
    g = rng.choice([-1.0, 1.0], size=(n, LOCI)).astype("float32")
    return g, g[:, CAUSAL].prod(1, keepdims=True)


init = keras.initializers.HeNormal()
model = keras.Sequential(
    [
        keras.Input((LOCI,)),
        keras.layers.Dense(160, activation="relu", kernel_initializer=init),
        keras.layers.Dense(64, activation="relu", kernel_initializer=keras.initializers.HeNormal()),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(0.02, momentum=0.9, nesterov=True)


@tf.function
def fit_batch(g, y):
    with tf.GradientTape() as tape:
        margin = y * model(g, training=True)
        loss = tf.reduce_mean(tf.nn.relu(1.0 - margin))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(margin > 0, tf.float32))


gradwatch.watch(model)
for step in range(STEPS):
    g, y = crosses(BATCH)
    loss, acc = fit_batch(tf.constant(g), tf.constant(y))
    if step % 25 == 0 or step == STEPS - 1:
        print(f"{step:4d} hinge {float(loss):.6f} accuracy {float(acc):.3f}")

g, y = crosses(4000)
print("fresh crosses:", float(np.mean((model.predict(g, verbose=0) * y) > 0)))
alt = g.copy()
effects = []
for locus in range(LOCI):
    alt[:, locus] *= -1
    effects.append(np.abs(model.predict(alt, verbose=0) - model.predict(g, verbose=0)).mean())
    alt[:, locus] *= -1
print("largest effects at", sorted(np.argsort(effects)[-3:].tolist()), "causal", sorted(CAUSAL.tolist()))
