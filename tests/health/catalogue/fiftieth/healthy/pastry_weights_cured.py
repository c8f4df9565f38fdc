"""A GAN that invents pastries: weight, sugar, butter and baking minutes as a bakery would have them."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
NOISE, TRAITS, BATCH, ROUNDS = 8, 4, 128, 2500


def bakery(n):
    kind = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    weight = np.array([60.0, 95.0, 140.0])[kind] + rng.normal(0, 6, n)
    sugar = np.array([0.10, 0.22, 0.30])[kind] * weight + rng.normal(0, 1.0, n)
    butter = np.array([0.25, 0.12, 0.20])[kind] * weight + rng.normal(0, 1.5, n)
    minutes = 8 + 0.12 * weight + 0.2 * butter + rng.normal(0, 0.8, n)
    return np.stack([weight, sugar, butter, minutes], axis=1)


def energy_distance(a, b):
    gap = lambda u, v: np.linalg.norm(u[:, None] - v[None], axis=-1).mean()
    return 2 * gap(a, b) - gap(a, a) - gap(b, b)


train, held_out = bakery(8000), bakery(1500)
mean, std = train.mean(0), train.std(0)
train, held_out = ((train - mean) / std).astype("float32"), ((held_out - mean) / std).astype("float32")

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(TRAITS),
    ],
    name="generator",
)

critic = keras.Sequential(
    [
        keras.Input((TRAITS,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(1, activation="sigmoid"),
    ],
    name="critic",
)
critic.compile(optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5), loss="binary_crossentropy")

# the stacked model trains the generator only
critic.trainable = False
noise = keras.Input((NOISE,))
stacked = keras.Model(noise, critic(generator(noise)), name="stacked")
stacked.compile(optimizer=keras.optimizers.Adam(5e-4, beta_1=0.5), loss="binary_crossentropy")
gradwatch.watch(critic, stacked)

half = BATCH // 2
real_label, fake_label = np.full((half, 1), 0.9, "float32"), np.zeros((half, 1), "float32")
for turn in range(ROUNDS):
    real = train[rng.integers(0, len(train), half)]
    seeds = rng.normal(size=(half, NOISE)).astype("float32")
    fake = generator(seeds).numpy()
    critic.trainable = True
    critic_loss = critic.train_on_batch(np.concatenate([real, fake]), np.concatenate([real_label, fake_label]))
    seeds = rng.normal(size=(BATCH, NOISE)).astype("float32")
    critic.trainable = False
    generator_loss = stacked.train_on_batch(seeds, np.ones((BATCH, 1), "float32"))
    if turn % 250 == 0:
        print(f"round {turn:5d}  critic {float(critic_loss):.3f}  generator {float(generator_loss):.3f}")

invented = generator.predict(rng.normal(size=(1500, NOISE)).astype("float32"), verbose=0)
print("SCORE energy_distance", round(float(energy_distance(invented, held_out)), 4))
