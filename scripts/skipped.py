"""Prints how many tests of a ctest JUnit report were skipped, and why."""
import collections
import re
import sys
import xml.etree.ElementTree

reasons = collections.Counter()
total = 0
for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    total += 1
    if case.find("skipped") is None:
        continue
    output = case.findtext("system-out") or ""
    # GoogleTest prints "file:line: Skipped" and then the reason.
    match = re.search(r": Skipped\n+([^\n]+)", output)
    reasons[match.group(1).strip() if match else "no reason given"] += 1
print(f"{sum(reasons.values())} of {total} tests skipped")
for reason, count in reasons.most_common():
    print(f"  {count:4} x {reason}")
