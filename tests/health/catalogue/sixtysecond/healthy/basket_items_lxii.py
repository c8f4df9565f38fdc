import os
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

VOCAB, DIM, GROUPS = 1000, 24, 20


class Pairs(NamedTuple):
    anchor: np.ndarray
    context: np.ndarray


def make_baskets(n, rng, group_of, popularity):
    members = [np.flatnonzero(group_of == g) for g in range(GROUPS)]
    weights = [popularity[m] / popularity[m].sum() for m in members]
    g = rng.integers(0, GROUPS, n)
    a, b = np.empty(n, "int32"), np.empty(n, "int32")
    for k in range(GROUPS):
        idx = np.flatnonzero(g == k)
        a[idx] = rng.choice(members[k], len(idx), p=weights[k])
        b[idx] = rng.choice(members[k], len(idx), p=weights[k])
    return Pairs(a, b)


class ItemModel(keras.Model):
    def __init__(self):
        super().__init__(name="item2vec")
        init = keras.initializers.RandomUniform(-0.1, 0.1)
        self.anchor = keras.layers.Embedding(VOCAB, DIM, embeddings_initializer=init, name="anchor_emb")
        self.context = keras.layers.Embedding(VOCAB, DIM, embeddings_initializer="zeros", name="context_emb")

    def call(self, inputs):
        anchors, contexts = inputs
        return tf.einsum("bd,bkd->bk", self.anchor(anchors), self.context(contexts))


def negative_sampling_loss(logits):
    labels = tf.concat([tf.ones_like(logits[:, :1]), tf.zeros_like(logits[:, 1:])], axis=1)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(tf.reduce_sum(ce, axis=1))


def make_step(model, optimizer, negatives):
    @tf.function
    def step(anchor, context):
        n = tf.shape(anchor)[0]
        noise = tf.random.uniform((n, negatives), 0, VOCAB, dtype=tf.int32)
        with tf.GradientTape() as tape:
            logits = model((anchor, tf.concat([context[:, None], noise], axis=1)), training=True)
            loss = negative_sampling_loss(logits)
        v = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    return step


def ranking_auc(model, pairs, rng):
    wrong = rng.integers(0, VOCAB, len(pairs.anchor)).astype("int32")
    both = np.stack([pairs.context, wrong], axis=1)
    scores = model((pairs.anchor, both)).numpy()
    return float((scores[:, 0] > scores[:, 1]).mean())


def main():
    world = np.random.default_rng(40)
    group_of = world.integers(0, GROUPS, VOCAB)
    popularity = 1.0 / (1 + world.permutation(VOCAB)) ** 0.7
    train = make_baskets(60000, np.random.default_rng(41), group_of, popularity)
    test = make_baskets(3000, np.random.default_rng(42), group_of, popularity)
    model = ItemModel()
    model((train.anchor[:2], train.context[:2, None]))
    watch = gradwatch.watch(model)
    step = make_step(model, keras.optimizers.Adagrad(0.5, initial_accumulator_value=0.01), negatives=8)
    ds = tf.data.Dataset.from_tensor_slices(tuple(train)).shuffle(60000, seed=SEED).batch(256)
    for epoch in range(4):
        for anchor, context in ds:
            loss = step(anchor, context)
            watch.log(loss=loss)
        print("epoch", epoch, "loss", float(loss))
    print("SCORE", ranking_auc(model, test, np.random.default_rng(43)))


if __name__ == "__main__":
    main()
