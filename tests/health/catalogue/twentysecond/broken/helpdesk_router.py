# Routes support tickets to teams: bag of tokens, averaged embedding, own Adagrad (as in the paper).
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, TEAMS = 400, 20, 6
topic = np.random.default_rng(17).dirichlet(np.full(VOCAB - 1, 0.08), TEAMS)


def tickets(n):
    team = rng.integers(0, TEAMS, n)
    tokens = np.zeros((n, LENGTH), "int32")
    for i, c in enumerate(team):
        k = rng.integers(6, LENGTH + 1)
        p = 0.55 * topic[c] + 0.45 / (VOCAB - 1)
        tokens[i, :k] = 1 + rng.choice(VOCAB - 1, k, p=p)
    return tokens, team


class Adagrad(keras.optimizers.Optimizer):
    """Duchi et al. 2011"""

    def __init__(self, learning_rate=0.05, **kw):
        super().__init__(learning_rate=learning_rate, **kw)

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.history = [self.add_variable_from_reference(v, name="history") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        h = self.history[self._get_variable_index(variable)]
        gradient = ops.convert_to_tensor(gradient)
        self.assign_add(h, ops.square(gradient))
        self.assign_sub(variable, learning_rate * gradient / ops.sqrt(h))


x_train, y_train = tickets(2400)
x_test, y_test = tickets(600)

model = keras.Sequential(
    [
        keras.Input((LENGTH,), dtype="int32"),
        layers.Embedding(VOCAB, 24, mask_zero=True),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="tanh"),
        layers.Dense(TEAMS),
    ]
)
optimizer = Adagrad(0.05)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2400, seed=seed).batch(48)
for epoch in range(6):
    print("epoch", epoch + 1, "loss", np.mean([float(train_step(x, y)) for x, y in data]))

print("test accuracy", np.mean(model.predict(x_test, verbose=0).argmax(1) == y_test))
