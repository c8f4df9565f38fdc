"""The table of tensors that every statistic must get right."""

import ml_dtypes
import numpy as np

TINY = float(np.finfo(np.float32).tiny)


def _normal(*shape, scale=1.0, shift=0.0, dtype=np.float32, seed=7):
    return (np.random.default_rng(seed).normal(size=shape) * scale + shift).astype(dtype)


def _with(values, **places):
    """A copy of an array in which some flat positions hold other values: ``_with(x, **{"3": nan})``."""
    copy = np.array(values)
    for place, value in places.items():
        copy.reshape(-1)[int(place)] = value
    return copy


TENSORS = {
    "float32": _normal(37, 11),
    "float64": _normal(37, 11, dtype=np.float64),
    "float16": _normal(37, 11, dtype=np.float16),
    "bfloat16": _normal(37, 11, dtype=ml_dtypes.bfloat16),
    "float16 whose square sum overflows float16": _normal(50, 50, scale=1e4, dtype=np.float16),
    "bfloat16, huge": _normal(20, 20, scale=1e37, dtype=ml_dtypes.bfloat16),
    "large, a tensor on its own": _normal(170, 130),
    "large, float16": _normal(170, 130, dtype=np.float16),
    "with exact zeros": np.maximum(_normal(170, 130), 0),
    "scalar": np.float32(-3.25),
    "one element": np.array([2.5], np.float32),
    "scalar NaN": np.float32(np.nan),
    "empty": np.zeros((0, 4), np.float32),
    "all zero": np.zeros((9, 5), np.float32),
    "all zero, large": np.zeros((200, 100), np.float32),
    "all zero, with a negative zero": _with(np.zeros(8, np.float32), **{"3": -0.0}),
    "constant": np.full((13, 17), 0.1, np.float32),
    "constant, large": np.full((170, 130), -0.1, np.float32),
    "one NaN": _with(_normal(37, 11), **{"5": np.nan}),
    "one NaN, large": _with(_normal(170, 130), **{"70": np.nan}),
    "both Inf": _with(_normal(37, 11), **{"0": np.inf, "406": -np.inf}),
    "NaN and both Inf, large": _with(_normal(170, 130), **{"0": np.inf, "1": -np.inf, "2": -np.inf, "22099": np.nan}),
    "NaN and both Inf, float16": _with(_normal(12, 12, dtype=np.float16), **{"0": np.inf, "1": -np.inf, "9": np.nan}),
    "NaN and Inf, bfloat16": _with(_normal(12, 12, dtype=ml_dtypes.bfloat16), **{"0": np.inf, "9": np.nan}),
    "NaN and zeros": _with(np.zeros(30, np.float32), **{"4": np.nan}),
    "all NaN": np.full((4, 4), np.nan, np.float32),
    "all Inf": np.full((4, 4), np.inf, np.float32),
    "all NaN, large": np.full((170, 130), np.nan, np.float32),
    "huge": _normal(37, 11, scale=1e30),
    "huge, large": _normal(170, 130, scale=1e30),
    "float32's largest": np.full((3, 4), np.finfo(np.float32).max, np.float32),
    "huge, float64 beyond float32": _normal(9, 9, scale=1e200, dtype=np.float64),
    "tiny": _normal(37, 11, scale=1e-25),
    "tiny, large": _normal(170, 130, scale=1e-25),
    "tiny, float64 below float32": _normal(9, 9, scale=1e-60, dtype=np.float64),
    "smallest normal numbers": _normal(1, 64, scale=0.0, shift=4 * TINY),
    "tiny and huge": np.array([1e-30, 1e30, -1e30, 3.0], np.float32),
    "mean far above std": _normal(37, 11, shift=1000.0),
    "mean far above std, large": _normal(170, 130, scale=1e-2, shift=100.0),
    "mean far above std, with NaN": _with(_normal(170, 130, scale=1e-2, shift=100.0), **{"8": np.nan}),
    "one large among small": _with(_normal(170, 130, scale=1e-3), **{"17": 1e4}),
}
