#!/usr/bin/env python3
"""Expected outputs of chat templates, from Python's jinja2 set up as the transformers library does.

Without arguments: rewrites the results in tests/golden/templates (expected.json from every
*.jinja file and every conversation, and the rows of expressions.json in place).
With --random SEED COUNT: prints that many random expressions with their results, as JSON lines.
"""
import copy
import datetime
import json
import pathlib
import random
import re
import sys
import warnings

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "golden" / "templates"
NOW = 1721995200  # 2024-07-26 12:00:00 UTC


class Generation(Extension):
    """{% generation %}: marks what the assistant wrote; renders as its body does."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(line)

    def _support(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(format):
    return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None).strftime(format)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


def render(env, template, context):
    """{"text": ...}, or {"error": exception type, "message": its words}."""
    try:
        return {"text": env.from_string(template).render(**context)}
    except Exception as error:  # noqa: BLE001  (whatever Python raises is the expectation)
        return {"error": type(error).__name__, "message": str(error)}


def dump(path, rows):
    """A JSON file with one row a line, so that changes can be read."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("[\n" + lines + "\n]\n", encoding="utf-8")


def write_golden():
    env = environment()
    conversations = json.loads((FOLDER / "conversations.json").read_text(encoding="utf-8"))
    rows = []
    for path in sorted(FOLDER.glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        for conversation in conversations:
            row = {"template": path.name, "conversation": conversation["name"]}
            rows.append({**row, **render(env, template, conversation["context"])})
    dump(FOLDER / "expected.json", rows)
    path = FOLDER / "expressions.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    dump(path, [{**{k: row[k] for k in ("template", "context") if k in row},
                 **render(env, row["template"], row.get("context", {}))} for row in rows])


class Generator:
    """Random expressions over a fixed context, mostly of matching types."""

    CONTEXT = {
        "s": "Plum Tart, crème 🍏", "t": "  a-b_c\n<|im_end|> x ", "e": "", "n": 7, "z": 0, "f": 2.5,
        "neg": -3, "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "mixed": [1, "x", None, True, 2.0],
        "d": {"z": 1, "a": "two", "k": [1, {"m": None}]}, "yes": True, "no": False,
        "rows": [{"role": "user", "content": "Hi", "n": 1}, {"role": "tool", "content": "", "n": 2},
                 {"role": "user", "content": "Bye"}],
    }
    NAMES = [*CONTEXT, "missing"]
    LITERALS = ["1", "0", "-2", "3.5", "1e3", "'a'", "'b c'", "\"i'\"", "''", "[]", "{}", "()",
                "[1, 'q']", "('x', 2)", "{'p': 1, 'q': 'r'}", "true", "none", "range(3)"]
    BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or",
              "in", "not in"]
    FILTERS = ["trim", "upper", "lower", "title", "capitalize", "length", "count", "first", "last",
               "list", "join", "join('-')", "join(', ', attribute='role')", "reverse", "reverse|list",
               "sort", "sort(reverse=true)", "sort(attribute='n')", "unique|list", "string", "int",
               "int(5)", "float", "round", "round(1)", "abs", "default('D')", "default('D', true)",
               "tojson", "tojson(indent=2)", "tojson(sort_keys=true)", "replace('a', 'X')",
               "replace('', '.')", "indent", "indent(2, true)", "wordcount", "items|list", "dictsort",
               "map('upper')|list", "map('string')|list", "map(attribute='role')|list",
               "map(attribute='content', default='?')|join('|')", "select|list", "reject|list",
               "selectattr('role', 'equalto', 'user')|list", "rejectattr('content')|list",
               "select('string')|list", "reject('none')|list", "min", "max", "sum",
               "batch(2)|list", "slice(2)|list", "e", "center(9)", "truncate(5)", "safe"]
    TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean",
             "mapping", "sequence", "iterable", "callable", "odd", "even", "divisibleby 3", "true",
             "false", "eq 1", "in [1, 'a']", "lower", "upper", "lt 3", "ne none"]
    METHODS = ["strip()", "lstrip()", "rstrip()", "strip('Pa')", "split()", "split('a')",
               "split('-', 1)", "rsplit(None, 1)", "splitlines()", "upper()", "lower()", "title()",
               "capitalize()", "swapcase()", "startswith('P')", "endswith(('x', ' '))",
               "replace('a', 'bb', 1)", "find('a')", "rfind('a')", "count('a')", "index('a')",
               "join(['x', 'y'])", "keys()|list", "values()|list", "items()|list", "get('a')",
               "get('nope', 1)", "isdigit()", "isalpha()", "isupper()", "zfill(12)", "ljust(8, '.')",
               "partition('a')", "removeprefix('Pl')", "format(1, 2)", "append(1)"]
    SUBSCRIPTS = ["[0]", "[-1]", "[9]", "[1:]", "[:2]", "[::-1]", "[::2]", "[-2:]", "[5:1:-1]",
                  "['a']", "['role']", ".a", ".role", ".k[1].m", ".nope", "['nope']"]

    def __init__(self, seed):
        self.random = random.Random(seed)

    def expression(self, depth):
        pick = self.random.random()
        if depth <= 0 or pick < 0.12:
            return self.random.choice(self.NAMES if self.random.random() < 0.7 else self.LITERALS)
        inner = self.expression(depth - 1)
        if pick < 0.30:
            return f"({inner} {self.random.choice(self.BINARY)} {self.expression(depth - 1)})"
        if pick < 0.55:
            return f"({inner} | {self.random.choice(self.FILTERS)})"
        if pick < 0.65:
            negation = self.random.choice(["", "not "])
            return f"({inner} is {negation}{self.random.choice(self.TESTS)})"
        if pick < 0.78:
            return f"({inner}).{self.random.choice(self.METHODS)}"
        if pick < 0.90:
            subscript = self.random.choice(self.SUBSCRIPTS)
            # Folding constants, Jinja turns an error in a slice of them into an undefined value.
            if ":" in subscript and not set(re.findall(r"\w+", inner)) & set(self.NAMES):
                subscript = "[0]"
            return f"({inner}){subscript}"
        if pick < 0.94:
            return f"({inner} if {self.expression(depth - 1)} else {self.expression(depth - 1)})"
        if pick < 0.97:
            return f"[{inner}, {self.expression(depth - 1)}]"
        return self.random.choice(["not ", "-", "+"]) + inner

    def template(self):
        expression = self.expression(self.random.randint(1, 4))
        shape = self.random.random()
        if shape < 0.7:
            return "{{ " + expression + " }}"
        if shape < 0.85:
            return "{% for x in " + expression + " %}{{ loop.index }}:{{ x }}{% if loop.last %}." \
                   "{% else %};{% endif %}{% else %}empty{% endfor %}"
        return "{% set v = " + expression + " %}\n  {% if v %}\n{{ v }}\n  {%- else %} no\n{% endif %}|"


def print_random(seed, count):
    env = environment()
    generator = Generator(seed)
    print(json.dumps({"context": generator.CONTEXT}, ensure_ascii=False))
    for _ in range(count):
        template = generator.template()
        # A copy, because the filter `indent` changes a list that it is given.
        result = render(env, template, copy.deepcopy(generator.CONTEXT))
        print(json.dumps({"template": template, **result}, ensure_ascii=False))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--random"]:
        print_random(int(sys.argv[2]), int(sys.argv[3]))
    else:
        write_golden()
