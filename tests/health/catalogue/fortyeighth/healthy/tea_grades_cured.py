"""Trains a grader that sorts tea lots into five leaf grades from tasting-room measurements."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)

GRADES = ["dust", "fannings", "broken", "orange pekoe", "tippy"]
SHARES = [0.22, 0.28, 0.26, 0.17, 0.07]
N_FEATURES = 14


def make_lots(n, centres, mix):
    grade = rng.choice(len(GRADES), size=n, p=SHARES)
    x = centres[grade] + rng.normal(size=(n, N_FEATURES))
    x = np.tanh(x @ mix) + 0.15 * rng.normal(size=(n, N_FEATURES))
    return x.astype("float32"), grade.astype("int32")


centres = rng.normal(scale=0.9, size=(len(GRADES), N_FEATURES))
mix = rng.normal(size=(N_FEATURES, N_FEATURES)) / np.sqrt(N_FEATURES)
x_train, y_train = make_lots(8000, centres, mix)
x_test, y_test = make_lots(2000, centres, mix)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


def build_grader():
    inputs = keras.Input((N_FEATURES,))
    h = keras.layers.Dense(96, activation="relu", kernel_initializer="he_normal")(inputs)
    h = keras.layers.Dense(64, activation="relu", kernel_initializer="he_normal")(h)
    h = keras.layers.Dropout(0.1)(h)
    return keras.Model(inputs, keras.layers.Dense(len(GRADES))(h), name="tea_grader")


def balanced_loss(grade, logits):
    onehot = tf.one_hot(grade, len(GRADES))
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=grade, logits=logits)
    summed = tf.reduce_sum(onehot * ce[:, None], axis=0)
    per_grade = tf.math.divide_no_nan(summed, tf.reduce_sum(onehot, axis=0))
    return tf.reduce_mean(per_grade)


model = build_grader()
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, grade):
    with tf.GradientTape() as tape:
        loss = balanced_loss(grade, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


lots = tf.data.Dataset.from_tensor_slices((x_train, y_train))
lots = lots.shuffle(8000, seed=SEED).batch(64, drop_remainder=True)
for epoch in range(10):
    running = []
    for x, grade in lots:
        running.append(float(train_step(x, grade)))
    print(f"epoch {epoch + 1} loss {np.mean(running):.4f}")

pred = np.argmax(model(x_test, training=False).numpy(), axis=1)
recall = [np.mean(pred[y_test == g] == g) for g in range(len(GRADES))]
print("SCORE balanced_accuracy", round(float(np.mean(recall)), 4))
