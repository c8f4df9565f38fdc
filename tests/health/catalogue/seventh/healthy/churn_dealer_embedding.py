"""Telecom churn: rare positives, a long-tailed dealer code, AdamW with warm-up."""

import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# ---------------------------------------------------------------- data
N_CUSTOMERS, N_DEALERS = 34000, 600
tenure = rng.exponential(20.0, N_CUSTOMERS)
bill = rng.lognormal(3.5, 0.5, N_CUSTOMERS)
calls = rng.poisson(1.5, N_CUSTOMERS).astype("float64")
usage_drop = rng.normal(size=N_CUSTOMERS)
age = rng.uniform(18, 80, N_CUSTOMERS)
popularity = 1.0 / np.arange(1, N_DEALERS + 1) ** 0.9
dealer = rng.choice(N_DEALERS, N_CUSTOMERS, p=popularity / popularity.sum())
dealer_effect = rng.normal(0, 0.8, N_DEALERS)
logit = (
    -4.3
    - 0.05 * (tenure - 20)
    + 0.9 * (np.log(bill) - 3.5) / 0.5
    + 0.5 * calls
    + 1.0 * np.maximum(usage_drop, 0) * (age < 45)
    + dealer_effect[dealer]
)
churned = (rng.uniform(size=N_CUSTOMERS) < 1 / (1 + np.exp(-logit))).astype("float32")

numeric = np.stack([np.log1p(tenure), np.log(bill), np.sqrt(calls), usage_drop, age], 1)
n_train, n_val = 30000, 2000
train, val, test = np.split(np.arange(N_CUSTOMERS), [n_train, n_train + n_val])
mean, std = numeric[train].mean(0), numeric[train].std(0)
numeric = ((numeric - mean) / std).astype("float32")
# a dealer seen fewer than three times in training shares row 0
seen = np.bincount(dealer[train], minlength=N_DEALERS)
dealer_id = np.where(seen[dealer] >= 3, dealer + 1, 0).astype("int32")


def inputs_of(rows):
    return {"numeric": numeric[rows], "dealer": dealer_id[rows]}


# ---------------------------------------------------------------- model
numeric_in = keras.Input((numeric.shape[1],), name="numeric")
dealer_in = keras.Input((), dtype="int32", name="dealer")
dealer_vec = layers.Embedding(N_DEALERS + 1, 2, name="dealer_embedding")(dealer_in)
dealer_vec = layers.Dropout(0.2)(dealer_vec)
x = layers.Concatenate()([numeric_in, dealer_vec])
x = layers.Dense(32, activation="gelu")(x)
x = layers.Dropout(0.2)(x)
x = layers.Dense(16, activation="gelu")(x)
churn_logit = layers.Dense(1, name="churn_logit")(x)
model = keras.Model([numeric_in, dealer_in], churn_logit)

EPOCHS, BATCH = 4, 256
total_steps = EPOCHS * int(np.ceil(n_train / BATCH))
schedule = keras.optimizers.schedules.CosineDecay(
    0.0, total_steps - 60, warmup_target=3e-3, warmup_steps=60, alpha=0.02
)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=5e-2),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
positives = churned[train].mean()
class_weight = {0: 0.5 / (1 - positives), 1: 0.5 / positives}
print(f"positives {positives:.3f}, class weights {class_weight}")
gradwatch.watch(model)
model.fit(
    inputs_of(train),
    churned[train],
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
    validation_data=(inputs_of(val), churned[val]),
    class_weight=class_weight,
)

# ---------------------------------------------------------------- result
scores = model.predict(inputs_of(test), batch_size=512, verbose=0)[:, 0]
print(
    f"FINAL test AUC {roc_auc_score(churned[test], scores):.4f} "
    f"(true logit would give {roc_auc_score(churned[test], logit[test]):.4f})"
)
