"""The rows of the table: what is compared with what, and what must come out."""

import dataclasses

from models import BILLION, DEFAULT, SMOLLM2
from operations import (ADJUDGE, LLAMA_CPP, OPENVINO, Measure, decode, generate, prefill, questions)


@dataclasses.dataclass(frozen=True)
class Row:
    """`ours` against the fastest of `peers`. The ratio is ours over theirs, in tokens a second."""

    name: str
    ours: Measure
    peers: tuple
    must: float | None = None
    aim: float | None = None
    ours_name: str = ""  # where the precision alone does not tell
    peer_name: str = ""  # where the peer is adjudge itself


PRECISIONS = ("fast", "default")


def all_rows(threads, quick):
    rows = []
    for file in [DEFAULT] if quick else SMOLLM2:
        rows += _prefill_rows(file, threads) + _decode_rows(file, threads)
        rows += _thread_rows(file, threads, [128, 512])
    rows += _long_rows(threads) + _question_rows(DEFAULT, "fast", threads)
    rows += _question_rows(DEFAULT, "default", threads)
    if quick:
        return rows
    rows += _fastest_variant_rows(threads)
    for file in BILLION:
        rows += _billion_prefill_rows(file, threads) + _decode_rows(file, threads)
        rows += _thread_rows(file, threads, [128])
    rows += _question_rows("1.1B Q8_0", "fast", threads)
    rows += _steps_rows("1.1B Q8_0", "fast", threads) + _steps_rows("1.1B Q8_0", "default", threads)
    rows.append(_own("prefill 4,096 against 512", "1.1B Q8_0", "fast", threads, prefill(4096),
                     prefill(512), "prefill 512", 0.6, 0.8))
    return rows


def _ours(precision, file, threads, operation):
    return Measure(ADJUDGE, precision, file, threads, operation)


def _peers(file, threads, operation, contenders=(LLAMA_CPP, OPENVINO)):
    return tuple(Measure(contender, "", file, threads, operation) for contender in contenders)


def _own(name, file, precision, threads, ours, theirs, peer_name, must=None, aim=None):
    """adjudge against itself."""
    return Row(name, _ours(precision, file, threads, ours),
               (_ours(precision, file, threads, theirs),), must, aim, peer_name=peer_name)


def _prefill_rows(file, threads):
    rows = []
    for tokens in (128, 512):
        for precision in PRECISIONS:
            must, aim = {"fast": (1.0, 1.8), "default": (0.7, 1.2)}[precision]
            if file.endswith("BF16"):  # compared, but nothing is asked
                must, aim = None, None
            rows.append(Row(f"prefill {tokens}", _ours(precision, file, threads, prefill(tokens)),
                            _peers(file, threads, prefill(tokens), (OPENVINO,)), must, aim))
        is_default = file == DEFAULT
        rows.append(Row(f"prefill {tokens}", _ours("fast", file, threads, prefill(tokens)),
                        _peers(file, threads, prefill(tokens), (LLAMA_CPP,)),
                        6.0 if is_default else None, 12.0 if is_default else None))
    return rows


def _fastest_variant_rows(threads):
    rows = []
    for tokens in (128, 512):
        peers = sum((_peers(file, threads, prefill(tokens), (LLAMA_CPP,)) for file in SMOLLM2), ())
        rows.append(Row(f"prefill {tokens}, its fastest form",
                        _ours("fast", DEFAULT, threads, prefill(tokens)), peers, 2.0, 4.0))
    return rows


def _billion_prefill_rows(file, threads):
    return [Row(f"prefill {tokens}", _ours("fast", file, threads, prefill(tokens)),
                _peers(file, threads, prefill(tokens)), 1.0, 1.8) for tokens in (128, 512)]


def _decode_rows(file, threads):
    return [Row(f"decode 32 at {context:,}", _ours(precision, file, threads, decode(context)),
                _peers(file, threads, decode(context)), 1.3)
            for context in (128, 1024) for precision in PRECISIONS]


def _thread_rows(file, threads, prompts):
    if threads < 2:
        return []
    rows = []
    for operation, name, must, aim in (
            [(prefill(tokens), f"prefill {tokens}", 0.9 * threads, 0.975 * threads)
             for tokens in prompts] + [(decode(128), "decode 32 at 128", 1.0, None)]):
        rows.append(Row(f"{name}, threads", _ours("fast", file, threads, operation),
                        (_ours("fast", file, 1, operation),), must, aim, peer_name="1 thread"))
    return rows


def _long_rows(threads):
    return [Row("prefill 4,096", _ours("fast", DEFAULT, threads, prefill(4096)),
                _peers(DEFAULT, threads, prefill(4096)), 1.0, 1.5)]


def _question_rows(file, precision, threads):
    packed = questions("packed")
    name = "16 questions of 12 on 128, packed"
    return [
        _own(name, file, precision, threads, packed, questions("cold"), "16 cold passes", 5.5, 6.5),
        _own(name, file, precision, threads, packed, questions("kept"),
             "16 passes on the kept state"),
        # Within 25 % of its time, within 15 %.
        _own(name, file, precision, threads, packed, questions("plain"), "one pass of 320 tokens",
             1 / 1.25, 1 / 1.15),
    ]


def _steps_rows(file, precision, threads):
    """30 passes: the prompt's gives the first token, 29 steps follow."""
    return [
        _own("one cold pass of 128", file, precision, threads, generate(128, 0), generate(128, 29),
             "the pass and 29 steps", aim=3.8),
        _own("one pass of 12 on a kept 128", file, precision, threads, generate(12, 0, 128),
             generate(12, 29, 128), "the pass and 29 steps", aim=15.0),
    ]
