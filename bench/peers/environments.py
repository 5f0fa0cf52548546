"""The peers' virtual environments, made once outside the repository.

An environment is whole when its stamp holds the text of what was asked for; anything else (an
interrupted install, another version, another processor for the native build) is removed and made
anew.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

import machine

TILE_CONFIG = pathlib.Path(__file__).resolve().parent / "amx_tile_config.h"

# Versions are fixed, so that two runs on one machine compare the same programs.
PEERS = {
    "llama.cpp": {
        "packages": ["llama-cpp-python==0.3.36"],
        # A wheel that pip built before may be for another processor, or with other flags.
        "options": ["--no-binary", "llama-cpp-python", "--no-cache-dir"],
        # Built from source for this very processor; the parts that serve images are left out.
        "environment": {
            "CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF",
            "CXXFLAGS": f"-include {TILE_CONFIG}",
            "CMAKE_BUILD_PARALLEL_LEVEL": None,  # as many as jobs are asked for
        },
        "native": True,
    },
    "OpenVINO GenAI": {
        "packages": ["openvino-genai==2026.4.1.0"],
        "options": [],
        "environment": {},
        "native": False,
    },
}


def cache_folder():
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(root) / "adjudge" / "peers"


def folder_name(peer):
    return peer.lower().replace(" ", "-")


def wanted(peer):
    """What an environment holds, as text: its packages and, for a native build, the processor."""
    asked = PEERS[peer]
    lines = [f"python {sys.version_info.major}.{sys.version_info.minor}", *asked["packages"]]
    if asked["native"]:
        lines += [asked["environment"]["CMAKE_ARGS"], TILE_CONFIG.read_text(),
                  f"cpu {machine.cpu_model()}", f"flags {machine.cpu_flags()}"]
    return "\n".join(lines) + "\n"


class Failed(Exception):
    """A step of the preparation failed; the message has its last lines."""


def quietly(command, log, environment=None):
    """Runs a command with its words in a file, of which only a failure shows something."""
    with open(log, "w", encoding="utf-8") as output:
        done = subprocess.run(list(map(os.fspath, command)), env=environment, check=False,
                              stdout=output, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise Failed(f"{command[0]} failed (all of it in {log}):\n{tail}")


def ensure(peer, jobs, say):
    """The Python of the peer's environment, made if it is missing. One run makes it at a time."""
    folder = cache_folder() / folder_name(peer)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _ensure(peer, folder, jobs, say)


def _ensure(peer, folder, jobs, say):
    python = folder / "bin" / "python"
    stamp = folder / "whole"
    if stamp.exists() and stamp.read_text() == wanted(peer):
        return python
    say(f"installing {peer} into {folder}; this takes minutes, once")
    shutil.rmtree(folder, ignore_errors=True)
    # Without pip inside: the distribution's own installs from outside; no python3-venv is needed.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    asked = PEERS[peer]
    environment = dict(os.environ)
    for name, value in asked["environment"].items():
        environment[name] = str(jobs) if value is None else value
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet",
               "--disable-pip-version-check", *asked["options"], *asked["packages"]]
    quietly(command, folder / "install.log", environment)
    stamp.write_text(wanted(peer))
    return python
