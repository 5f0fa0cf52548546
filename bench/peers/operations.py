"""What is measured: an operation, by a contender, on a file, with a number of threads."""

import dataclasses

ADJUDGE, LLAMA_CPP, OPENVINO = "adjudge", "llama.cpp", "OpenVINO GenAI"


@dataclasses.dataclass(frozen=True)
class Operation:
    """A request to a measuring process (measure_adjudge.cc says which there are)."""

    op: str
    tokens: int
    more: tuple = ()  # (key, value) pairs

    def request(self, repeats):
        return {"op": self.op, "tokens": self.tokens, **dict(self.more), "repeats": repeats}

    def counted(self):
        """Tokens that its rate counts: those of the prompt, or those decoded."""
        more = dict(self.more)
        if self.op == "questions":
            return more["state"] + more["questions"] * self.tokens
        return self.tokens


def prefill(tokens):
    return Operation("prefill", tokens)


def decode(context, tokens=32):
    return Operation("decode", tokens, (("context", context),))


def questions(way, n=16, tokens=12, state=128):
    return Operation("questions", tokens, (("way", way), ("state", state), ("questions", n)))


def generate(tokens, steps, kept=0):
    return Operation("generate", tokens, (("kept", kept), ("steps", steps)))


@dataclasses.dataclass(frozen=True)
class Measure:
    contender: str  # ADJUDGE, LLAMA_CPP or OPENVINO
    precision: str  # of adjudge; "" elsewhere
    file: str  # a name of models.py
    threads: int
    operation: Operation

    def process(self):
        """Measures that one resident process answers have this in common."""
        return (self.contender, self.precision, self.file, self.threads)
