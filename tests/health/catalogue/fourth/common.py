"""What the fourth set shares: digits, and an order of batches."""

from sklearn.datasets import load_digits


def digits(split=1500):
    d = load_digits()
    x = (d.images / 16.0).astype("float32")[..., None]
    y = d.target.astype("int32")
    return (x[:split], y[:split]), (x[split:], y[split:])


def batches(rng, n, size, steps):
    order = rng.permutation(n)
    at = 0
    for _ in range(steps):
        if at + size > n:
            order, at = rng.permutation(n), 0
        yield order[at : at + size]
        at += size
