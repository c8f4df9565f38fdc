"""Two-headed shop model: will the visit end in a (rare) order, and how many items are put in the basket?"""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PRODUCTS, DIM, VIEWS, EPOCHS, BATCH = 400, 16, 8, 6, 128

# product vectors that another team trained; they stay as they are
product_vectors = rng.normal(size=(PRODUCTS, DIM)).astype("float32")
product_vectors[0] = 0.0  # padding
taste = rng.normal(size=DIM)
popularity = 1.0 / np.arange(1, PRODUCTS) ** 0.8
popularity /= popularity.sum()


def visits(n):
    views = rng.choice(np.arange(1, PRODUCTS), size=(n, VIEWS), p=popularity)
    length = rng.integers(2, VIEWS + 1, (n, 1))
    views = np.where(np.arange(VIEWS)[None] < length, views, 0)
    context = rng.normal(size=(n, 5))
    appeal = (product_vectors[views] @ taste).sum(1) / length[:, 0]
    logit = -5.2 + 0.9 * appeal + 0.8 * context[:, 0] - 0.6 * context[:, 1] * context[:, 2]
    order = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")
    items = rng.poisson(np.exp(0.3 + 0.3 * appeal + 0.3 * context[:, 3])).astype("float32")
    inputs = {"views": views.astype("int32"), "context": context.astype("float32")}
    return inputs, {"order": order[:, None], "items": items[:, None]}


class MaskedAverage(layers.Layer):
    def call(self, vectors, ids):
        mask = ops.expand_dims(ops.cast(ops.not_equal(ids, 0), vectors.dtype), -1)
        return ops.sum(vectors * mask, 1) / ops.sum(mask, 1)


class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = ops.cast(step, "float32")
        rise = step / self.warmup
        fall = 0.5 * (1 + ops.cos(np.pi * ops.minimum(step / self.total, 1.0)))
        return self.peak * ops.where(step < self.warmup, rise, fall)


def poisson_nll(y_true, log_rate):
    return ops.exp(log_rate) - y_true * log_rate


def build():
    views = keras.Input((VIEWS,), dtype="int32", name="views")
    context = keras.Input((5,), name="context")
    table = layers.Embedding(PRODUCTS, DIM, weights=[product_vectors], trainable=False, name="products")
    pooled = MaskedAverage()(table(views), views)
    h = layers.Concatenate()([pooled, context])
    h = layers.Dense(64, activation="gelu")(h)
    h = layers.Dense(64, activation="gelu")(h)
    h = layers.Dropout(0.1)(h)
    order = layers.Dense(1, name="order", bias_initializer=keras.initializers.Constant(-3.0))(h)
    items = layers.Dense(1, name="items")(h)
    return keras.Model({"views": views, "context": context}, {"order": order, "items": items})


def auc(y, score):
    rank = np.argsort(np.argsort(score)) + 1.0
    pos = y > 0.5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


train_x, train_y = visits(30000)
test_x, test_y = visits(10000)
print("orders in training: %.2f %%" % (100 * train_y["order"].mean()))

model = build()
total = EPOCHS * (len(train_x["views"]) // BATCH)
model.compile(
    optimizer=keras.optimizers.AdamW(WarmupCosine(4e-3, 150, total), weight_decay=1e-3, global_clipnorm=1.0),
    loss={"order": keras.losses.BinaryFocalCrossentropy(gamma=1.0, from_logits=True), "items": poisson_nll},
    loss_weights={"order": 4.0, "items": 0.5},
)
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(test_x, batch_size=1000, verbose=0)
rate, count = np.exp(pred["items"]), test_y["items"]
print("items: correlation of rate and count %.3f" % np.corrcoef(rate[:, 0], count[:, 0])[0, 1])
print("SCORE order_auc %.4f" % auc(test_y["order"][:, 0], pred["order"][:, 0]))
