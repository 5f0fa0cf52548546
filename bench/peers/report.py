"""From samples to ratios, lines and JSON."""

import statistics

import machine
from operations import ADJUDGE


def name_of(measure):
    return f"adjudge {measure.precision}" if measure.contender == ADJUDGE else measure.contender


def outcome(row, samples):
    """A row's figures as a JSON object: medians, and the ratios of the rounds in which both were
    measured, so that a slow minute of the machine falls on both."""
    peer = max(row.peers, key=lambda p: samples.median(p) or 0)
    ours, theirs = samples.rates.get(row.ours, {}), samples.rates.get(peer, {})
    ratios = [ours[i] / theirs[i] for i in sorted(ours) if i in theirs]
    peer_name = f"{name_of(peer)}, {row.peer_name}" if row.peer_name else name_of(peer)
    if peer.file != row.ours.file:
        peer_name += f" on {peer.file}"
    result = {
        "row": f"{row.name}, {row.ours.file}",
        "threads": row.ours.threads,
        "tokens": row.ours.operation.counted(),
        "ours": name_of(row.ours),
        "peer": peer_name,
        "peer_tokens_per_s": samples.median(peer),
        "ours_tokens_per_s": samples.median(row.ours),
        "ratio_median": statistics.median(ratios) if ratios else None,
        "ratio_min": min(ratios, default=None),
        "ratio_max": max(ratios, default=None),
        "must": row.must,
        "aim": row.aim,
    }
    notes = [f"{name_of(measure)}: {samples.failures[measure]}"
             for measure in (row.ours, *row.peers) if measure in samples.failures]
    if notes:
        result["note"] = "; ".join(notes)
    return result


def verdict(result):
    """aim, must, MISSED; - where nothing is asked; nothing where there is no ratio."""
    ratio = result["ratio_median"]
    if ratio is None:
        return ""
    if result["aim"] is not None and ratio >= result["aim"]:
        return "aim"
    if result["must"] is None:
        return "-"
    return "must" if ratio >= result["must"] else "MISSED"


def number(value, digits=2):
    return "-" if value is None else f"{value:,.{digits}f}"


COLUMNS = ["row", "threads", "tokens", "ours", "tokens/s", "peer", "tokens/s", "ratio", "min",
           "max", "must", "aim", ""]


def line_of(result):
    return [result["row"], str(result["threads"]), number(result["tokens"], 0), result["ours"],
            number(result["ours_tokens_per_s"], 0), result["peer"],
            number(result["peer_tokens_per_s"], 0), number(result["ratio_median"]),
            number(result["ratio_min"]), number(result["ratio_max"]), number(result["must"]),
            number(result["aim"]), verdict(result)]


def table(results):
    """A Markdown table, aligned for a terminal too."""
    lines = [COLUMNS] + [line_of(result) for result in results]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    is_text = [column in ("row", "ours", "peer", "") for column in COLUMNS]

    def text(line):
        cells = [cell.ljust(width) if left else cell.rjust(width)
                 for cell, width, left in zip(line, widths, is_text)]
        return "| " + " | ".join(cells) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    notes = [f"{result['row']}: {result['note']}" for result in results if result.get("note")]
    return "\n".join([text(lines[0]), rule] + [text(line) for line in lines[1:]] +
                     list(dict.fromkeys(notes)))


def summary(results):
    """How many musts held, and which did not."""
    asked = [result for result in results if result["must"] is not None]
    missed = [result for result in asked if verdict(result) not in ("must", "aim")]
    words = f"{len(asked) - len(missed)} of {len(asked)} musts held"
    for result in missed:
        words += (f"\n  missed: {result['row']} ({result['ours']} against {result['peer']}): "
                  f"{number(result['ratio_median'])} of {number(result['must'])}")
    return words


def bandwidth_shares(rows, samples, weight_bytes, read):
    """Lines that say how much of the measured read bandwidth each decode takes."""
    lines = []
    for measure in dict.fromkeys(row.ours for row in rows):
        rate = samples.median(measure)
        size = weight_bytes.get(measure.process())
        if measure.operation.op != "decode" or not rate or not size:
            continue
        context = dict(measure.operation.more)["context"]
        lines.append(f"{measure.file}, {measure.precision}, decode at {context:,}: "
                     f"{100 * rate * size / machine.read_bandwidth(read, size):.0f} % of the read "
                     "bandwidth")
    return lines
