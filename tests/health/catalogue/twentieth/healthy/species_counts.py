"""Bird counts on transects: many species, most of them seldom seen, site data in field units."""

import argparse

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SPECIES, SITES = 600, 4


def field_notes(rng, traits, n):
    sp = np.minimum(rng.zipf(1.35, n) - 1, SPECIES - 1)
    alt = rng.uniform(0, 3200, n)  # m
    rain = rng.gamma(3, 350, n)  # mm
    temp = 288 - alt * 0.0065 + rng.normal(0, 2, n)  # K
    cover = rng.beta(2, 2, n)
    env = np.stack([alt, rain, temp, cover], 1)
    z = (env - [1600, 1050, 277.6, 0.5]) / [920, 600, 6.3, 0.22]
    log_mu = traits["base"][sp] + (traits["slope"][sp] * z).sum(1)
    y = rng.poisson(np.exp(np.clip(log_mu, -6, 3)))
    return (
        sp.astype("int32")[:, None],
        env.astype("float32"),
        y.astype("float32")[:, None],
        np.exp(np.clip(log_mu, -6, 3)),
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=128)
    a = ap.parse_args()
    keras.utils.set_random_seed(36)
    rng = np.random.default_rng(36)
    traits = {"base": rng.normal(-0.8, 0.9, SPECIES), "slope": rng.normal(0, 0.5, (SPECIES, SITES))}
    sp, env, y, _ = field_notes(rng, traits, 24000)
    spv, envv, yv, muv = field_notes(rng, traits, 5000)

    norm = layers.Normalization()
    norm.adapt(env)
    s_in, e_in = keras.Input((1,), dtype="int32"), keras.Input((SITES,))
    base = layers.Flatten()(layers.Embedding(SPECIES, 1)(s_in))
    slope = layers.Flatten()(layers.Embedding(SPECIES, SITES)(s_in))
    z = norm(e_in)
    tilt = layers.Dot(axes=1)([slope, z])
    common = layers.Dense(1)(layers.Dense(16, activation="tanh")(z))
    mu = layers.Activation("exponential")(layers.Add()([base, tilt, common]))
    model = keras.Model([s_in, e_in], mu)
    model.compile(optimizer=keras.optimizers.Adam(4e-3), loss=keras.losses.Poisson())
    gradwatch.watch(model)
    h = model.fit([sp, env], y, batch_size=a.batch, epochs=a.epochs, verbose=0)
    p = model.predict([spv, envv], verbose=0)[:, 0]
    dev = lambda m: np.mean(m - yv[:, 0] * np.log(m))
    print(
        f"loss {h.history['loss'][-1]:.4f}  held-out deviance explained "
        f"{(dev(np.full_like(p, y.mean())) - dev(p)) / (dev(np.full_like(p, y.mean())) - dev(muv)):.3f}"
    )


if __name__ == "__main__":
    main()
