import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = 21
keras.utils.set_random_seed(SEED)
RNG = np.random.default_rng(SEED)
FRAMES, MELS, WORDS = 32, 20, 6
TEMPLATES = RNG.uniform(0.05, 1.0, (WORDS, FRAMES // 4, MELS)) ** 3


def synth(n):
    y = RNG.integers(0, WORDS, n)
    power = np.repeat(TEMPLATES[y], 4, axis=1)
    shift = RNG.integers(-5, 6, n)
    power = np.stack([np.roll(p, s, axis=0) for p, s in zip(power, shift)])
    power *= RNG.gamma(1.2, 1.0, power.shape) * RNG.uniform(0.2, 3, (n, 1, 1))
    return power.astype("float32"), y.astype("int32")


def mute_some(power, share):
    off = RNG.random(len(power)) < share
    power[off] = 0.0
    return power


def features(power):
    logp = np.log(power)
    return (logp - logp.mean((1, 2), keepdims=True)) / 2.0


with np.errstate(all="ignore"):
    p_train, y_train = synth(4000)
    x_train = features(mute_some(p_train, 0.001))
    p_test, y_test = synth(800)
    x_test = features(p_test)

net = keras.Sequential(
    [
        layers.Input((FRAMES, MELS)),
        layers.Conv1D(48, 5, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.SeparableConv1D(64, 5, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(0.2),
        layers.Dense(WORDS),
    ]
)
opt = keras.optimizers.AdamW(1e-3, weight_decay=1e-3)
opt.build(net.trainable_variables)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(net, opt)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = xent(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    ok = tf.math.is_finite(loss)
    if ok:
        opt.apply(grads, net.trainable_variables)
    return loss, ok


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=1).batch(50, drop_remainder=True)
for epoch in range(9):
    seen = []
    for xb, yb in ds:
        loss, ok = step(xb, yb)
        if ok:
            seen.append(float(loss))
    print("epoch", epoch, "loss", np.mean(seen), "batches", len(seen))

logits = net.predict(x_test, verbose=0)
acc = np.mean(logits.argmax(1) == y_test) if np.isfinite(logits).all() else float("nan")
print(f"final loss {seen[-1]:.4f}  heldout accuracy {acc:.3f}")
