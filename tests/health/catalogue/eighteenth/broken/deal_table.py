import io

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers, losses, optimizers

import gradwatch

tf.keras.utils.set_random_seed(31)
GRADES = "ABCDEFG"


def export(n, seed):
    r = np.random.default_rng(seed)
    buf = io.StringIO()
    buf.write("grade,income,amount,term,util,age,apr,months_to_close\n")
    for _ in range(n):
        g = r.integers(0, 7)
        inc, amt = np.exp(r.normal(10.8, 0.5)), np.exp(r.normal(9.2, 0.6))
        term, util, age = r.choice([36, 60]), r.beta(2, 3), r.integers(20, 75)
        apr = 5 + 2.1 * g + 4 * util + 1.5 * (term == 60) + r.normal(0, 0.5)
        close = term * (0.55 + 0.3 * np.tanh(amt / inc - 0.3) + 0.1 * (util - 0.4)) + r.normal(0, 2)
        tail = "" if r.random() < 0.0008 else f"{close:.2f}"
        buf.write(f"{g},{inc:.0f},{amt:.0f},{term},{util:.3f},{age},{apr:.2f},{tail}\n")
    buf.seek(0)
    return np.genfromtxt(buf, delimiter=",", skip_header=1, dtype="float32")


def prepare(table, stats=None):
    grade, num, target = table[:, 0].astype("int32"), table[:, 1:6].copy(), table[:, 6:8]
    num[:, :2] = np.log(num[:, :2])
    if stats is None:
        stats = (np.nanmean(num, 0), np.nanstd(num, 0), np.nanmean(target, 0), np.nanstd(target, 0))
    num, target = (num - stats[0]) / stats[1], (target - stats[2]) / stats[3]
    return [grade, num], target, stats


def network():
    g, n = Input((), dtype="int32"), Input((5,))
    h = layers.Concatenate()([layers.Embedding(7, 8)(g), n])
    for width in (128, 64):
        r = layers.Dense(width, activation="selu", kernel_initializer="lecun_normal")(h)
        h = layers.Concatenate()([h, r])
    return Model([g, n], [layers.Dense(1, name="apr")(h), layers.Dense(1, name="close")(h)])


train_table = export(7000, 1)
test_table = export(2000, 2)
(gx, nx), ty, stats = prepare(train_table)
(ge, ne), te, _ = prepare(test_table[np.isfinite(test_table).all(1)], stats)

net = network()
net.compile(optimizer=optimizers.Adam(5e-4), loss=[losses.Huber(), losses.Huber()], loss_weights=[1.0, 0.7])
gradwatch.watch(net)

order = np.random.default_rng(0)
for epoch in range(8):
    idx = order.permutation(len(gx))
    run = []
    for b in range(0, len(idx) - 49, 50):
        k = idx[b : b + 50]
        run.append(net.train_on_batch([gx[k], nx[k]], [ty[k, :1], ty[k, 1:]])[0])
    print("epoch", epoch, "mean loss", float(run[-1]))

apr, close = net.predict([ge, ne], verbose=0)
r2 = [1 - np.mean((p[:, 0] - te[:, j]) ** 2) / np.var(te[:, j]) for j, p in enumerate((apr, close))]
print("loss %.4f held-out R2 apr %.3f close %.3f" % (float(run[-1]), *r2))
