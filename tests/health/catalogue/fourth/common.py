"""What the fourth set shares: digits, and an order of batches."""

from tests.health.catalogue.tools import IMAGES, LABELS


def digits(split=1500):
    y = LABELS.astype("int32")
    return (IMAGES[:split], y[:split]), (IMAGES[split:], y[split:])


def batches(rng, n, size, steps):
    order = rng.permutation(n)
    at = 0
    for _ in range(steps):
        if at + size > n:
            order, at = rng.permutation(n), 0
        yield order[at : at + size]
        at += size
