"""Interleaved measuring: every contender of an operation by turns, round after round."""

import statistics

from contender import PeerError
from operations import OPENVINO

# A sample is the median of as many repeats as fill a quarter of a second.
SAMPLE_SECONDS = 0.25
MOST_REPEATS = 8
# Where the fastest of several peers counts, one slower by this factor is not waited for again.
HOPELESS = 1.5
PATIENCE_SECONDS = 2.0


class Samples:
    """Tokens a second by Measure and round."""

    def __init__(self):
        self.rates = {}  # Measure -> {round: tokens/s}
        self.failures = {}  # Measure -> words

    def add(self, measure, round_, rate):
        self.rates.setdefault(measure, {})[round_] = rate

    def knows(self, measure):
        return measure in self.rates or measure in self.failures

    def median(self, measure):
        rates = self.rates.get(measure)
        return statistics.median(rates.values()) if rates else None


def ordered(rows):
    """Each measure of the rows once, those of one operation side by side, so that what is compared
    is measured at almost the same time."""
    measures = dict.fromkeys(measure for row in rows for measure in (row.ours, *row.peers))
    return sorted(measures, key=lambda m: (m.file, m.operation.op, m.operation.more,
                                           m.operation.tokens, m.contender, m.precision, m.threads))


def hopeless(rows, samples):
    """Peers that are no row's fastest by far, and slow enough to matter."""
    needed, slow = set(), set()
    for row in rows:
        rates = {peer: samples.median(peer) for peer in row.peers if samples.median(peer)}
        best = max(rates.values(), default=0)
        for peer, rate in rates.items():
            seconds = peer.operation.counted() / rate
            is_slow = rate * HOPELESS < best and seconds > PATIENCE_SECONDS
            (slow if is_slow else needed).add(peer)
        needed.add(row.ours)
    return slow - needed


def sample(pool, measure, is_first):
    """Seconds of one sample."""
    key, operation = measure.process(), measure.operation
    if is_first and measure.contender == OPENVINO:
        pool.ask(key, operation.request(1))  # it compiles for each new length
    seconds = pool.ask(key, operation.request(1))["seconds"]
    more = min(MOST_REPEATS - 1, int(SAMPLE_SECONDS / max(seconds[0], 1e-6)))
    if more:
        seconds += pool.ask(key, operation.request(more))["seconds"]
    return statistics.median(seconds)


def measure_rows(rows, pool, n_rounds, samples, say):
    measures = ordered(rows)
    for key in dict.fromkeys(measure.process() for measure in measures):
        _warm(pool, key)
    say(f"{rows[0].ours.file}: loaded, {len(rows)} rows")
    for round_ in range(n_rounds):
        skipped = hopeless(rows, samples) if round_ else set()
        # Back and forth, so that nobody is always behind the same neighbour.
        for measure in measures if round_ % 2 == 0 else reversed(measures):
            if measure in skipped or measure in samples.failures:
                continue
            try:
                seconds = sample(pool, measure, round_ == 0)
            except PeerError as error:
                samples.failures[measure] = str(error)
                continue
            samples.add(measure, round_, measure.operation.counted() / seconds)
        say(f"{rows[0].ours.file}: round {round_ + 1} of {n_rounds}")


def _warm(pool, key):
    try:
        pool.ask(key, {"op": "prefill", "tokens": 32})
    except PeerError:
        pass  # each of its measures says so
