"""The lines that a resident measuring process speaks (measure_adjudge.cc), for peers in Python."""

import json
import sys
import time


def serve(measurer, load_seconds):
    """Answers every line of standard input through `measurer`, which has a method an operation."""
    print(json.dumps({"load_seconds": load_seconds}), flush=True)
    for line in sys.stdin:
        try:
            print(json.dumps(answer(measurer, json.loads(line))), flush=True)
        except Exception as error:  # whatever a peer raises is told, and the next request is taken
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


def answer(measurer, request):
    operation = request.pop("op")
    repeats = request.pop("repeats", 1)
    if operation == "logits":
        return {"logits": measurer.logits(request["ids"], request["of"])}
    run = getattr(measurer, operation)
    return {"seconds": [run(**request) for _ in range(repeats)]}


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        self.seconds = None
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.start
