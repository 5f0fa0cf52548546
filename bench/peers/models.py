"""The files that are measured: the default model, other forms of it, and one of random weights."""

import pathlib
import subprocess

import environments

DEFAULT = "SmolLM2 Q4_1"
SMOLLM2 = [DEFAULT, "SmolLM2 Q8_0", "SmolLM2 Q4_0", "SmolLM2 BF16"]
BILLION = ["1.1B Q8_0", "1.1B Q4_0", "1.1B Q4_K", "1.1B BF16"]


def folder():
    path = environments.cache_folder() / "models"
    path.mkdir(parents=True, exist_ok=True)
    return path


def ensure(name, root, llama_python, say):
    """The path of a file of that name, made if it is missing."""
    if name == DEFAULT:
        found = subprocess.run([root / "scripts" / "fetch-model"], check=False, text=True,
                               stdout=subprocess.PIPE)
        if found.returncode != 0:
            raise environments.Failed("the default model could not be fetched")
        return pathlib.Path(found.stdout.strip())
    path = folder() / f"{name.replace(' ', '-')}.gguf"
    if path.exists():
        return path
    say(f"making {path}")
    kind = name.split()[1]
    unfinished = path.with_suffix(".unfinished")
    if name in BILLION:
        command = [root / "build/release/bin/synthetic_model", "--type", kind, unfinished]
    else:
        command = [llama_python, pathlib.Path(__file__).with_name("measure_llama_cpp.py"),
                   "--requantise", ensure(DEFAULT, root, llama_python, say), unfinished, kind]
    environments.quietly(command, path.with_suffix(".log"))
    unfinished.rename(path)
    return path
