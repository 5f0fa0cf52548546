"""llama.cpp's side of bench/peers/run: measure_llama_cpp.py FILE THREADS, then the lines that
measure_adjudge.cc explains.

`measure_llama_cpp.py --requantise FROM TO TYPE` writes a file in another format instead.
"""

import ctypes
import random
import sys
import time

import llama_cpp as llama
import numpy

import worker

FILE_TYPES = {"Q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0, "Q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0,
              "BF16": llama.LLAMA_FTYPE_MOSTLY_BF16}


@llama.llama_log_callback
def _quiet(level, text, user_data):
    """Its notes on loading are of no use here; its errors come as return codes."""


class Measurer:
    def __init__(self, file, threads):
        llama.llama_log_set(_quiet, ctypes.c_void_p(0))
        llama.llama_backend_init()
        self.threads = threads
        self.model = llama.llama_model_load_from_file(file.encode(),
                                                      llama.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp does not read {file}")
        self.n_vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))
        self.contexts = {}
        self.random = random.Random(1)

    def prefill(self, tokens):
        context = self._context("prefill", tokens)
        ids = self._fresh(tokens)
        llama.llama_memory_clear(llama.llama_get_memory(context), False)
        with worker.Timer() as timer:
            self._pass(context, ids)
        return timer.seconds

    def decode(self, tokens, context):
        filled = ("decode", context) in self.contexts
        kept = self._context("decode", context, context + tokens)
        if not filled:
            self._pass(kept, self._fresh(context))
        llama.llama_memory_seq_rm(llama.llama_get_memory(kept), 0, context, -1)
        token = self._fresh(1)[0]
        with worker.Timer() as timer:
            for _ in range(tokens):
                token = int(numpy.argmax(self._pass(kept, [token])))
        return timer.seconds

    def logits(self, ids, of):
        context = self._context("logits", 2048)
        llama.llama_memory_clear(llama.llama_get_memory(context), False)
        values = self._pass(context, ids)
        return [float(values[i]) for i in of]

    def _context(self, what, n, size=None):
        """A context of its own for each length: a kept state survives the other measurements."""
        key = (what, n)
        if key not in self.contexts:
            parameters = llama.llama_context_default_params()
            parameters.n_ctx = size or n
            parameters.n_batch = parameters.n_ctx
            parameters.n_threads = self.threads
            parameters.n_threads_batch = self.threads
            context = llama.llama_init_from_model(self.model, parameters)
            if not context:
                raise RuntimeError(f"llama.cpp made no context of {parameters.n_ctx} tokens")
            self.contexts[key] = context
        return self.contexts[key]

    def _pass(self, context, ids):
        """The logits of the last token; the tokens stand behind those that the context holds."""
        tokens = (llama.llama_token * len(ids))(*ids)
        code = llama.llama_decode(context, llama.llama_batch_get_one(tokens, len(ids)))
        if code != 0:
            raise RuntimeError(f"llama_decode returned {code}")
        pointer = llama.llama_get_logits_ith(context, -1)  # waits until the pass is done
        return numpy.ctypeslib.as_array(pointer, shape=(self.n_vocabulary,))

    def _fresh(self, n):
        return [self.random.randrange(self.n_vocabulary) for _ in range(n)]


def requantise(source, target, file_type):
    llama.llama_log_set(_quiet, ctypes.c_void_p(0))
    parameters = llama.llama_model_quantize_default_params()
    parameters.ftype = FILE_TYPES[file_type]
    parameters.allow_requantize = True
    return llama.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(parameters))


if __name__ == "__main__":
    if sys.argv[1] == "--requantise":
        sys.exit(requantise(*sys.argv[2:5]))
    began = time.perf_counter()
    worker.serve(Measurer(sys.argv[1], int(sys.argv[2])), time.perf_counter() - began)
