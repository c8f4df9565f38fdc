"""The healthy trainings: of every kind of network, and with habits that look like trouble and are none."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, optimizers

from tests.health.catalogue.play import Training, Watch
from tests.health.catalogue.tools import (
    CELLS,
    COURSE,
    DIGITS,
    IMAGES,
    IS_BENIGN,
    LABELS,
    PATIENTS,
    ROWS,
    cross_entropy,
    fit,
    loop,
    mlp,
)

HEALTHY: dict[str, Training] = {}

SCALED = ((CELLS - CELLS.mean(0)) / CELLS.std(0)).astype("float32")


def healthy(train: Training) -> Training:
    """Enters a training in the catalogue."""
    name = train.__name__.replace("_", " ")
    assert name not in HEALTHY, name
    HEALTHY[name] = train
    return train


def conv(n: int, **options: Any) -> Any:
    return layers.Conv2D(n, 3, padding="same", **options)


@healthy
def multilayer_perceptron(watch: Watch, seed: int) -> None:
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), seed=seed, n_steps=300)


@healthy
def convolutional_network(watch: Watch, seed: int) -> None:
    stack = [conv(16, activation="relu"), layers.MaxPooling2D(), conv(32, activation="relu"), layers.Flatten()]
    model = keras.Sequential([keras.Input((8, 8, 1)), *stack, layers.Dropout(0.3), layers.Dense(10)])
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=optimizers.Adam(1e-3), seed=seed, n_steps=200)


@healthy
def residual_network(watch: Watch, seed: int) -> None:
    x = inputs = keras.Input((8, 8, 1))
    x = conv(16)(x)
    for _ in range(3):
        h = layers.ReLU()(layers.BatchNormalization()(conv(16)(x)))
        x = layers.Add()([x, layers.BatchNormalization()(conv(16)(h))])
    model = keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling2D()(layers.ReLU()(x))))
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=optimizers.Adam(1e-3), seed=seed)


@healthy
def long_short_term_memory(watch: Watch, seed: int) -> None:
    model = keras.Sequential([keras.Input((8, 8)), layers.LSTM(24), layers.Dense(10)])
    fit(watch, model, cross_entropy, (ROWS, LABELS), optimizer=optimizers.Adam(3e-3), seed=seed, n_steps=200)


@healthy
def transformer(watch: Watch, seed: int) -> None:
    x = inputs = keras.Input((8, 8))
    x = layers.Dense(24)(x)
    for _ in range(2):
        h = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(2, 12)(h, h)])
        h = layers.Dense(48, "gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(24)(h)])
    model = keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))
    fit(watch, model, cross_entropy, (ROWS, LABELS), optimizer=optimizers.AdamW(2e-3), seed=seed)


@healthy
def causal_transformer(watch: Watch, seed: int) -> None:
    x = inputs = keras.Input((8, 8))
    h = layers.Dense(24)(x)
    h = layers.Add()([h, layers.MultiHeadAttention(2, 12)(h, h, use_causal_mask=True)])
    model = keras.Model(inputs, layers.Dense(8)(layers.LayerNormalization()(h)))
    fit(watch, model, "mse", (ROWS, np.roll(ROWS, -1, 1)), optimizer=optimizers.Adam(2e-3), seed=seed)


@healthy
def autoencoder(watch: Watch, seed: int) -> None:
    sizes = [(32, "relu"), (8, None), (32, "relu"), (64, "sigmoid")]
    model = keras.Sequential([keras.Input((64,)), *[layers.Dense(n, a) for n, a in sizes]])
    fit(watch, model, "mse", (DIGITS, DIGITS), optimizer=optimizers.Adam(2e-3), seed=seed, n_steps=300)


@healthy
def variational_autoencoder(watch: Watch, seed: int) -> None:
    encoder, decoder = mlp(64, 16), mlp(8, 64)
    model = keras.Sequential([encoder, layers.Lambda(lambda h: h[:, :8]), decoder])
    noise = tf.random.Generator.from_seed(seed)

    def loss_of(y: Any, x: Any) -> Any:
        del y
        mean, log_variance = tf.split(encoder(x, training=True), 2, axis=1)
        z = mean + tf.exp(0.5 * log_variance) * noise.normal(tf.shape(mean))
        logits = decoder(z, training=True)
        error = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(x, logits), axis=1)
        divergence = 0.5 * tf.reduce_sum(tf.exp(log_variance) + tf.square(mean) - 1 - log_variance, axis=1)
        return tf.reduce_mean(error + divergence)

    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizers.Adam(1e-3), seed=seed, n_steps=250)


def _adversaries(watch: Watch, seed: int, *, penalty: bool) -> None:
    generator = mlp(8, 64, last="sigmoid")
    critic = keras.Sequential([keras.Input((64,)), layers.Dense(48), layers.LeakyReLU(0.2), layers.Dense(1)])
    first, second = optimizers.Adam(1e-3, beta_1=0.5), optimizers.Adam(1e-3, beta_1=0.5)
    watched = watch(critic, generator)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def flatness(real: Any, fake: Any) -> Any:
        share = tf.random.uniform([tf.shape(real)[0], 1])
        between = share * real + (1 - share) * fake
        with tf.GradientTape() as tape:
            tape.watch(between)
            score = critic(between, training=True)
        slopes = tape.gradient(score, between)
        length = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1) + 1e-12)
        return tf.reduce_mean(tf.square(length - 1))

    @tf.function
    def step(real: Any, z: Any) -> None:
        with tf.GradientTape() as tape:
            fake = generator(z, training=True)
            good, bad = critic(real, training=True), critic(fake, training=True)
            if penalty:
                loss = tf.reduce_mean(bad) - tf.reduce_mean(good) + 10 * flatness(real, fake)
            else:
                loss = bce(tf.ones_like(good), good) + bce(tf.zeros_like(bad), bad)
        weights = critic.trainable_variables
        first.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        with tf.GradientTape() as tape:
            score = critic(generator(z, training=True), training=True)
            own = -tf.reduce_mean(score) if penalty else bce(tf.ones_like(score), score)
        weights = generator.trainable_variables
        second.apply_gradients(zip(tape.gradient(own, weights), weights, strict=True))
        watched.log(critic_loss=loss, generator_loss=own)

    random = np.random.default_rng(seed)
    for _ in range(200):
        chosen = random.integers(len(DIGITS), size=32)
        step(tf.constant(DIGITS[chosen]), tf.constant(random.normal(size=(32, 8)).astype("float32")))


@healthy
def adversarial_pair(watch: Watch, seed: int) -> None:
    _adversaries(watch, seed, penalty=False)


@healthy
def wasserstein_pair_with_a_safe_penalty(watch: Watch, seed: int) -> None:
    _adversaries(watch, seed, penalty=True)


@healthy
def mixed_precision(watch: Watch, seed: int) -> None:
    policy = keras.DTypePolicy("mixed_float16")
    stack = [layers.Dense(32, "relu", dtype=policy), layers.Dense(32, "relu", dtype=policy), layers.Dense(10)]
    model = keras.Sequential([keras.Input((64,)), *stack])
    optimizer = optimizers.LossScaleOptimizer(optimizers.Adam(1e-3), dynamic_growth_steps=40)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizer, seed=seed, n_steps=300)


@healthy
def fine_tuning_with_frozen_layers(watch: Watch, seed: int) -> None:
    base = mlp(n_outputs=32)
    learned = keras.Sequential([keras.Input((64,)), base, layers.ReLU(), layers.Dense(10)])
    learned.compile(optimizer=optimizers.Adam(1e-3), loss=cross_entropy)
    learned.fit(DIGITS, LABELS, epochs=1, verbose=0)
    base.trainable = False
    model = keras.Sequential([keras.Input((64,)), base, layers.ReLU(), layers.Dense(10)])
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(1e-3), seed=seed)


@healthy
def sparse_embedding(watch: Watch, seed: int) -> None:
    words = (ROWS.reshape(-1, 64)[:, ::4] * 199).astype("int32")
    stack = [layers.Embedding(200, 16), layers.GlobalAveragePooling1D(), layers.Dense(32, "relu"), layers.Dense(10)]
    model = keras.Sequential([keras.Input((16,), dtype="int32"), *stack])
    fit(watch, model, cross_entropy, (words, LABELS), optimizer=optimizers.Adam(5e-3), seed=seed, n_steps=200)


@healthy
def clipped_at_every_step(watch: Watch, seed: int) -> None:
    optimizer = optimizers.SGD(0.5, global_clipnorm=0.1)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizer, seed=seed, n_steps=200)


@healthy
def warm_up_and_decay(watch: Watch, seed: int) -> None:
    schedule = optimizers.schedules.CosineDecay(1e-6, 250, warmup_target=5e-3, warmup_steps=50)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(schedule), seed=seed, n_steps=300)


@healthy
def noisy_policy_gradient(watch: Watch, seed: int) -> None:
    model = mlp(4, 2)
    random = np.random.default_rng(seed)
    states = random.normal(size=(4000, 4)).astype("float32")
    actions = random.integers(2, size=4000)
    rewards = np.where(actions == (states[:, 0] > 0), 1.0, -1.0) + random.normal(size=4000) * 3
    data = np.stack([actions, rewards], 1).astype("float32")

    def loss_of(y: Any, x: Any) -> Any:
        chosen = tf.cast(y[:, 0], tf.int32)
        log_p = tf.nn.log_softmax(model(x, training=True))
        return -tf.reduce_mean(y[:, 1] * tf.gather(log_p, chosen, batch_dims=1))

    loop(watch, model, loss_of, (states, data), optimizer=optimizers.Adam(3e-3), seed=seed, n_steps=300)


@healthy
def very_small(watch: Watch, seed: int) -> None:
    model = keras.Sequential([keras.Input((10,)), layers.Dense(1)])
    fit(watch, model, "mse", (PATIENTS, COURSE), optimizer=optimizers.SGD(0.02), seed=seed, n_steps=300)


@healthy
def very_deep(watch: Watch, seed: int) -> None:
    x = inputs = keras.Input((64,))
    x = layers.Dense(24)(x)
    for _ in range(16):
        h = layers.Dense(24, "relu", kernel_initializer="he_normal")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Rescaling(0.2)(h)])
    model = keras.Model(inputs, layers.Dense(10)(x))
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(1e-3), seed=seed, n_steps=120)


@healthy
def descent_with_a_high_rate(watch: Watch, seed: int) -> None:
    optimizer = optimizers.SGD(0.4, momentum=0.5)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizer, seed=seed, n_steps=300)


@healthy
def cross_entropy_with_an_epsilon(watch: Watch, seed: int) -> None:
    model = mlp(last="softmax")

    def loss_of(y: Any, x: Any) -> Any:
        p = tf.gather(model(x, training=True), y, batch_dims=1)
        return -tf.reduce_mean(tf.math.log(p + 1e-7))

    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizers.Adam(2e-3), seed=seed, n_steps=250)


@healthy
def probabilities_of_keras(watch: Watch, seed: int) -> None:
    loss = keras.losses.SparseCategoricalCrossentropy()
    fit(watch, mlp(last="softmax"), loss, (DIGITS, LABELS), optimizer=optimizers.Adam(2e-3), seed=seed, n_steps=250)


@healthy
def binary_classifier_that_is_sure(watch: Watch, seed: int) -> None:
    model = mlp(30, 1, last="sigmoid")
    optimizer = optimizers.Adam(5e-3)
    fit(watch, model, "binary_crossentropy", (SCALED, IS_BENIGN), optimizer=optimizer, seed=seed, n_steps=300)


@healthy
def triplets_with_a_margin(watch: Watch, seed: int) -> None:
    model = mlp(64, 8)

    def loss_of(y: Any, x: Any) -> Any:
        h = tf.math.l2_normalize(model(x, training=True), axis=1)
        far = tf.reduce_sum(tf.square(h[:, None] - h[None, :]), axis=-1)
        same = tf.cast(y[:, None] == y[None, :], tf.float32)
        return tf.reduce_mean(same * far + (1 - same) * tf.nn.relu(0.5 - far))

    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizers.Adam(2e-3), seed=seed, n_steps=200)


@healthy
def accumulated_gradients(watch: Watch, seed: int) -> None:
    optimizer = optimizers.Adam(3e-3, gradient_accumulation_steps=4)
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizer, seed=seed, n_steps=240)


@healthy
def gated_recurrence_with_masks(watch: Watch, seed: int) -> None:
    rows = ROWS.copy()
    lengths = np.random.default_rng(seed).integers(3, 9, size=len(rows))
    rows[np.arange(8)[None, :] >= lengths[:, None]] = 0
    model = keras.Sequential([keras.Input((8, 8)), layers.Masking(), layers.GRU(24), layers.Dense(10)])
    fit(watch, model, cross_entropy, (rows, LABELS), optimizer=optimizers.Adam(3e-3), seed=seed)


@healthy
def compiled_by_xla(watch: Watch, seed: int) -> None:
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(2e-3), seed=seed, jit=True)
