"""Choosing a small gene panel.

A classifier of tumour subtypes from expression data. The first layer works on single genes and is regularised gene by
gene, so that a small panel can be taken from it; after a few epochs the weakest genes are dropped from the panel.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
GENES = 240
SUBTYPES = 5
BATCH = 64
EPOCHS = 10
DROP_AFTER = 4

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
signature = rng.normal(0, 1, (SUBTYPES, 24))
loading = rng.normal(0, 0.25, (6, GENES))


def make_samples(n):
    label = rng.integers(0, SUBTYPES, n)
    factors = rng.normal(0, 1, (n, 6))
    expression = factors @ loading + rng.normal(0, 1.0, (n, GENES))
    expression[:, :24] += 0.55 * signature[label]
    return expression.astype("float32"), label.astype("int32")


@keras.saving.register_keras_serializable("panel")
class GroupSparsity(keras.regularizers.Regularizer):
    """One group for each gene: all the weights that leave it."""

    def __init__(self, strength):
        self.strength = strength

    def __call__(self, kernel):
        size = tf.norm(kernel, axis=1)
        return self.strength * tf.reduce_sum(size)

    def get_config(self):
        return {"strength": self.strength}


class DropWeakGenes(keras.callbacks.Callback):
    """Removes the weakest genes, once the ranking has settled."""

    def __init__(self, layer_name, share, after):
        super().__init__()
        self.layer_name, self.share, self.after = layer_name, share, after

    def on_epoch_end(self, epoch, logs=None):
        if epoch + 1 != self.after:
            return
        kernel = self.model.get_layer(self.layer_name).kernel
        weights = kernel.numpy()
        size = np.linalg.norm(weights, axis=1)
        weak = size < np.quantile(size, self.share)
        weights[weak] = 0.0
        kernel.assign(weights)
        print(f"dropped {weak.sum()} of {len(size)} genes")


x_train, y_train = make_samples(2560)
x_test, y_test = make_samples(1000)

model = keras.Sequential(
    [
        keras.Input((GENES,)),
        layers.Dense(48, kernel_regularizer=GroupSparsity(1e-3), name="panel"),
        layers.BatchNormalization(name="panel_norm"),
        layers.Activation("gelu", name="panel_act"),
        layers.Dropout(0.2, name="drop"),
        layers.Dense(32, activation="gelu", name="hidden"),
        layers.Dense(SUBTYPES, name="subtype"),
    ],
    name="gene_panel",
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Nadam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=BATCH,
    epochs=EPOCHS,
    callbacks=[DropWeakGenes("panel", 0.5, DROP_AFTER)],
    verbose=2,
)

accuracy = np.mean(model.predict(x_test, verbose=0).argmax(axis=1) == y_test)
print(f"score accuracy {accuracy:.4f} chance {1 / SUBTYPES:.4f}")
