import argparse
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--micro", type=int, default=4)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--steps", type=int, default=220)
    p.add_argument("--lr", type=float, default=3e-3)
    return p.parse_args([])


VOCAB, TAGS, LENGTH = 60, 5, 14


def make_corpus(n, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, VOCAB, (n, LENGTH))
    prev = np.concatenate([np.zeros((n, 1), int), tokens[:, :-1]], axis=1)
    tags = (tokens // 12 + (prev % 2)) % TAGS
    lengths = rng.integers(5, LENGTH + 1, n)
    keep = np.arange(LENGTH)[None] < lengths[:, None]
    annotated = rng.random(n) < 0.55
    weights = (keep & annotated[:, None]).astype("float32")
    return (tokens * keep).astype("int32"), tags.astype("int32"), weights


def build_tagger():
    inp = keras.Input((LENGTH,), dtype="int32")
    h = keras.layers.Embedding(VOCAB, 24, name="word_emb")(inp)
    h = keras.layers.Conv1D(48, 3, padding="causal", activation="relu", name="context")(h)
    h = keras.layers.Dense(48, activation="relu", name="mix")(h)
    return keras.Model(inp, keras.layers.Dense(TAGS, name="tag_logits")(h), name="tagger")


def token_loss(tags, logits, weights):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=logits)
    return tf.reduce_sum(ce * weights) / tf.reduce_sum(weights)


class AccumulatingTrainer:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every
        self.buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]

    @tf.function
    def micro_step(self, tokens, tags, weights):
        with tf.GradientTape() as tape:
            loss = token_loss(tags, self.model(tokens, training=True), weights)
        grads = tape.gradient(loss, self.model.trainable_variables)
        for buf, g in zip(self.buffers, grads):
            buf.assign_add(tf.convert_to_tensor(g) / self.every)
        return loss

    @tf.function
    def apply(self):
        self.optimizer.apply_gradients(zip([b.value() for b in self.buffers], self.model.trainable_variables))
        for buf in self.buffers:
            buf.assign(tf.zeros_like(buf))


def evaluate(model, data):
    tokens, tags, weights = data
    pred = model.predict(tokens, verbose=0).argmax(-1)
    return float(((pred == tags) * weights).sum() / weights.sum())


def main():
    args = parse_args()
    train, test = make_corpus(4000, 11), make_corpus(600, 12)
    model = build_tagger()
    trainer = AccumulatingTrainer(model, keras.optimizers.Adam(args.lr), args.accumulate)
    watch = gradwatch.watch(model)
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=SEED).repeat().batch(args.micro)
    it = iter(ds)
    for step in range(args.steps):
        losses = [trainer.micro_step(*next(it)) for _ in range(args.accumulate)]
        trainer.apply()
        loss = tf.reduce_mean(losses)
        watch.log(loss=loss)
        if step % 50 == 0:
            print(f"step {step} loss {float(loss):.4f}")
    print("SCORE", evaluate(model, test))


if __name__ == "__main__":
    main()
