"""OpenVINO GenAI's side of bench/peers/run: measure_openvino.py FILE THREADS, then the lines that
measure_adjudge.cc explains.

Prompts are fresh random tokens, since it keeps the states of prompts that it has seen; a decode's
context is the same each time, so that it keeps just that.
"""

import random
import sys
import time

import numpy
import openvino
import openvino_genai

import worker


class Measurer:
    def __init__(self, file, threads):
        self.pipeline = openvino_genai.LLMPipeline(file, "CPU", INFERENCE_NUM_THREADS=threads)
        self.echoing = None  # made when it is needed
        self.file = file
        self.threads = threads
        self.random = random.Random(1)
        self.contexts = {}

    def prefill(self, tokens):
        ids = self._fresh(tokens)
        with worker.Timer() as timer:
            self._generate(ids, 1)
        return timer.seconds

    def decode(self, tokens, context):
        if context not in self.contexts:
            self.contexts[context] = self._fresh(context)
        result = self._generate(self.contexts[context], tokens + 1)
        times = result.perf_metrics.raw_metrics.m_new_token_times  # milliseconds
        if len(times) != tokens + 1:
            raise RuntimeError(f"{len(times)} token times of {tokens + 1} tokens")
        return (times[-1] - times[0]) / 1000

    def logits(self, ids, of):
        """Logits up to a constant: log-probabilities. It tells those only of the tokens of a prompt
        that it echoes, so one label at a time, through its other pipeline."""
        if self.echoing is None:
            scheduler = openvino_genai.SchedulerConfig()
            scheduler.enable_prefix_caching = False
            self.echoing = openvino_genai.ContinuousBatchingPipeline(
                self.file, scheduler, "CPU", {"INFERENCE_NUM_THREADS": self.threads})
        return [self._log_probability(ids, label) for label in of]

    def _log_probability(self, ids, label):
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens = 1
        config.ignore_eos = True
        config.do_sample = False
        config.logprobs = 1
        config.echo = True
        prompt = openvino.Tensor(numpy.array([[*ids, label]], dtype=numpy.int64))
        handle = self.echoing.add_request(0, prompt, config)
        while self.echoing.has_non_finished_requests():
            self.echoing.step()
        (output,) = handle.read_all()
        if output.generated_ids[-2] != label:
            raise RuntimeError("the echo does not end with the label")
        return output.generated_log_probs[-2]  # the last is the token made

    def _generate(self, ids, n):
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens = n
        config.ignore_eos = True
        config.do_sample = False
        result = self.pipeline.generate(openvino.Tensor(ids), config)
        if len(result.tokens[0]) != n:
            raise RuntimeError(f"{len(result.tokens[0])} tokens came of {n}")
        return result

    def _fresh(self, n):
        # Its vocabulary's size is not told; every file measured here has more than 30,000 tokens.
        return numpy.array([[self.random.randrange(30_000) for _ in range(n)]], dtype=numpy.int64)


if __name__ == "__main__":
    began = time.perf_counter()
    worker.serve(Measurer(sys.argv[1], int(sys.argv[2])), time.perf_counter() - began)
