"""Writes tests/golden/tokenizer/botchan.json: what Python's sentencepiece (0.2.x) makes of a text.

usage: make_tokenizer_golden.py TOKENIZERS_FOLDER OUTPUT

For each .model file: the number of ids of the whole text and their FNV-1a hash (over little-endian
32-bit ids), the same over the text line by line, and the ids of the first lines in full.
"""
import json
import pathlib
import struct
import sys

import sentencepiece


def fnv1a(ids):
    value = 0xcbf29ce484222325
    for byte in b"".join(struct.pack("<i", i) for i in ids):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = (folder / "botchan.txt").read_bytes().decode("utf-8")
    lines = text.split("\n")
    golden = {}
    for path in sorted(folder.glob("*.model")):
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        whole = model.encode(text)
        by_line = [model.encode(line) for line in lines]
        joined = [i for ids in by_line for i in ids]
        golden[path.name] = {
            "n": len(whole), "hash": fnv1a(whole),
            "n_by_line": len(joined), "hash_by_line": fnv1a(joined),
            "first_lines": by_line[:12],
        }
    with output.open("w") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}"
                                      for k, v in golden.items()) + "\n}\n")


if __name__ == "__main__":
    main()
