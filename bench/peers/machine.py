"""What this machine is, what it can do, and whether somebody else is using it."""

import json
import os
import re
import subprocess
import time


def _cpuinfo(key):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return "unknown"


def cpu_model():
    return _cpuinfo("model name")


def cpu_flags():
    return _cpuinfo("flags")


def vector_units():
    """The flags that say which fast units there are."""
    wanted = ["avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16",
              "amx_int8", "amx_bf16"]
    flags = set(cpu_flags().split())
    return [flag for flag in wanted if flag in flags]


def n_cpus():
    return len(os.sched_getaffinity(0))


def busy_seconds(stat_line):
    """CPU time that was not idle, of the first line of /proc/stat, in seconds. What the host took
    away (steal) was not ours either."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat_line.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def process_seconds(stat_text):
    """CPU time of a process and its threads, of its /proc/PID/stat, in seconds."""
    fields = stat_text.rpartition(")")[2].split()  # the name before it may hold blanks
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Others:
    """Cores that others used since the object was made: not this process, nor the process `pid`, nor
    children that have ended meanwhile."""

    def __init__(self, pid=None):
        self.pids = [os.getpid()] + ([pid] if pid else [])
        self.start = self._read()

    def _read(self):
        with open("/proc/stat", encoding="utf-8") as file:
            busy = busy_seconds(file.readline())
        for pid in self.pids:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                busy -= process_seconds(file.read())
        times = os.times()
        busy -= times.children_user + times.children_system
        return time.monotonic(), busy

    def cores(self):
        now, busy = self._read()
        # The counters step by 10 ms a core.
        slack = 0.02 * n_cpus()
        return max(0.0, busy - self.start[1] - slack) / max(now - self.start[0], 1e-3)


def is_busy(cores):
    """A tenth of one core is noise; more is somebody's work."""
    return cores > 0.1


# What cpu_bench reads: the weights of a small model, which may lie in the last cache, and more.
READ_MEGABYTES = (96, 1024)


def read_bandwidth(peaks_read, n_bytes):
    """That of the measured size which is nearest to a model's, in B/s."""
    return peaks_read[min(READ_MEGABYTES, key=lambda size: abs((size << 20) - n_bytes))]


def peaks(cpu_bench, threads):
    """Reading, products in the first-level cache, and attention by cpu_bench's JSON."""
    names = subprocess.run([cpu_bench, "--benchmark_list_tests"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    wanted = wanted_benchmarks(fastest_isa(names), threads)
    output = subprocess.run(
        [cpu_bench, f"--benchmark_filter={wanted}", "--benchmark_format=json",
         "--benchmark_min_time=0.1", "--benchmark_repetitions=3"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return best_of(json.loads(output)["benchmarks"], threads)


def wanted_benchmarks(isa, threads):
    """A POSIX regular expression for cpu_bench's names."""
    return (rf"^memory/read/MB:[0-9]+/threads:{threads}/|^fma/peak/|^dot/peak/|"
            rf"^attention/{isa}/context:(512|4096)/n:512/threads:{threads}/")


def fastest_isa(names):
    """The last of those that cpu_bench lists, which go from the least to the most."""
    return re.findall(r"^fma/peak/([^/\s]+)", names, re.MULTILINE)[-1]


def best_of(benchmarks, threads):
    """The fastest instruction set's runs, by what they measure:

    {"read": {megabytes: B/s}, "fma": FLOP/s, "dot8": OP/s, "dot16": OP/s: medians, of one core but
     for reading;
     "attention": {context: [(FLOP/s, tokens/s) for each repetition]} with the given threads}
    """
    runs = {}
    for run in benchmarks:
        if run.get("run_type") == "iteration":
            runs.setdefault(run["run_name"].replace("/real_time", ""), []).append(run)

    def median(values):
        return sorted(values)[len(values) // 2]

    def best(pattern, counter):
        found = [[run[counter] for run in some] for name, some in runs.items()
                 if re.fullmatch(pattern, name)]
        return max(map(median, found), default=None)

    result = {"read": {megabytes: best(rf"memory/read/MB:{megabytes}/threads:{threads}", "B/s")
                       for megabytes in READ_MEGABYTES},
              "fma": best(r"fma/peak/[^/]+", "FLOP/s"),
              "dot8": best(r"dot/peak/[^/]+/8(/many)?", "FLOP/s"),
              "dot16": best(r"dot/peak/[^/]+/16(/many)?", "FLOP/s"), "attention": {}}
    for context in (512, 4096):
        pattern = rf"attention/[^/]+/context:{context}/n:512/threads:{threads}"
        found = [[(run["FLOP/s"], 512e9 / run["real_time"]) for run in some]
                 for name, some in runs.items() if re.fullmatch(pattern, name)]
        if found:
            result["attention"][context] = max(found, key=median)
    return result
