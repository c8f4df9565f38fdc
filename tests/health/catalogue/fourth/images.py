"""Handwritten digits, learned in nine ways."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches, digits
from tests.health.catalogue.play import Watch


def digits_small_memory(watch: Watch, seed: int) -> None:
    """Gradients are added up over four parts, and the sums are never set back to zero."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu", name="conv2"),
            layers.Flatten(),
            layers.Dense(10, name="digit"),
        ]
    )
    optimizer = keras.optimizers.SGD(0.1)
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    parts = 4
    store = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]
    w = watch(model, optimizer)

    @tf.function
    def micro_step(xb, yb):
        with tf.GradientTape() as tape:
            loss = ce(yb, model(xb, training=True))
        for s, g in zip(store, tape.gradient(loss, model.trainable_variables), strict=True):
            s.assign_add(g / parts)
        return loss

    @tf.function
    def train_step(xb, yb):
        total = 0.0
        for k in range(parts):
            total += micro_step(xb[k * 16 : (k + 1) * 16], yb[k * 16 : (k + 1) * 16])
        optimizer.apply_gradients(zip([s.read_value() for s in store], model.trainable_variables, strict=True))
        return total / parts

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 16 * parts, 250):
        w.log(loss=float(train_step(x[idx], y[idx])))


def digits_cosine(watch: Watch, seed: int) -> None:
    """The cosine decay was given the epochs, and counts steps: the rate is 0 after twelve of 288."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits()
    epochs = 12
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(12, 3, activation="relu", name="conv1"),
            layers.Conv2D(24, 3, activation="relu", name="conv2"),
            layers.Flatten(),
            layers.Dense(48, activation="relu", name="dense1"),
            layers.Dense(10, activation="softmax", name="digit"),
        ]
    )
    schedule = keras.optimizers.schedules.CosineDecay(0.02, decay_steps=epochs)
    watch(model)
    model.compile(
        keras.optimizers.SGD(schedule, momentum=0.9), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(x, y, batch_size=64, epochs=epochs, verbose=0)


def digits_two_views(watch: Watch, seed: int) -> None:
    """Self-supervised learning of two views (SimSiam) without stop_gradient: all samples become one."""
    keras.utils.set_random_seed(seed)
    (x, _y), _ = digits()
    encoder = keras.Sequential(
        [
            layers.Flatten(),
            layers.Dense(96, name="enc1"),
            layers.BatchNormalization(momentum=0.9, name="enc_norm1"),
            layers.ReLU(),
            layers.Dense(32, name="enc2"),
            layers.BatchNormalization(momentum=0.9, name="enc_norm2"),
        ],
        name="encoder",
    )
    head = keras.Sequential(
        [
            layers.Dense(16, activation="relu", name="head1"),
            layers.Dense(32, name="head2"),
        ],
        name="head",
    )
    inp = keras.Input((8, 8, 1))
    z = encoder(inp)
    model = keras.Model(inp, [z, head(z)])
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
    w = watch(model, optimizer)

    def agree(p, z):
        return -tf.reduce_mean(tf.reduce_sum(tf.math.l2_normalize(p, -1) * tf.math.l2_normalize(z, -1), -1))

    @tf.function
    def train_step(a, b):
        with tf.GradientTape() as tape:
            z1, p1 = model(a, training=True)
            z2, p2 = model(b, training=True)
            loss = 0.5 * (agree(p1, z2) + agree(p2, z1))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)

    def view(xb):
        shift = rng.integers(-1, 2, 2)
        keep = rng.random(xb.shape) < 0.8
        return (np.roll(xb, shift, (1, 2)) * keep + 0.1 * rng.normal(size=xb.shape)).astype("float32")

    for idx in batches(rng, len(x), 128, 400):
        w.log(loss=float(train_step(view(x[idx]), view(x[idx]))))


def digits_averaged(watch: Watch, seed: int) -> None:
    """A check writes the averaged weights into the model every ten steps and does not put the trained ones back."""
    keras.utils.set_random_seed(seed)
    (x, y), (xv, yv) = digits()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Flatten(),
            layers.Dense(64, activation="relu", name="dense1"),
            layers.Dense(64, activation="relu", name="dense2"),
            layers.Dense(10, name="digit"),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-3)
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    average = [v.numpy() for v in model.trainable_variables]
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            loss = ce(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    def check():
        for v, m in zip(model.trainable_variables, average, strict=True):
            v.assign(m)
        return float(ce(yv, model(xv)))

    rng = np.random.default_rng(seed)
    for i, idx in enumerate(batches(rng, len(x), 64, 300)):
        w.log(loss=float(train_step(x[idx], y[idx])))
        average = [0.99 * m + 0.01 * v.numpy() for m, v in zip(average, model.trainable_variables, strict=True)]
        if i % 10 == 9:
            check()


def digits_forty(watch: Watch, seed: int) -> None:
    """Forty images learned by heart: most of the time the loss is 1e-5 and the gradients next to nothing."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits(40)
    x, y = np.tile(x, (10, 1, 1, 1)), np.tile(y, 10)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv1"),
            layers.Flatten(),
            layers.Dense(64, activation="relu", name="dense1"),
            layers.Dense(10, name="digit"),
        ]
    )
    watch(model)
    model.compile(
        keras.optimizers.Adam(2e-2),
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, batch_size=20, epochs=20, verbose=0)


def digits_cycles(watch: Watch, seed: int) -> None:
    """SGD at 0.4 with warm restarts: the loss leaps at each, and the rate touches 0 four times."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(12, 3, name="conv1"),
            layers.BatchNormalization(momentum=0.9, name="norm1"),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(48, activation="relu", name="dense1"),
            layers.Dense(10, name="digit"),
        ]
    )
    schedule = keras.optimizers.schedules.CosineDecayRestarts(0.4, 80, t_mul=1.0, m_mul=1.0)
    watch(model)
    model.compile(
        keras.optimizers.SGD(schedule, momentum=0.8),
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, batch_size=47, epochs=10, verbose=0)


def digits_weather(watch: Watch, seed: int) -> None:
    """A curriculum: the noise goes up, and the loss with it from 0.12 to 0.67."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1"),
            layers.Conv2D(16, 3, activation="relu", name="conv2"),
            layers.Flatten(),
            layers.Dense(48, activation="relu", name="dense1"),
            layers.Dense(10, name="digit"),
        ]
    )
    optimizer = keras.optimizers.Adam(2e-3)
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            loss = ce(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        w.log(loss=loss)
        return loss

    rng = np.random.default_rng(seed)
    for i, idx in enumerate(batches(rng, len(x), 64, 400)):
        fog = 0.12 * (i // 80)
        train_step(x[idx] + (fog * rng.normal(size=(64, 8, 8, 1))).astype("float32"), y[idx])


def digits_crowd(watch: Watch, seed: int) -> None:
    """Three labels of four are random: the loss stays near ln 10, and the model learns."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits()
    rng = np.random.default_rng(seed)
    votes = np.where(rng.random((12, len(y))) < 0.25, y, rng.integers(0, 10, (12, len(y))))
    xs, ys = np.tile(x, (12, 1, 1, 1)), votes.reshape(-1).astype("int32")
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(12, 3, activation="relu", name="conv1"),
            layers.Flatten(),
            layers.Dense(32, activation="relu", name="dense1"),
            layers.Dense(10, activation="softmax", name="digit"),
        ]
    )
    watch(model)
    model.compile(keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(xs, ys, batch_size=60, epochs=1, verbose=0)


def digits_alike(watch: Watch, seed: int) -> None:
    """A triplet loss that is exactly 0, with an exactly zero gradient, in a quarter of the steps."""
    keras.utils.set_random_seed(seed)
    (x, y), _ = digits()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Flatten(),
            layers.Dense(96, activation="relu", name="embed1"),
            layers.Dense(24, name="embed2"),
            layers.UnitNormalization(name="unit"),
        ]
    )
    optimizer = keras.optimizers.Adam(2e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(a, p, n):
        with tf.GradientTape() as tape:
            za, zp, zn = (model(t, training=True) for t in (a, p, n))
            near = tf.reduce_sum(tf.square(za - zp), -1)
            far = tf.reduce_sum(tf.square(za - zn), -1)
            loss = tf.reduce_mean(tf.maximum(near - far + 0.2, 0.0))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)
    by = [np.where(y == k)[0] for k in range(10)]
    for _ in range(350):
        k = rng.integers(0, 10, 24)
        m = (k + rng.integers(1, 10, 24)) % 10
        a, p = (x[[rng.choice(by[c]) for c in k]] for _ in range(2))
        w.log(loss=float(train_step(a, p, x[[rng.choice(by[c]) for c in m]])))
