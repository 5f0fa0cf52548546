"""Block formats of GGUF weights: random blocks and their exact values. numpy only.

Written from the format's definition (ggml's ggml-common.h and the dequantize_row_* functions), in
float32 and in the definition's order. `python3 tiny_blocks.py` compares every format with the
Python package `gguf`, where that is installed.
"""
import numpy as np

# name -> (GGUF type id, elements in a block, bytes of a block)
TYPES = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "BF16": (30, 1, 2),
    "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24),
    "Q8_0": (8, 32, 34), "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144),
    "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210),
}

# Where the float16 fields of a block lie, what they scale, and the largest value of that factor.
# (offset, centre of the field in units of the wanted deviation, its spread)
_HALVES = {
    "Q4_0": [(0, 0.2, 0.1)], "Q4_1": [(0, 0.2, 0.1), (2, -1.6, 0.4)],
    "Q5_0": [(0, 0.1, 0.05)], "Q5_1": [(0, 0.1, 0.05), (2, -1.6, 0.4)],
    "Q8_0": [(0, 0.014, 0.006)],
    "Q2_K": [(80, 0.11, 0.05), (82, 0.16, 0.05)], "Q3_K": [(108, 0.025, 0.01)],
    "Q4_K": [(0, 0.007, 0.003), (2, 0.05, 0.01)], "Q5_K": [(0, 0.0035, 0.0015), (2, 0.05, 0.01)],
    "Q6_K": [(208, 0.0007, 0.0003)],
}


def bf16_bits(values):
    """float32 -> bfloat16 bits, to nearest even."""
    bits = np.ascontiguousarray(values, "<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def random_rows(rng, kind, rows, cols, deviation):
    """Random bytes of `rows` rows of `cols` elements: [rows, bytes of a row] uint8."""
    _, elements, size = TYPES[kind]
    assert cols % elements == 0, (kind, cols)
    if elements == 1:
        values = (rng.standard_normal((rows, cols)) * deviation).astype("<f4")
        if kind == "F16":
            values = values.astype("<f2")
        elif kind == "BF16":
            values = bf16_bits(values)
        return values.view(np.uint8).reshape(rows, -1)
    n_blocks = rows * cols // elements
    blocks = rng.integers(0, 256, (n_blocks, size), dtype=np.uint8)
    for offset, centre, spread in _HALVES[kind]:
        half = ((centre + spread * rng.standard_normal(n_blocks)) * deviation).astype("<f2")
        blocks[:, offset:offset + 2] = half[:, None].view(np.uint8)
    return blocks.reshape(rows, -1)


def _half(blocks, offset):
    return blocks[:, offset:offset + 2].copy().view("<f2").astype(np.float32)  # [n, 1]


def _nibbles(packed):
    return np.concatenate([packed & 15, packed >> 4], axis=1)


def _small(kind, b):
    d = _half(b, 0)
    if kind == "Q8_0":
        return d * b[:, 2:].view(np.int8).astype(np.float32)
    qs = _nibbles(b[:, -16:]).astype(np.int32)
    if kind in ("Q5_0", "Q5_1"):
        at = 2 if kind == "Q5_0" else 4
        high = b[:, at:at + 4].copy().view("<u4")
        qs = qs | (((high >> np.arange(32, dtype=np.uint32)) & 1) << 4).astype(np.int32)
    if kind in ("Q4_0", "Q5_0"):
        return d * (qs - (8 if kind == "Q4_0" else 16)).astype(np.float32)
    return d * qs.astype(np.float32) + _half(b, 2)


def _q2_k(b):
    scales, qs = b[:, :16], b[:, 16:80].reshape(-1, 2, 1, 32)
    d, dmin = _half(b, 80), _half(b, 82)
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1)
    q = ((qs >> shifts) & 3).reshape(-1, 16, 16).astype(np.float32)
    dl = d * (scales & 15).astype(np.float32)
    ml = dmin * (scales >> 4).astype(np.float32)
    return (dl[:, :, None] * q - ml[:, :, None]).reshape(-1, 256)


def _q3_k(b):
    hmask, qs, sc = b[:, :32], b[:, 32:96].reshape(-1, 2, 1, 32), b[:, 96:108]
    low = np.concatenate([sc[:, :8] & 15, sc[:, :8] >> 4], axis=1).astype(np.int32)
    high = np.concatenate([(sc[:, 8:12] >> s) & 3 for s in (0, 2, 4, 6)], axis=1).astype(np.int32)
    scale = _half(b, 108) * ((low | high << 4) - 32).astype(np.float32)
    q = ((qs >> np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1)) & 3).reshape(-1, 8, 32)
    h = (hmask[:, None, :] >> np.arange(8, dtype=np.uint8).reshape(1, 8, 1)) & 1
    q = q.astype(np.int32) - 4 * (1 - h.astype(np.int32))
    return (scale[:, :, None] * q.reshape(-1, 16, 16).astype(np.float32)).reshape(-1, 256)


def _scales_k4(s):
    scale = np.concatenate([s[:, :4] & 63, (s[:, 8:] & 15) | (s[:, :4] >> 6) << 4], axis=1)
    least = np.concatenate([s[:, 4:8] & 63, (s[:, 8:] >> 4) | (s[:, 4:8] >> 6) << 4], axis=1)
    return scale.astype(np.float32), least.astype(np.float32)


def _q45_k(kind, b):
    scale, least = _scales_k4(b[:, 4:16])
    qs = b[:, -128:].reshape(-1, 4, 1, 32)
    q = ((qs >> np.array([0, 4], np.uint8).reshape(1, 1, 2, 1)) & 15).reshape(-1, 8, 32)
    if kind == "Q5_K":
        high = (b[:, 16:48][:, None, :] >> np.arange(8, dtype=np.uint8).reshape(1, 8, 1)) & 1
        q = q | high << 4
    d, m = _half(b, 0) * scale, _half(b, 2) * least
    return (d[:, :, None] * q.astype(np.float32) - m[:, :, None]).reshape(-1, 256)


def _q6_k(b):
    ql, qh = b[:, :128].reshape(-1, 2, 2, 32), b[:, 128:192].reshape(-1, 2, 32)
    low = np.concatenate([ql & 15, ql >> 4], axis=2)  # [n, 2, 4, 32]
    high = np.stack([(qh >> s) & 3 for s in (0, 2, 4, 6)], axis=2)
    q = (low | high << 4).astype(np.int32) - 32
    scale = _half(b, 208) * b[:, 192:208].view(np.int8).astype(np.float32)
    return (scale[:, :, None] * q.reshape(-1, 16, 16).astype(np.float32)).reshape(-1, 256)


def dequantize(kind, rows):
    """The float32 values of `rows` ([n, bytes of a row] uint8): [n, cols]."""
    n = rows.shape[0]
    rows = np.ascontiguousarray(rows)
    if kind == "F32":
        return rows.view("<f4")
    if kind == "F16":
        return rows.view("<f2").astype(np.float32)
    if kind == "BF16":
        return (rows.view("<u2").astype(np.uint32) << 16).view(np.float32)
    blocks = rows.reshape(-1, TYPES[kind][2])
    if kind == "Q2_K":
        values = _q2_k(blocks)
    elif kind == "Q3_K":
        values = _q3_k(blocks)
    elif kind in ("Q4_K", "Q5_K"):
        values = _q45_k(kind, blocks)
    elif kind == "Q6_K":
        values = _q6_k(blocks)
    else:
        values = _small(kind, blocks)
    return values.reshape(n, -1)


def main():
    import gguf
    rng = np.random.default_rng(1)
    for kind in TYPES:
        rows = random_rows(rng, kind, 64, 512, 1.0)
        ours = dequantize(kind, rows)
        theirs = gguf.dequantize(rows, gguf.GGMLQuantizationType[kind])
        assert np.array_equal(ours.view(np.uint32), theirs.view(np.uint32)), kind
        print(f"{kind}: equal to the bit, deviation {ours.std():.3f}, mean {ours.mean():.3f}")


if __name__ == "__main__":
    main()
