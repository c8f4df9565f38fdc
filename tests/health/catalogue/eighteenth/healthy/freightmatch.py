import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(18)
SHIPPERS, CARRIERS, LANES = 3000, 1200, 30
rng = np.random.default_rng(18)
home_s = rng.integers(0, LANES, SHIPPERS)
home_c = rng.integers(0, LANES, CARRIERS)
pop_c = rng.pareto(2.5, CARRIERS) + 0.1
pop_s = rng.pareto(1.2, SHIPPERS) + 0.3


def orders(n):
    s = rng.choice(SHIPPERS, n, p=pop_s / pop_s.sum())
    lane = np.where(rng.random(n) < 0.85, home_s[s], rng.integers(0, LANES, n))
    c = np.empty(n, "int64")
    for k in range(LANES):
        who = np.where(home_c == k)[0]
        rows = np.where(lane == k)[0]
        c[rows] = rng.choice(who, len(rows), p=pop_c[who] / pop_c[who].sum())
    return s.astype("int32"), c.astype("int32")


s_tr, c_tr = orders(60000)
s_te, c_te = orders(3000)
freq = np.bincount(c_tr, minlength=CARRIERS) + 1.0
log_q = tf.constant(np.log(freq / freq.sum()), tf.float32)


class Matcher(keras.Model):
    def __init__(self, dim=16):
        super().__init__()
        self.shipper = keras.layers.Embedding(SHIPPERS, dim)
        self.carrier = keras.layers.Embedding(CARRIERS, dim)

    def call(self, pair):
        s, c = pair
        u = tf.nn.l2_normalize(self.shipper(s), axis=-1, epsilon=1e-6)
        v = tf.nn.l2_normalize(self.carrier(c), axis=-1, epsilon=1e-6)
        return 8.0 * tf.matmul(u, v, transpose_b=True)


model = Matcher()
model((tf.zeros([2], tf.int32), tf.zeros([2], tf.int32)))
opt = keras.optimizers.Adagrad(0.4, initial_accumulator_value=1e-3)
gradwatch.watch(model, opt)


@tf.function
def step(s, c):
    with tf.GradientTape() as tape:
        logits = model((s, c)) - tf.gather(log_q, c)[None, :]
        same = tf.cast(tf.equal(c[:, None], c[None, :]), tf.float32)
        logits -= 1e9 * (same - tf.eye(tf.shape(c)[0]))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(c)[0]), logits))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


B = 256
for epoch in range(8):
    idx = rng.permutation(len(s_tr))
    hist = [float(step(tf.constant(s_tr[i]), tf.constant(c_tr[i]))) for i in idx[: len(idx) // B * B].reshape(-1, B)]
    print(epoch, np.mean(hist))

scores = model((tf.constant(s_te), tf.range(CARRIERS))).numpy() + np.log(freq) * 1.0
top = np.argpartition(-scores, 20, axis=1)[:, :20]
recall = (top == c_te[:, None]).any(1).mean()
popular = np.isin(c_te, np.argsort(-freq)[:20]).mean()
print(f"loss {np.mean(hist[-50:]):.4f} heldout recall@20 {recall:.3f} popularity {popular:.3f}")
