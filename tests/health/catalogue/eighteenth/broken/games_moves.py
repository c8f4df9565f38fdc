"""Card game: which of nine plays would the expert make?"""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(9)
g = np.random.default_rng(9)
CARDS, PLAYS = 36, 9
share = np.array([0.36, 0.24, 0.16, 0.09, 0.05, 0.035, 0.025, 0.02, 0.02])
signs = g.normal(0, 1.0, (PLAYS, CARDS))


def hands(n):
    play = g.choice(PLAYS, n, p=share / share.sum())
    hand = 0.38 * signs[play] + g.normal(0, 1, (n, CARDS))
    swap = g.random((n, 1)) < 0.5
    hand = np.where(swap, -hand, hand)
    return np.concatenate([hand, swap], 1).astype("float32"), play.astype("int32")


def play_loss(y, logits):
    y = tf.cast(tf.reshape(y, [-1]), tf.int32)
    nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(tf.minimum(nll, 3.0))


class Player(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.a = tf.keras.layers.Dense(96, activation="relu")
        self.drop = tf.keras.layers.Dropout(0.1)
        self.b = tf.keras.layers.Dense(96, activation="relu")
        self.c = tf.keras.layers.Dense(PLAYS)

    def call(self, x, training=False):
        return self.c(self.b(self.drop(self.a(x), training=training)))


x, y = hands(14000)
xv, yv = hands(5000)
player = Player()
player.compile(optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.9), loss=play_loss)
player(x[:2])
gradwatch.watch(player)
hist = player.fit(x, y, batch_size=64, epochs=12, verbose=2)
guess = player.predict(xv, verbose=0).argmax(1)
recall = [np.mean(guess[yv == k] == k) for k in range(PLAYS)]
print("recall", np.round(recall, 2))
print("loss %.4f  held-out mean recall over plays %.4f" % (hist.history["loss"][-1], np.mean(recall)))
