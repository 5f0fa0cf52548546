#!/usr/bin/env python3
"""Writes tests/golden/dequantize/TYPE.bin with the Python package gguf (pip install gguf numpy).

Each file: int32 number of blocks, the blocks' bytes (random, with chosen half-float scales), then
the float32 values that gguf.quants.dequantize gives for them. Run from the root of the repository.
"""
import pathlib
import struct

import gguf
import numpy as np

# Offsets of the half-float scales in a block.
SCALES = {
    "F16": [0], "BF16": [], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}
# Usual, negative, zero, minus zero, least and largest subnormal, largest, both infinities.
ODD = [0x2c66, 0xb123, 0x0000, 0x8000, 0x0001, 0x83ff, 0x7bff, 0x7c00, 0xfc00]


def main():
    random = np.random.default_rng(11)
    folder = pathlib.Path("tests/golden/dequantize")
    folder.mkdir(parents=True, exist_ok=True)
    for name, offsets in SCALES.items():
        kind = gguf.GGMLQuantizationType[name]
        _, size = gguf.GGML_QUANT_SIZES[kind]
        n = 12 if name.endswith("_K") else 64
        blocks = random.integers(0, 256, (n, size), dtype=np.uint8)
        for i in range(n):
            for k, at in enumerate(offsets):
                # The first rows take every odd scale, the rest random ones of ordinary size.
                half = ODD[(i + 4 * k) % len(ODD)] if i < len(ODD) else int(
                    np.float16(random.standard_normal() * 0.05).view(np.uint16))
                blocks[i, at:at + 2] = np.frombuffer(struct.pack("<H", half), np.uint8)
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(blocks.reshape(-1), kind)
        assert values.dtype == np.float32
        (folder / f"{name}.bin").write_bytes(
            struct.pack("<i", n) + blocks.tobytes() + values.astype("<f4").tobytes())


if __name__ == "__main__":
    main()
