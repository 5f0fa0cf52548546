"""The parts of bench/peers that measure nothing: counters, rows, order, ratios, the table."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))

import contender
import environments
import golden
import machine
import models
import report
import rounds
import rows
import worker
from operations import ADJUDGE, LLAMA_CPP, OPENVINO, Measure, decode, generate, prefill, questions

FILE = models.DEFAULT


def measure(contender_name, operation=prefill(128), precision="", threads=2, file=FILE):
    return Measure(contender_name, precision, file, threads, operation)


def row(*peers, must=None, aim=None, ours=None, peer_name=""):
    return rows.Row("prefill 128", ours or measure(ADJUDGE, precision="fast"), peers, must, aim,
                    peer_name=peer_name)


class MachineTest(unittest.TestCase):
    def test_busy_seconds_are_all_but_idle_and_waiting(self):
        tick = machine.os.sysconf("SC_CLK_TCK")
        line = f"cpu  {tick} {2 * tick} {3 * tick} 1000 2000 {4 * tick} {5 * tick} {6 * tick} 9 9"
        self.assertEqual(machine.busy_seconds(line), 21)

    def test_process_seconds_whatever_the_name(self):
        tick = machine.os.sysconf("SC_CLK_TCK")
        for name in ("python3", "a b", "x) 9 (9"):
            text = f"7 ({name}) S 1 7 7 0 -1 4194304 1 2 3 4 {5 * tick} {2 * tick} 99 99 20 0 3 0"
            self.assertEqual(machine.process_seconds(text), 7, name)

    def test_best_of_takes_the_fastest_instruction_set_and_the_asked_threads(self):
        def run(name, **counters):
            return {"run_type": "iteration", "run_name": f"{name}/real_time", **counters}

        found = machine.best_of([
            run("memory/read/MB:96/threads:1", **{"B/s": 1e9}),
            run("memory/read/MB:96/threads:2", **{"B/s": 2e9}),
            run("memory/read/MB:1024/threads:2", **{"B/s": 1.5e9}),
            run("fma/peak/avx2", **{"FLOP/s": 1e9}),
            run("fma/peak/avx512", **{"FLOP/s": 3e9}),
            run("fma/peak/avx512", **{"FLOP/s": 2e9}),
            run("fma/peak/avx512", **{"FLOP/s": 9e9}),
            {**run("fma/peak/avx2", **{"FLOP/s": 99e9}), "run_type": "aggregate"},
            run("dot/peak/avx512-vnni/8", **{"FLOP/s": 8e9}),
            run("dot/peak/amx/8/many", **{"FLOP/s": 80e9}),
            run("attention/avx2/context:512/n:512/threads:2", real_time=2e6, **{"FLOP/s": 1e9}),
            run("attention/avx512/context:512/n:512/threads:2", real_time=1e6, **{"FLOP/s": 2e9}),
            run("attention/avx512/context:512/n:512/threads:1", real_time=1e5, **{"FLOP/s": 9e9}),
        ], threads=2)
        self.assertEqual(found, {"read": {96: 2e9, 1024: 1.5e9}, "fma": 3e9, "dot8": 80e9,
                                 "dot16": None, "attention": {512: [(2e9, 512e3)]}})

    def test_the_fastest_instruction_set_is_listed_last(self):
        names = "memory/a\nfma/peak/avx2/real_time\nfma/peak/avx512-vnni/real_time\nx/a\n"
        self.assertEqual(machine.fastest_isa(names), "avx512-vnni")

    def test_a_model_is_compared_with_the_bandwidth_of_its_size(self):
        for n_bytes, rate in [(98e6, 2), (300e6, 2), (620e6, 1), (2.2e9, 1)]:
            self.assertEqual(machine.read_bandwidth({96: 2, 1024: 1}, n_bytes), rate)

    def test_a_tenth_of_a_core_is_noise(self):
        self.assertFalse(machine.is_busy(0.1))
        self.assertTrue(machine.is_busy(0.11))


class OperationTest(unittest.TestCase):
    def test_request_and_counted_tokens(self):
        for operation, request, counted in [
                (prefill(512), {"op": "prefill", "tokens": 512}, 512),
                (decode(1024), {"op": "decode", "tokens": 32, "context": 1024}, 32),
                (questions("packed"), {"op": "questions", "tokens": 12, "way": "packed",
                                       "state": 128, "questions": 16}, 320),
                (generate(12, 29, 128), {"op": "generate", "tokens": 12, "kept": 128, "steps": 29},
                 12)]:
            self.assertEqual(operation.request(3), {**request, "repeats": 3})
            self.assertEqual(operation.counted(), counted)


class RowsTest(unittest.TestCase):
    def test_every_row_is_asked_once_and_names_a_file_that_can_be_made(self):
        for quick in (False, True):
            some = rows.all_rows(2, quick)
            self.assertEqual(len(set(some)), len(some))
            for one in some:
                for m in (one.ours, *one.peers):
                    self.assertIn(m.file, models.SMOLLM2 + models.BILLION)
                    self.assertEqual(m.precision != "", m.contender == ADJUDGE)
                    self.assertIn(m.threads, (1, 2))

    def test_quick_is_the_default_file_only(self):
        self.assertEqual({m.file for one in rows.all_rows(2, True)
                          for m in (one.ours, *one.peers)}, {FILE})

    def test_one_thread_is_not_compared_with_itself(self):
        self.assertFalse([one for one in rows.all_rows(1, False) if "threads" in one.name])

    def test_musts(self):
        some = rows.all_rows(2, False)

        def musts(name, file, peer):
            return [(one.ours.precision, one.must, one.aim) for one in some
                    if one.name == name and one.ours.file == file and
                    peer in [p.contender for p in one.peers]]

        self.assertEqual(musts("prefill 128", "SmolLM2 Q8_0", OPENVINO),
                         [("fast", 1.0, 1.8), ("default", 0.7, 1.2)])
        self.assertEqual(musts("prefill 512", FILE, LLAMA_CPP), [("fast", 6.0, 12.0)])
        self.assertEqual(musts("prefill 512, its fastest form", FILE, LLAMA_CPP),
                         [("fast", 2.0, 4.0)])
        self.assertEqual(musts("prefill 512", "1.1B Q4_K", OPENVINO), [("fast", 1.0, 1.8)])
        self.assertEqual(musts("decode 32 at 1,024", "1.1B BF16", OPENVINO),
                         [("fast", 1.3, None), ("default", 1.3, None)])


class FakePool:
    """Answers with seconds by contender; a name that is absent fails."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.asked = []

    def ask(self, key, request):
        self.asked.append((key[0], request["op"], request.get("repeats", 1)))
        if key[0] not in self.seconds:
            raise contender.PeerError("does not read it")
        return {"seconds": [self.seconds[key[0]]] * request.get("repeats", 1)}


class ProcessTest(unittest.TestCase):
    def python(self, text):
        return contender.Process([sys.executable, "-c", text])

    def test_answers_and_refusals(self):
        process = self.python("""import sys
print("words of a library"); print('{"ready": 1}', flush=True)
for line in sys.stdin: print(line.strip(), flush=True)""")
        self.assertEqual(process.ready, {"ready": 1})
        answer, cores = process.ask({"op": "x"})
        self.assertEqual(answer, {"op": "x"})
        self.assertGreaterEqual(cores, 0)
        with self.assertRaisesRegex(contender.PeerError, "cannot"):
            process.ask({"error": "cannot"})
        process.close()

    def test_the_last_words_of_one_that_ended(self):
        with self.assertRaisesRegex(contender.PeerError, "code 3: RuntimeError: no"):
            self.python("import sys; sys.stderr.write('a\\nRuntimeError: no\\n'); sys.exit(3)")


class PatienceTest(unittest.TestCase):
    class Looks:
        def __init__(self, *cores):
            self.left = list(cores)

        def cores(self):
            return self.left.pop(0)

    def test_it_waits_for_a_quiet_look_as_long_as_it_has_time(self):
        look = 0.001
        for cores, refused in [([0.0], False), ([1.9, 1.2, 0.05], False), ([1.9, 1.8, 1.7], True)]:
            looks = self.Looks(*cores)
            patience = contender.Patience(2.5 * look, lambda looks=looks: looks, look)
            if refused:
                with self.assertRaisesRegex(contender.Busy, "others use 1.70 of .* while x"):
                    patience.wait(" while x")
            else:
                patience.wait("")
            self.assertEqual(looks.left, [])
            self.assertEqual(patience.seen, max(cores))

    def test_a_busy_measurement_is_made_again(self):
        class Process:
            answers = [("first", 0.5), ("second", 0.0)]

            def ask(self, request):
                return self.answers.pop(0)

        patience = contender.Patience(5, lambda: self.Looks(0.0), 0.001)
        for patient, answer in [(patience, "second"), (None, "first")]:
            pool = contender.Pool(None, patient)
            pool.processes["key"] = Process()
            Process.answers = [("first", 0.5), ("second", 0.0)]
            self.assertEqual(pool.ask("key", {}), answer)


class RoundsTest(unittest.TestCase):
    def test_contenders_of_an_operation_stand_side_by_side(self):
        some = [row(measure(OPENVINO)), row(measure(LLAMA_CPP)),
                row(measure(OPENVINO, prefill(512)), ours=measure(ADJUDGE, prefill(512), "fast"))]
        self.assertEqual([(m.operation.tokens, m.contender) for m in rounds.ordered(some)],
                         [(128, OPENVINO), (128, ADJUDGE), (128, LLAMA_CPP), (512, OPENVINO),
                          (512, ADJUDGE)])

    def test_short_operations_are_repeated_within_a_sample(self):
        for seconds, repeats in [(0.01, [1, 7]), (0.1, [1, 2]), (0.3, [1])]:
            pool = FakePool({ADJUDGE: seconds})
            self.assertEqual(rounds.sample(pool, measure(ADJUDGE), True), seconds)
            self.assertEqual([n for _, _, n in pool.asked], repeats)

    def test_rates_by_round_and_failures_once(self):
        pool, samples = FakePool({ADJUDGE: 1.0}), rounds.Samples()
        ours, peer = measure(ADJUDGE, precision="fast"), measure(LLAMA_CPP)
        rounds.measure_rows([row(peer)], pool, 3, samples, lambda words: None)
        self.assertEqual(samples.rates, {ours: {0: 128.0, 1: 128.0, 2: 128.0}})
        self.assertEqual(samples.failures, {peer: "does not read it"})

    def test_a_hopeless_peer_is_not_waited_for(self):
        both = row(measure(LLAMA_CPP), measure(OPENVINO))
        for llama, openvino, skipped in [(20, 80, True),  # 6.4 seconds, four times slower
                                         (60, 80, False), (90, 80, False),
                                         (100, 1000, False)]:  # 1.3 seconds matter little
            samples = rounds.Samples()
            samples.add(measure(LLAMA_CPP), 0, llama)
            samples.add(measure(OPENVINO), 0, openvino)
            self.assertEqual(rounds.hopeless([both], samples),
                             {measure(LLAMA_CPP)} if skipped else set())
            # Where a row compares with it alone, it is measured on.
            self.assertEqual(rounds.hopeless([both, row(measure(LLAMA_CPP))], samples), set())


class ReportTest(unittest.TestCase):
    def samples(self):
        samples = rounds.Samples()
        for i, (ours, llama, openvino) in enumerate([(100, 50, 80), (90, 60, 100), (120, 50, 100)]):
            samples.add(measure(ADJUDGE, precision="fast"), i, ours)
            samples.add(measure(LLAMA_CPP), i, llama)
            samples.add(measure(OPENVINO), i, openvino)
        return samples

    def test_ratios_are_of_the_same_round_against_the_faster_peer(self):
        result = report.outcome(row(measure(LLAMA_CPP), measure(OPENVINO), must=1.0, aim=1.8),
                                self.samples())
        self.assertEqual(
            {key: result[key] for key in ("row", "threads", "tokens", "ours", "peer",
                                          "peer_tokens_per_s", "ours_tokens_per_s", "ratio_median",
                                          "ratio_min", "ratio_max")},
            {"row": f"prefill 128, {FILE}", "threads": 2, "tokens": 128, "ours": "adjudge fast",
             "peer": OPENVINO, "peer_tokens_per_s": 100, "ours_tokens_per_s": 100,
             "ratio_median": 1.2, "ratio_min": 0.9, "ratio_max": 1.25})
        self.assertEqual(report.verdict(result), "must")

    def test_a_peer_that_cannot_is_said(self):
        samples = rounds.Samples()
        samples.add(measure(ADJUDGE, precision="fast"), 0, 100)
        samples.failures[measure(OPENVINO)] = "does not read it"
        result = report.outcome(row(measure(OPENVINO), must=1.0), samples)
        self.assertIsNone(result["ratio_median"])
        self.assertEqual(result["note"], "OpenVINO GenAI: does not read it")
        self.assertIn("does not read it", report.table([result]))
        self.assertIn("0 of 1 musts held", report.summary([result]))

    def test_verdicts(self):
        for ratio, must, aim, words in [(2, 1, 1.8, "aim"), (1, 1, 1.8, "must"),
                                        (0.99, 1, 1.8, "MISSED"), (2, None, None, "-"),
                                        (2, None, 3, "-"), (3, None, 3, "aim"),
                                        (2, 1, None, "must")]:
            self.assertEqual(report.verdict({"ratio_median": ratio, "must": must, "aim": aim}),
                             words)

    def test_the_table_has_a_line_a_row_of_equal_width(self):
        result = report.outcome(row(measure(LLAMA_CPP), must=6.0), self.samples())
        lines = report.table([result, result]).splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertIn("MISSED", lines[2])
        self.assertEqual(report.summary([result]).splitlines()[0], "0 of 1 musts held")

    def test_a_decode_s_share_of_the_read_bandwidth(self):
        ours = measure(ADJUDGE, decode(128), "fast")
        samples = rounds.Samples()
        samples.add(ours, 0, 100.0)
        lines = report.bandwidth_shares([row(ours=ours)], samples, {ours.process(): 2e8},
                                        {96: 4e10, 1024: 1e10})
        self.assertEqual(lines, [f"{FILE}, fast, decode at 128: 50 % of the read bandwidth"])


class GoldenTest(unittest.TestCase):
    def test_the_difference_is_of_probabilities_among_the_labels(self):
        self.assertAlmostEqual(golden.largest_difference([0, 0], [5, 5]), 0)  # up to a constant
        self.assertAlmostEqual(golden.largest_difference([0, 0], [0, -1000]), 0.5)

    def test_mean_and_worst_against_the_stored_or_against_exact(self):
        class Pool:
            """Exact is certain of the first label, the others of nothing in the second decision."""

            def ask(self, key, request):
                sure = key[1] == "exact" or request["ids"] == [1]
                return {"logits": [0, -1000] if sure else [0, 0]}

        some = [{"label_prompt_ids": [i], "label_ids": [7, 8], "label_logprob": [-1000, 0]}
                for i in (1, 2)]
        for file, mean, worst in [(models.DEFAULT, 0.75, 1), ("SmolLM2 Q8_0", 0.25, 0.5)]:
            expected = golden.reference(Pool(), file, 2, some)
            found = golden.errors(Pool(), (OPENVINO, "", file, 2), some, expected)
            self.assertAlmostEqual(found[0], mean)
            self.assertAlmostEqual(found[1], worst)


class EnvironmentsTest(unittest.TestCase):
    def test_a_step_that_fails_shows_its_last_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            environments.quietly(["true"], log)
            with self.assertRaisesRegex(environments.Failed, "sh failed.*\n.*boo"):
                environments.quietly(["sh", "-c", "echo boo; exit 1"], log)

    def test_versions_are_fixed_and_a_native_build_is_for_its_processor(self):
        for peer, asked in environments.PEERS.items():
            self.assertTrue(all("==" in package for package in asked["packages"]))
            self.assertEqual(machine.cpu_flags() in environments.wanted(peer), asked["native"])

    def test_nothing_lies_in_the_repository(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        self.assertFalse(environments.cache_folder().is_relative_to(root))


class WorkerTest(unittest.TestCase):
    def test_answers_have_a_time_for_each_repeat(self):
        class Measurer:
            def prefill(self, tokens):
                return tokens / 4

            def logits(self, ids, of):
                return [ids[i] for i in of]

        self.assertEqual(worker.answer(Measurer(), {"op": "prefill", "tokens": 8, "repeats": 2}),
                         {"seconds": [2, 2]})
        self.assertEqual(worker.answer(Measurer(), {"op": "logits", "ids": [5, 6], "of": [1]}),
                         {"logits": [6]})


if __name__ == "__main__":
    unittest.main()
