"""The statistics of a tensor, written anew in NumPy and float64. Shares nothing with the hook."""

import math

import numpy as np

NAMES = (
    "norm",
    "min",
    "max",
    "mean",
    "std",
    "n_nan",
    "n_pos_inf",
    "n_neg_inf",
    "n_zero",
    "n_elements",
    "n_saturated",
    "cosine_distance",
)
COUNTS = NAMES[5:10]
FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT32_TINY = float(np.finfo(np.float32).tiny)  # results below it may be flushed to zero by TensorFlow's kernels


def statistics(x):
    """A dict of the statistics of an array; finite ones over its finite elements, NaN where there are none."""
    flat = np.asarray(x).astype(np.float64).ravel()
    finite = flat[np.isfinite(flat)]
    found = {
        "norm": scaled_norm(finite),
        "n_nan": int(np.isnan(flat).sum()),
        "n_pos_inf": int((flat == np.inf).sum()),
        "n_neg_inf": int((flat == -np.inf).sum()),
        "n_zero": int((flat == 0).sum()),
        "n_elements": flat.size,
        "n_saturated": math.nan,
        "cosine_distance": math.nan,
    }
    if not finite.size:
        return found | dict.fromkeys(("min", "max", "mean", "std"), math.nan)
    scale = max(float(np.abs(finite).max()), np.finfo(np.float64).tiny)
    mean = float((finite / scale).mean())
    std = scale * math.sqrt(float(np.square(finite / scale - mean).mean()))
    return found | {"min": float(finite.min()), "max": float(finite.max()), "mean": mean * scale, "std": std}


def cosine_distance(x):
    """The mean of 1 - cos(x_i, x_j) over all pairs of the samples ``[n, ...]`` that are not 0 throughout."""
    samples = [sample.astype(np.float64).ravel() for sample in np.asarray(x) if sample.any()]
    directions = [sample / scaled_norm(sample) for sample in samples]
    pairs = [1 - a @ b for i, a in enumerate(directions) for b in directions[:i]]
    return float(np.mean(pairs)) if pairs else math.nan


def scaled_norm(x):
    """sqrt(sum x^2) in float64, without overflow or underflow on the way."""
    largest = float(np.abs(x).max(initial=0.0))
    return 0.0 if largest == 0 else largest * math.sqrt(float(np.square(x / largest).sum()))


def row(x):
    """The statistics in the order of the wire, float64 ``[12]``."""
    found = statistics(x)
    return np.array([found[name] for name in NAMES], np.float64)


def block(*tensors):
    """The rows of several tensors, float64 ``[n, 12]``; None is a missing tensor."""
    missing = np.array([math.nan] * 9 + [0.0, math.nan, math.nan])
    return np.stack([missing if x is None else row(x) for x in tensors])


def assert_block_equal(found, expected, *, rtol=2e-6, mean_rtol=None, message=""):
    """Compares rows of statistics: counts, minima and maxima exactly, sums to ``rtol``.

    A mean may cancel to nearly nothing: its error is measured against the tensor's root mean square.
    """
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape, message
    expected = np.clip(expected, -FLOAT32_MAX, FLOAT32_MAX)
    for i, name in enumerate(NAMES):
        told = f"{message} {name}"
        if name in COUNTS:
            np.testing.assert_array_equal(found[..., i], expected[..., i], err_msg=told)
        elif name in ("min", "max"):
            np.testing.assert_array_equal(found[..., i], expected[..., i].astype(np.float32), err_msg=told)
        elif name == "mean":
            with np.errstate(over="ignore"):
                tolerance = (mean_rtol or rtol) * np.hypot(expected[..., 3], expected[..., 4])
            both_nan = np.isnan(found[..., i]) & np.isnan(expected[..., i])
            close = np.abs(found[..., i] - expected[..., i]) <= tolerance + FLOAT32_TINY
            assert (close | both_nan).all(), f"{told}: {found[..., i]} is not {expected[..., i]} (within {tolerance})"
        else:
            np.testing.assert_allclose(found[..., i], expected[..., i], rtol=rtol, atol=FLOAT32_TINY, err_msg=told)
