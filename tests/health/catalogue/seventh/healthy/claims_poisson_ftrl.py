"""Motor insurance claim counts: sparse Poisson regression with exposure offset, FTRL with L1."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_POLICIES, N_RATING_FACTORS, N_RELEVANT = 20000, 60, 12
x = rng.normal(size=(N_POLICIES, N_RATING_FACTORS))
x[:, 30:] = (x[:, 30:] > 0.8) / 0.41  # half of the factors are yes/no flags, scaled
relevant = rng.choice(N_RATING_FACTORS, N_RELEVANT, replace=False)
weights = np.zeros(N_RATING_FACTORS)
weights[relevant] = rng.choice([-1, 1], N_RELEVANT) * rng.uniform(0.15, 0.4, N_RELEVANT)
exposure = rng.uniform(0.2, 1.0, N_POLICIES)  # years insured
x = x - x.mean(0)
rate = np.exp(-1.6 + x @ weights)
claims = rng.poisson(exposure * rate).astype("float32")

x = x.astype("float32")
n_train = 16000
y_train, y_test = claims[:n_train], claims[n_train:]
# the offset carries exposure and overall rate (FTRL forgets initial values, so no bias initialiser)
overall_rate = y_train.sum() / exposure[:n_train].sum()
offset = np.log(exposure * overall_rate).astype("float32")[:, None]
train_in = {"factors": x[:n_train], "offset": offset[:n_train]}
test_in = {"factors": x[n_train:], "offset": offset[n_train:]}
print(f"{np.mean(claims == 0):.3f} of the policies have no claim")

factors_in = keras.Input((N_RATING_FACTORS,), name="factors")
offset_in = keras.Input((1,), name="offset")
log_rate = layers.Dense(1, kernel_initializer="zeros", name="log_rate")(factors_in)
expected = layers.Activation("exponential")(layers.Add()([log_rate, offset_in]))
model = keras.Model([factors_in, offset_in], expected)
model.compile(
    optimizer=keras.optimizers.Ftrl(learning_rate=0.5, l1_regularization_strength=5.0),
    loss=keras.losses.Poisson(),
)


class Progress(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        kernel = model.get_layer("log_rate").kernel.numpy()
        print(
            f"epoch {epoch + 1} loss {logs['loss']:.4f} val {logs['val_loss']:.4f} "
            f"nonzero weights {np.count_nonzero(kernel)}/{kernel.size}"
        )


gradwatch.watch(model)
model.fit(
    train_in,
    y_train,
    batch_size=256,
    epochs=10,
    verbose=0,
    validation_data=(test_in, y_test),
    callbacks=[Progress()],
)


def deviance(predicted):
    part = np.where(y_test > 0, y_test * np.log(np.maximum(y_test, 1) / predicted), 0.0)
    return 2 * np.mean(part - (y_test - predicted))


predicted = model.predict(test_in, batch_size=1024, verbose=0)[:, 0]
flat = deviance(exposure[n_train:] * overall_rate)
oracle = deviance(exposure[n_train:] * rate[n_train:])
kept = set(np.flatnonzero(model.get_layer("log_rate").kernel.numpy()[:, 0]).tolist())
print(
    f"FINAL share of explainable deviance {(flat - deviance(predicted)) / (flat - oracle):.4f}; "
    f"relevant factors kept {len(kept & set(relevant.tolist()))}/{N_RELEVANT}, "
    f"others kept {len(kept - set(relevant.tolist()))}/{N_RATING_FACTORS - N_RELEVANT}"
)
