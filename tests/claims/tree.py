# SPDX-License-Identifier: Apache-2.0
"""The files of a source tree, and what the checks of claims need to read in them."""
import os
import re
import subprocess

# Everything that is code of ours: tools, runtime, tests, evaluation.
CODE = ("src/", "runtime/", "include/", "bench/", "examples/", "tests/", "scripts/", "cmake/")


class Tree:
    def __init__(self, top):
        self.top = top
        self.files = sorted(self._list())
        self.known = set(self.files)
        self._texts = {}

    def _list(self):
        """Tracked and new files; the whole tree where there is no git."""
        done = subprocess.run(["git", "-C", self.top, "ls-files", "-co", "--exclude-standard"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            return [f for f in done.stdout.splitlines()
                    if os.path.isfile(os.path.join(self.top, f))]
        found = []
        for folder, folders, names in os.walk(self.top):
            folders[:] = [f for f in folders if not f.startswith(("build", ".git"))]
            found += [os.path.relpath(os.path.join(folder, n), self.top) for n in names]
        return found

    def read(self, path):
        if path not in self._texts:
            with open(os.path.join(self.top, path), encoding="utf-8", errors="replace") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def c_files(self, *folders):
        """C sources and headers of ours below the folders."""
        return [f for f in self.files if f.endswith((".c", ".h")) and
                f.startswith(folders or CODE) and not is_data(f)]

    def folders(self, *tops):
        """Folders below `tops` that hold files of ours."""
        return sorted({os.path.dirname(f) for f in self.files if f.startswith(tops) and
                       not is_data(f)})

    def include_of(self, path, name):
        """The file of the tree that #include "name" in `path` means, or None."""
        roots = [os.path.dirname(path)]
        roots += ["runtime", "include"] if path.startswith("runtime/") else ["src", "include"]
        for root in roots:
            target = os.path.normpath(os.path.join(root, name))
            if target in self.known:
                return target
        return None


def is_data(path):
    """Whether a file is what a test reads, not code of ours."""
    return "/testdata/" in path


def without_comments(text):
    """C or assembly text without its comments; string literals stay."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def code_of(text):
    """C text without comments, string literals and includes; lines stay where they are."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0)) if m.group(0)[0] == "/" else '""'
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#[ \t]*include.*$", "", text, flags=re.M)


def functions(text):
    """(name, first line, number of lines) of each function, signature included. In our style the
    braces of a function, and no others but those of types and tables, stand in the first column."""
    lines = code_of(text).split("\n")
    begin = None
    for number, line in enumerate(lines):
        if line.startswith("{"):
            begin = number
            while begin > 0 and re.match(r"[\w*,()\s]", lines[begin - 1]) and \
                    lines[begin - 1].strip() and not lines[begin - 1].rstrip().endswith(";"):
                begin -= 1
        elif line.startswith("}") and begin is not None:
            head = " ".join(lines[begin:number])
            name = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head))
            yield name.group(1) if name else "?", begin + 1, number - begin + 1
            begin = None
