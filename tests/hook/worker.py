"""One of two processes that train together under `MultiWorkerMirroredStrategy`, as TF_CONFIG says.

    TF_CONFIG=... GRADWATCH_URL=... python -m tests.hook.worker

The last step's data of the second worker hold a NaN. Prints the run's id.
"""

import keras
import numpy as np
import tensorflow as tf

import gradwatch
from tests.hook import training
from tests.hook.training import BATCH, LOSS, batches, data

X, Y = data()
SICK_STEP = training.N_BATCHES - 1
SICK = X.copy()
SICK[SICK_STEP * BATCH + BATCH // 2] = np.nan


def part(worker):
    """A worker's half of every batch."""
    half = slice(worker * BATCH // 2, (worker + 1) * BATCH // 2)
    return [(x[half], y[half]) for x, y in batches(SICK, Y, epochs=1)]


def main():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = training.smooth()
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
    watched = gradwatch.watch(model, budget=0, name="two workers")

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))  # Keras divides it by the number of replicas
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def train(x, y):
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    for x, y in part(strategy.cluster_resolver.task_id):
        dataset = strategy.distribute_datasets_from_function(lambda _, x=x, y=y: tf.data.Dataset.from_tensors((x, y)))
        watched.log(loss=train(*next(iter(dataset))))
    watched.close()
    print(watched.run_id)


if __name__ == "__main__":
    main()
