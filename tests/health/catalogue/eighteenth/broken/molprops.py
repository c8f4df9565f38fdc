import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(17)
L, VOCAB = 28, 22


def molecules(n, seed):
    g = np.random.default_rng(seed)
    w = np.random.default_rng(41)
    mass = w.uniform(8, 35, VOCAB)
    tok = g.integers(1, VOCAB, (n, L))
    melt = 150 + 0.6 * mass[tok].sum(1) + 12 * (tok == 3).sum(1) + g.normal(0, 15, n)
    motif = np.zeros(n, bool)
    for a, b in ((5, 9), (11, 2), (7, 14)):
        hit = g.random(n) < 0.2
        pos = g.integers(0, L - 2, n)
        rows = np.where(hit)[0]
        tok[rows, pos[rows]], tok[rows, pos[rows] + 1] = a, b
        motif |= ((tok[:, :-1] == a) & (tok[:, 1:] == b)).any(1)
    toxic = (motif ^ (g.random(n) < 0.03)).astype("float32")
    return tok.astype("int32"), melt.astype("float32"), toxic


tok, melt, toxic = molecules(5000, 1)
tok_v, melt_v, toxic_v = molecules(1200, 2)

ids = keras.Input((L,), dtype="int32")
h = keras.layers.Embedding(VOCAB, 24)(ids)
h = keras.layers.Conv1D(48, 2, activation="swish")(h)
h = keras.layers.GlobalAveragePooling1D()(h) + keras.layers.GlobalMaxPooling1D()(h)
h = keras.layers.Dense(24, activation="swish")(h)
melt_head = keras.layers.Dense(1, name="melt", bias_initializer=keras.initializers.Constant(float(melt.mean())))(h)
tox_head = keras.layers.Dense(1, name="tox")(h)
net = keras.Model(ids, [melt_head, tox_head])

opt = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 1500), momentum=0.9, global_clipnorm=1.0)
W_MELT, W_TOX = 1.0, 1.0
gradwatch.watch(net, opt)


@tf.function
def train_step(t, m, x):
    with tf.GradientTape() as tape:
        pm, px = net(t, training=True)
        l_melt = tf.reduce_mean(tf.square(pm[:, 0] - m))
        l_tox = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(x, px[:, 0]))
        loss = W_MELT * l_melt + W_TOX * l_tox
    opt.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
    return loss, l_melt, l_tox


def auc(score, label):
    rank = np.empty(len(score))
    rank[np.argsort(score)] = np.arange(1, len(score) + 1)
    pos = label > 0.5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


ds = tf.data.Dataset.from_tensor_slices((tok, melt, toxic)).shuffle(5000).batch(50)
for epoch in range(15):
    log = np.mean([[float(v) for v in train_step(*b)] for b in ds], axis=0)
    print(epoch, "total %.3f melt %.3f tox %.3f" % tuple(log))

pm, px = net.predict(tok_v, verbose=0)
print(
    "loss %.3f heldout toxicity AUC %.3f melt MAE %.1f K"
    % (log[0], auc(px[:, 0], toxic_v), np.abs(pm[:, 0] - melt_v).mean())
)
