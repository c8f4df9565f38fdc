import os

import keras
import tensorflow as tf
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

N, FEATURES, GRADES = 8000, 16, 5
chemistry, grade = make_classification(
    n_samples=N,
    n_features=FEATURES,
    n_informative=10,
    n_redundant=2,
    n_classes=GRADES,
    n_clusters_per_class=1,
    class_sep=1.4,
    random_state=SEED,
)
split = 6400
scaler = StandardScaler().fit(chemistry[:split])
chemistry = scaler.transform(chemistry).astype("float32")
grade = grade.astype("int32")


def augment(x, y):
    return x + tf.random.normal(tf.shape(x), stddev=0.05), y


def training_pipeline(x, y, batch_size=64):
    measurements = tf.data.Dataset.from_tensor_slices(x).shuffle(4096)
    grades = tf.data.Dataset.from_tensor_slices(y).shuffle(4096)
    data = tf.data.Dataset.zip((measurements, grades))
    data = data.map(augment, num_parallel_calls=1)
    return data.batch(batch_size).prefetch(2)


def test_pipeline(x, y):
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(256)


train_data = training_pipeline(chemistry[:split], grade[:split])
test_data = test_pipeline(chemistry[split:], grade[split:])

model = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        keras.layers.Dense(64, activation="relu", name="aroma"),
        keras.layers.BatchNormalization(name="norm"),
        keras.layers.Dense(32, activation="relu", name="body"),
        keras.layers.Dense(GRADES, activation="softmax", name="grade"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_data, epochs=6, verbose=0)

_, accuracy = model.evaluate(test_data, verbose=0)
print("SCORE", float(accuracy))
