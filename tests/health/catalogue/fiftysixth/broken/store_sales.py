import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

STORES, ITEMS, N = 120, 60, 24000
rng = np.random.default_rng(SEED)
columns = ["store_id", "item_id", "price", "discount", "temperature", "holiday"]
numeric = [2, 3, 4, 5]

store_level = rng.normal(0, 1.0, STORES)
item_level = rng.normal(0, 1.0, ITEMS)
item_season = rng.normal(0, 0.6, ITEMS)
store = rng.integers(0, STORES, N)
item = rng.integers(0, ITEMS, N)
price = rng.lognormal(1, 0.3, N)
discount = rng.choice([0, 0.1, 0.2, 0.3], N)
temperature = rng.normal(15, 8, N)
holiday = rng.integers(0, 2, N)
log_sales = (
    3
    + store_level[store]
    + item_level[item]
    - 0.3 * price
    + 2 * discount
    + item_season[item] * (temperature - 15) / 8
    + 0.4 * holiday
    + 0.2 * rng.normal(size=N)
)
table = np.stack([store, item, price, discount, temperature, holiday], 1).astype("float64")
target = log_sales.astype("float32")

train, test, y_train, y_test = train_test_split(table, target, test_size=0.2, random_state=SEED)
scaler = MinMaxScaler()
train = scaler.fit_transform(train)
test = scaler.transform(test)


def as_inputs(t):
    return {
        "store_id": t[:, 0].astype("int32"),
        "item_id": t[:, 1].astype("int32"),
        "numeric": t[:, numeric].astype("float32"),
    }


store_in = keras.Input((), dtype="int32", name="store_id")
item_in = keras.Input((), dtype="int32", name="item_id")
num_in = keras.Input((len(numeric),), name="numeric")
store_emb = layers.Embedding(STORES, 8, name="store_emb")(store_in)
item_emb = layers.Embedding(ITEMS, 8, name="item_emb")(item_in)
h = layers.Concatenate()([store_emb, item_emb, num_in])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dropout(0.05)(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1)(h)

model = keras.Model([store_in, item_in, num_in], out)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=keras.losses.Huber(), metrics=["mae"])
watch = gradwatch.watch(model)
model.fit(as_inputs(train), y_train, batch_size=256, epochs=12, verbose=2, validation_data=(as_inputs(test), y_test))

pred = model.predict(as_inputs(test), batch_size=1024, verbose=0)[:, 0]
print("SCORE", float(r2_score(y_test, pred)))
