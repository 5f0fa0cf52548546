"""How far each program's label probabilities are from a float64 forward pass.

The ten decisions and their log-probabilities are in golden.json of ADJUDGE_TEST_DATA, which is not
part of the project; without it these lines are left out.
"""

import json
import math
import os
import pathlib
import statistics

import models
from contender import PeerError
from operations import ADJUDGE, LLAMA_CPP, OPENVINO


def decisions():
    folder = os.environ.get("ADJUDGE_TEST_DATA")
    path = pathlib.Path(folder or "") / "golden" / "smollm2" / "golden.json"
    return json.loads(path.read_text(encoding="utf-8"))["decisions"] if path.is_file() else []


def softmax(logits):
    top = max(logits)
    weights = [math.exp(x - top) for x in logits]
    return [w / sum(weights) for w in weights]


def largest_difference(logits, reference):
    """Of the probabilities among the labels."""
    return max(abs(p - q) for p, q in zip(softmax(logits), softmax(reference)))


def label_logits(pool, key, some):
    return [pool.ask(key, {"op": "logits", "ids": one["label_prompt_ids"],
                           "of": one["label_ids"]})["logits"] for one in some]


def reference(pool, file, threads, some):
    """Of the default file the stored log-probabilities; of its other forms, whose weights differ,
    what adjudge computes in float32 (equal to the stored ones to 1e-6 on the default file)."""
    if file == models.DEFAULT:
        return [one["label_logprob"] for one in some]
    return label_logits(pool, (ADJUDGE, "exact", file, threads), some)


def errors(pool, key, some, expected):
    """Mean and worst over the decisions of the largest difference, or the words of a failure."""
    try:
        found = list(map(largest_difference, label_logits(pool, key, some), expected))
    except PeerError as error:
        return str(error)
    return statistics.mean(found), max(found)


def lines(pool, file, threads):
    """What each program's errors on a file are."""
    some = decisions()
    if not some:
        return ["golden decisions: left out, ADJUDGE_TEST_DATA has none"]
    expected = reference(pool, file, threads, some)
    words = []
    for name, precision in [(ADJUDGE, "fast"), (ADJUDGE, "default"), (LLAMA_CPP, ""),
                            (OPENVINO, "")]:
        found = errors(pool, (name, precision, file, threads), some, expected)
        if not isinstance(found, str):
            found = f"{found[0]:.5f} / {found[1]:.5f}"
        words.append(f"{name} {precision}".strip() + f" {found}")
    return [f"golden decisions, {file}, mean / worst of the largest |dp|: " + "; ".join(words)]
