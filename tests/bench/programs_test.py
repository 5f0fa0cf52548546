"""synthetic_model and measure_adjudge, run as programs: programs_test.py FOLDER_OF_PROGRAMS."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))

import machine

PROGRAMS = pathlib.Path(sys.argv.pop(1))
TYPES = ["F32", "BF16", "Q8_0", "Q4_0", "Q4_K"]
SMALL = ["--layers", "2", "--dim", "256", "--heads", "4", "--kv-heads", "2", "--ffn", "512",
         "--vocabulary", "1000", "--context", "512"]


def make(path, *options):
    return subprocess.run([PROGRAMS / "synthetic_model", *options, path], check=False,
                          capture_output=True, text=True)


def ask(file, *requests, threads="1", precision="fast"):
    lines = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in requests)
    done = subprocess.run([PROGRAMS / "measure_adjudge", file, threads, precision], input=lines,
                          check=False, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = pathlib.Path(cls.folder.name) / "small.gguf"
        assert make(cls.file, *SMALL).returncode == 0

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_type_loads_and_its_logits_are_finite_and_differ(self):
        for kind in TYPES:
            path = pathlib.Path(self.folder.name) / f"{kind}.gguf"
            self.assertEqual(make(path, "--type", kind, *SMALL).returncode, 0)
            ready, answer = ask(path, {"op": "logits", "ids": [5, 6, 7], "of": list(range(1000))})
            self.assertGreater(ready["weight_bytes"], 0)
            self.assertEqual(len(answer["logits"]), 1000)
            self.assertTrue(all(abs(x) < 100 for x in answer["logits"]), kind)
            self.assertGreater(max(answer["logits"]) - min(answer["logits"]), 0.1, kind)

    def test_a_file_is_the_same_each_time(self):
        again = pathlib.Path(self.folder.name) / "again.gguf"
        make(again, *SMALL)
        self.assertEqual(again.read_bytes(), self.file.read_bytes())

    def test_shapes_that_cannot_be(self):
        path = pathlib.Path(self.folder.name) / "bad.gguf"
        for options in [["--dim", "100"], ["--ffn", "100"], ["--heads", "3"], ["--kv-heads", "3"],
                        ["--vocabulary", "256"], ["--type", "Q9"], ["--layers", "0"]]:
            done = make(path, *SMALL, *options)
            self.assertNotEqual(done.returncode, 0, options)
            self.assertNotEqual(done.stderr + done.stdout, "", options)
            self.assertFalse(path.exists(), options)
        self.assertEqual(make("/nowhere/a.gguf", *SMALL).returncode, 1)

    def test_every_operation_has_a_time_for_each_repeat(self):
        questions = {"op": "questions", "tokens": 3, "state": 20, "questions": 4}
        requests = [{"op": "prefill", "tokens": 40}, {"op": "decode", "tokens": 3, "context": 17},
                    *({**questions, "way": way} for way in ("packed", "kept", "cold", "plain")),
                    {"op": "generate", "tokens": 5, "kept": 0, "steps": 2},
                    {"op": "generate", "tokens": 5, "kept": 9, "steps": 0}]
        answers = ask(self.file, *({**one, "repeats": 2} for one in requests), threads="2")
        self.assertEqual(answers[0]["threads"], 2)
        for request, answer in zip(requests, answers[1:], strict=True):
            self.assertEqual(len(answer["seconds"]), 2, request)
            self.assertTrue(all(second > 0 for second in answer["seconds"]), request)

    def test_bad_requests_are_told_and_the_next_one_is_taken(self):
        good = {"op": "prefill", "tokens": 4}
        for bad, words in [("nonsense", "not an object"), ("[1]", "not an object"),
                           ({"op": "sing", "tokens": 1}, "no such operation"),
                           ({"op": "prefill"}, "tokens"),
                           ({"op": "prefill", "tokens": "x"}, "type"),
                           ({"op": "prefill", "tokens": 600}, "window"),
                           ({"op": "prefill", "tokens": -1}, "tokens"),
                           ({"op": "logits", "ids": [1000], "of": [1]}, "1000")]:
            _, refused, taken = ask(self.file, bad, good)
            self.assertIn(words, refused["error"], bad)
            self.assertIn("seconds", taken)

    def test_the_peaks_are_benchmarks_of_cpu_bench(self):
        def names(pattern):
            return subprocess.run([PROGRAMS / "cpu_bench", "--benchmark_list_tests",
                                   f"--benchmark_filter={pattern}"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout

        isa = machine.fastest_isa(names("."))
        for threads in (1, 2):
            found = names(machine.wanted_benchmarks(isa, threads))
            for wanted in ["memory/read/MB:96/", "memory/read/MB:1024/", "fma/peak/", "dot/peak/",
                           f"attention/{isa}/context:512/n:512/threads:{threads}/",
                           f"attention/{isa}/context:4096/n:512/threads:{threads}/"]:
                self.assertIn(wanted, found)

    def test_a_file_that_is_none(self):
        (answer,) = ask("/nowhere/a.gguf")
        self.assertIn("/nowhere/a.gguf", answer["error"])
        (answer,) = ask(self.file, precision="vague")
        self.assertIn("vague", answer["error"])


if __name__ == "__main__":
    unittest.main()
