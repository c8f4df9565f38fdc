# Denoiser for short harmonic recordings, trained on a compressed spectral distance.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(5)
RATE, CLIP, FRAME, HOP = 8000, 2048, 256, 128
gen = np.random.default_rng(5)


def recordings(count):
    t = np.arange(CLIP) / RATE
    clean = np.zeros((count, CLIP), np.float32)
    length = np.minimum(CLIP, gen.normal(2450, 230, count)).astype(int)
    for i in range(count):
        f0 = gen.uniform(110, 420)
        for h in range(1, 6):
            clean[i] += gen.uniform(0.2, 1.0) / h * np.sin(2 * np.pi * f0 * h * t + gen.uniform(0, 6.28))
        clean[i] *= 0.4 + 0.3 * np.sin(2 * np.pi * gen.uniform(1, 5) * t + gen.uniform(0, 6.28))
    valid = (np.arange(CLIP)[None] < length[:, None]).astype(np.float32)
    clean *= valid
    noisy = clean + 0.35 * gen.standard_normal(clean.shape).astype(np.float32)
    return noisy[..., None].astype(np.float32), clean, valid


def spectrum(wave):
    s = tf.signal.stft(wave, FRAME, HOP)
    power = tf.square(tf.math.real(s)) + tf.square(tf.math.imag(s))
    return tf.pow(power, 0.15)


class Denoiser(keras.Model):
    def __init__(self, width=20, kernel=17):
        super().__init__()
        self.enc = layers.Conv1D(width, kernel, padding="same", activation="gelu")
        self.mid = layers.Conv1D(width, kernel, padding="same", activation="gelu", dilation_rate=2)
        self.out = layers.Conv1D(1, kernel, padding="same")

    def call(self, x):
        h = self.enc(x)
        h = h + self.mid(h)
        return self.out(h)[..., 0]

    def distance(self, noisy, clean, valid):
        est = self(noisy) * valid
        spec = tf.reduce_mean(tf.abs(spectrum(est) - spectrum(clean)))
        return spec + 2.0 * tf.reduce_mean(tf.abs(est - clean))

    def train_step(self, data):
        noisy, clean, valid = data
        with tf.GradientTape() as tape:
            loss = self.distance(noisy, clean, valid)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"distance": loss}


def snr(ref, est):
    return float(np.mean(10 * np.log10(np.sum(ref**2, 1) / np.sum((ref - est) ** 2, 1))))


noisy, clean, valid = recordings(960)
tn, tc, tv = recordings(120)
ds = tf.data.Dataset.from_tensor_slices((noisy, clean, valid)).shuffle(960, seed=5).batch(16)

model = Denoiser()
model(noisy[:1])
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
hist = model.fit(ds, epochs=8, verbose=2)

est = np.concatenate([model(tn[i : i + 30]).numpy() for i in range(0, 120, 30)]) * tv
print(
    f"final loss {hist.history['distance'][-1]:.4f}  held-out SNR {snr(tc, est):.2f} dB (input {snr(tc, tn[..., 0] * tv):.2f} dB)"
)
