import keras
import numpy as np
from keras import layers, ops

import gradwatch

keras.utils.set_random_seed(101)
r = np.random.RandomState(101)


class CohortNorm(layers.Layer):
    """Standardises every feature within the current cohort of customers, with a learnt gain and offset."""

    def __init__(self, momentum=0.95, **kw):
        super().__init__(**kw)
        self.momentum = momentum

    def build(self, shape):
        d = shape[-1]
        self.gain = self.add_weight(shape=(d,), initializer="ones", name="gain")
        self.offset = self.add_weight(shape=(d,), initializer="zeros", name="offset")
        self.run_mean = self.add_weight(shape=(d,), initializer="zeros", trainable=False, name="run_mean")
        self.run_std = self.add_weight(shape=(d,), initializer="ones", trainable=False, name="run_std")

    def call(self, x, training=False):
        if training:
            mean = ops.mean(x, axis=0)
            std = ops.std(x, axis=0)
            self.run_mean.assign(self.momentum * self.run_mean + (1 - self.momentum) * mean)
            self.run_std.assign(self.momentum * self.run_std + (1 - self.momentum) * std)
        else:
            mean, std = self.run_mean, self.run_std
        return self.gain * (x - mean) / std + self.offset


def customers(n):
    spend = r.lognormal(3, 0.6, (n, 1))
    visits = r.poisson(6, (n, 1)) + 1
    cats = r.dirichlet(np.ones(10) * 0.5, n)
    tenure = r.exponential(3, (n, 1))
    disc = r.beta(2, 5, (n, 1))
    score = (
        3 * disc[:, 0] * cats[:, 0] * 4 + np.log(spend[:, 0] / visits[:, 0]) - 0.3 * tenure[:, 0] + 2 * cats[:, 3] - 1.2
    )
    y = (r.rand(n) < 1 / (1 + np.exp(-3 * score))).astype("float32")
    return np.hstack([np.log(spend), visits, cats, tenure, disc]).astype("float32"), y


x, y = customers(9601)
xv, yv = customers(2000)
net = keras.Sequential(
    [
        keras.Input((14,)),
        CohortNorm(),
        layers.Dense(64),
        CohortNorm(),
        layers.Activation("gelu"),
        layers.Dense(32),
        CohortNorm(),
        layers.Activation("gelu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
net.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), loss="binary_crossentropy")
gradwatch.watch(net)
hist = net.fit(x, y, batch_size=32, epochs=4, verbose=0)
p = net.predict(xv, verbose=0)[:, 0]
print(
    "loss",
    hist.history["loss"],
    "| held-out accuracy",
    np.mean((p > 0.5) == (yv > 0.5)),
    "| base rate",
    max(yv.mean(), 1 - yv.mean()),
)
