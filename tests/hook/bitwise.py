"""Trains small models with and without the hook, and prints whether their weights are the same bit for bit."""

import json
import os
import tempfile

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", GRADWATCH_DIR=tempfile.mkdtemp(), GRADWATCH_URL="http://127.0.0.1:9")

import keras
import numpy as np
import tensorflow as tf

import gradwatch

N_STEPS, BATCH, N_CLASSES = 8, 16, 4
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def mlp():
    layers = [keras.layers.Flatten(), keras.layers.Dense(64, "relu"), keras.layers.Dropout(0.2, seed=1)]
    return [keras.Input((12, 12, 1)), *layers, keras.layers.Dense(N_CLASSES)]


def cnn():
    layers = [keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.BatchNormalization()]
    return [keras.Input((12, 12, 1)), *layers, keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(N_CLASSES)]


def transformer():
    x = keras.Input((12, 12, 1))
    tokens = keras.layers.Dense(16)(keras.layers.Reshape((12, 12))(x))
    mixed = keras.layers.MultiHeadAttention(2, 8)(tokens, tokens)
    tokens = keras.layers.LayerNormalization()(tokens + mixed)
    tokens = keras.layers.LayerNormalization()(tokens + keras.layers.Dense(16, "gelu")(tokens))
    return keras.Model(x, keras.layers.Dense(N_CLASSES)(keras.layers.GlobalAveragePooling1D()(tokens)))


def train(build, way, is_watched):
    keras.backend.clear_session()
    keras.utils.set_random_seed(3)
    model = build()
    if isinstance(model, list):
        model = keras.Sequential(model)
    random = np.random.default_rng(0)
    x = random.normal(size=(N_STEPS * BATCH, 12, 12, 1)).astype(np.float32)
    y = random.integers(0, N_CLASSES, N_STEPS * BATCH)
    optimizer = keras.optimizers.AdamW(0.01)
    model.compile(optimizer, LOSS, jit_compile=way == "jit")
    watch = gradwatch.watch(model, budget=0) if is_watched else None
    if way == "loop":
        custom_loop(model, optimizer, x, y)
    else:
        model.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0)
    if watch is not None:
        watch._reader.read()
        assert watch._reader.n_steps == N_STEPS, f"{watch._reader.n_steps} steps were seen"
        watch.close()
    return model.get_weights() + [variable.numpy() for variable in optimizer.variables]


def custom_loop(model, optimizer, x, y):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for i in range(0, len(x), BATCH):
        step(x[i : i + BATCH], y[i : i + BATCH])


def main():
    tf.config.experimental.enable_op_determinism()
    same = {}
    cases = [(build, way) for build in (mlp, cnn, transformer) for way in ("fit", "jit")]
    for build, way in [*cases, (mlp, "loop")]:
        without, with_hook = (train(build, way, is_watched) for is_watched in (False, True))
        pairs = zip(without, with_hook, strict=True)
        same[f"{build.__name__}, {way}"] = all(a.tobytes() == b.tobytes() for a, b in pairs)
    print(json.dumps(same))


if __name__ == "__main__":
    main()
