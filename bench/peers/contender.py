"""Resident measuring processes, each started when it is first asked."""

import json
import os
import subprocess
import tempfile
import time

import machine


class PeerError(Exception):
    """A contender could not do what was asked; the message is its own."""


class Busy(Exception):
    """Others used the machine and did not stop in time."""


class Patience:
    """Waits for a quiet machine, some seconds in all."""

    def __init__(self, seconds, read=machine.Others, look=1.0):
        self.left = seconds
        self.read = read
        self.look = look  # seconds
        self.seen = 0.0  # most cores that others used

    def is_busy(self, cores):
        self.seen = max(self.seen, cores)
        return machine.is_busy(cores)

    def wait(self, words):
        """Returns when a look finds the machine quiet; Busy with the words when time is up."""
        while True:
            others = self.read()
            time.sleep(self.look)
            cores = others.cores()
            if not self.is_busy(cores):
                return
            self.left -= self.look
            if self.left <= 0:
                raise Busy(f"others use {cores:.2f} of {machine.n_cpus()} cores{words}")


class Process:
    def __init__(self, command):
        self.words = tempfile.TemporaryFile()  # what it says beside its answers
        self.process = subprocess.Popen([os.fspath(part) for part in command], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.words,
                                        start_new_session=True)  # Ctrl-C is the caller's
        self.ready = self._answer()

    def ask(self, request):
        """The answer, and how many cores others used meanwhile."""
        others = machine.Others(self.process.pid)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise PeerError("it has ended") from None
        answer = self._answer()
        return answer, others.cores()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _last_words(self):
        self.words.seek(0)
        lines = self.words.read().decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "no words")

    def _answer(self):
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):  # a library's own words
            line = self.process.stdout.readline()
        if not line:
            raise PeerError(f"it ended with code {self.process.wait()}: {self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"].strip().splitlines()[0])
        return answer


class Pool:
    """Processes by Measure.process(). One that failed is not started again."""

    def __init__(self, command_of, patience):
        self.command_of = command_of
        self.patience = patience  # None: whatever others do
        self.processes = {}
        self.failures = {}

    def process(self, key):
        if key in self.failures:
            raise PeerError(self.failures[key])
        if key not in self.processes:
            try:
                self.processes[key] = Process(self.command_of(key))
            except PeerError as error:
                self.failures[key] = str(error)
                raise
        return self.processes[key]

    def ask(self, key, request):
        """The answer; asked again once it is quiet, where others were busy meanwhile."""
        process = self.process(key)
        while True:
            answer, cores = process.ask(request)
            if self.patience is None or not self.patience.is_busy(cores):
                return answer
            self.patience.left -= 1  # somebody may work in every measurement and never between
            self.patience.wait(" while " + " ".join(map(str, key)) + " is measured")

    def ready(self, key):
        return self.process(key).ready

    def close(self):
        for process in self.processes.values():
            process.close()
        self.processes = {}
