import os
from dataclasses import dataclass, field

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class GraphConfig:
    nodes: int = 500
    classes: int = 4
    features: int = 24
    hidden: list = field(default_factory=lambda: [48, 48, 48, 48])
    lr: float = 0.01
    epochs: int = 250


def make_citations(cfg):
    rng = np.random.default_rng(17)
    topic = rng.integers(0, cfg.classes, cfg.nodes)
    same = topic[:, None] == topic[None]
    fame = rng.pareto(1.5, cfg.nodes) + 0.5
    prob = np.clip(np.where(same, 0.06, 0.006) * np.sqrt(fame[:, None] * fame[None]), 0, 0.95)
    upper = np.triu(rng.random((cfg.nodes, cfg.nodes)) < prob, 1)
    adj = (upper | upper.T).astype("float32")
    centres = rng.normal(size=(cfg.classes, cfg.features))
    feats = (0.5 * centres[topic] + 1.5 * rng.normal(size=(cfg.nodes, cfg.features))).astype("float32")
    labelled = rng.random(cfg.nodes) < 0.25
    return feats, adj, topic.astype("int32"), labelled.astype("float32")


def prepare_adjacency(adj):
    return adj + np.eye(len(adj), dtype="float32")


class GraphConv(keras.layers.Layer):
    def __init__(self, units, adj, activation=None, **kw):
        super().__init__(**kw)
        self.units, self.adj = units, tf.constant(adj)
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, h):
        return self.activation(tf.matmul(self.adj, tf.matmul(h, self.w)) + self.b)


def build_gcn(cfg, adj):
    inp = keras.Input((cfg.features,))
    h = inp
    for i, units in enumerate(cfg.hidden):
        h = GraphConv(units, adj, "relu", name=f"gconv_{i}")(h)
    return keras.Model(inp, GraphConv(cfg.classes, adj, name="gconv_out")(h), name="gcn")


def make_step(model, optimizer):
    @tf.function
    def step(feats, labels, mask):
        with tf.GradientTape() as tape:
            logits = model(feats, training=True)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    return step


def main():
    cfg = GraphConfig()
    feats, adj, topic, labelled = make_citations(cfg)
    model = build_gcn(cfg, prepare_adjacency(adj))
    step = make_step(model, keras.optimizers.SGD(cfg.lr, momentum=0.9))
    watch = gradwatch.watch(model)
    f, y, m = map(tf.constant, (feats, topic, labelled))
    for epoch in range(cfg.epochs):
        loss = step(f, y, m)
        watch.log(loss=loss)
        if epoch % 50 == 0:
            print(epoch, float(loss))
    pred = model(f).numpy().argmax(1)
    print("SCORE", float((pred == topic)[labelled == 0].mean()))


if __name__ == "__main__":
    main()
