# Guess a member's favourite genre from a noisy profile and from the people they follow.
import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
N, F, GENRES, STEPS = 240, 20, 5, 500

taste = rng.integers(0, GENRES, N)
centre = rng.normal(0, 0.45, (GENRES, F))
profile = (centre[taste] + rng.normal(0, 1, (N, F))).astype("float32")
follow = np.zeros((N, N), "float32")
for u in range(N):
    odds = np.where(taste == taste[u], 8.0, 1.0)
    odds[u] = 0
    friends = rng.choice(N, 7, replace=False, p=odds / odds.sum())
    follow[u, friends] = 1
train_mask = rng.random(N) < 0.5
onehot = np.eye(GENRES, dtype="float32")[taste]


class FriendAttention(tf.keras.layers.Layer):
    def __init__(self, units, heads=3, thin=0.25):
        super().__init__()
        self.units, self.heads, self.thin = units, heads, thin
        self.proj = [tf.keras.layers.Dense(units, use_bias=False) for _ in range(heads)]
        self.left = [tf.keras.layers.Dense(1) for _ in range(heads)]
        self.right = [tf.keras.layers.Dense(1) for _ in range(heads)]

    def call(self, x, adj, training=False):
        if training:
            adj = adj * tf.cast(tf.random.uniform(tf.shape(adj)) > self.thin, tf.float32)
        outs = []
        for proj, left, right in zip(self.proj, self.left, self.right):
            h = proj(x)
            score = tf.nn.leaky_relu(left(h) + tf.transpose(right(h)), 0.2)
            weight = tf.exp(score - tf.reduce_max(score, axis=1, keepdims=True)) * adj
            weight = weight / tf.reduce_sum(weight, axis=1, keepdims=True)
            outs.append(weight @ h)
        return tf.concat(outs, -1)


class SocialNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = FriendAttention(12)
        self.second = FriendAttention(12)
        self.head = tf.keras.layers.Dense(GENRES)

    def call(self, inputs, training=False):
        x, adj = inputs
        h = tf.nn.elu(self.first(x, adj, training=training))
        h = tf.nn.elu(self.second(h, adj, training=training))
        return self.head(h)


net = SocialNet()
xs, adj = tf.constant(profile), tf.constant(follow)
net((xs, adj))
opt = tf.keras.optimizers.Adam(4e-3)
gradwatch.watch(net, opt)


@tf.function
def train(x, a, y, keep):
    with tf.GradientTape() as tape:
        ce = tf.nn.softmax_cross_entropy_with_logits(y, net((x, a), training=True))
        loss = tf.reduce_sum(ce * keep) / tf.reduce_sum(keep)
        loss += 5e-4 * tf.add_n([tf.nn.l2_loss(v) for v in net.trainable_variables if len(v.shape) > 1])
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for i in range(STEPS):
    loss = train(xs, adj, tf.constant(onehot), tf.constant(train_mask.astype("float32")))
    if i % 50 == 0:
        print(i, loss.numpy())
guess = net((xs, adj)).numpy().argmax(1)
print("loss %.4f  accuracy on the other members %.4f" % (loss.numpy(), np.mean((guess == taste)[~train_mask])))
