# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder share: building programs, reading ThreadSanitizer's logs and
racehive's candidates.

A *place* is (file name without folders, line); a *pair* is a sorted tuple of two places. Names are
compared without folders because compilers and logs spell folders differently.
"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CLANG = os.environ.get("CLANG", "clang-19")
CLANGXX = os.environ.get("CLANGXX", "clang++-19")
TIME_LIMIT = 300   # seconds; only a program that hangs comes near


class BuildError(Exception):
    pass


# A place is (file, line); or (file, function), where whoever names it knows no line.

def place_order(place):
    return place[0], isinstance(place[1], str), place[1]


def pair(a, b):
    return tuple(sorted((a, b), key=place_order))


def show(p):
    return " and ".join(f"{file}:{line}" for file, line in p)


def is_cxx(source):
    return source.endswith((".cc", ".cpp"))


def compile_program(compiler, sources, program, options):
    """Builds a program; its private data goes beside it, not into the user's folders."""
    env = dict(os.environ, XDG_DATA_HOME=os.path.dirname(program))
    done = subprocess.run([*compiler, *options, *sources, "-o", program], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    bare = re.search(r"racehive: warning: .* is not instrumented", done.stdout)
    if done.returncode or bare:
        raise BuildError(f"{' '.join(compiler)} failed on {', '.join(sources)}:\n{done.stdout}")


def write_wrapper(path, compiler, flags):
    """A compiler with flags that build systems cannot lose. Some turn warnings into errors."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {compiler} --start-no-unused-arguments {" ".join(flags)} '
                   '--end-no-unused-arguments "$@"\n')
    os.chmod(path, stat.S_IRWXU)
    return path


# ---- ThreadSanitizer ----

TSAN_OPTIONS = ("history_size=7 halt_on_error=0 exitcode=0 report_thread_leaks=0 "
                "report_bugs=1 suppress_equal_stacks=0 suppress_equal_addresses=0 "
                "report_signal_unsafe=0 report_destroy_locked=0")
FRAME = re.compile(r"^\s+#\d+ (.+?) (\S+?):(\d+)(?::\d+)? \(")
LINELESS_FRAME = re.compile(r"^\s+#\d+ (.+?) (/\S+) \(")
BARE_FRAME = re.compile(r"^\s+#\d+ (.+)$")


def build_tsan(sources, program, options=()):
    compiler = [CLANGXX if any(map(is_cxx, sources)) else CLANG]
    compile_program(compiler, sources, program,
                    ["-fsanitize=thread", "-g", "-O1", "-pthread", *options])


def run_tsan(program, runs=1, args=()):
    """The logs of some runs, as one text. Raises BuildError if the program fails."""
    logs = []
    for _ in range(runs):
        done = subprocess.run([program, *args], env=dict(os.environ, TSAN_OPTIONS=TSAN_OPTIONS),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=TIME_LIMIT)
        text = done.stderr.decode("utf-8", "replace")
        if done.returncode:
            raise BuildError(f"{program} ended with {done.returncode}:\n{text}")
        logs.append(text)
    return "\n".join(logs)


def tsan_warnings(log):
    """(title, stacks of the two accesses) for each warning; a stack is a list of frames, a frame
    (function, file or None, line)."""
    for report in re.split(r"^=+$", log, flags=re.M):
        title = re.search(r"WARNING: ThreadSanitizer: (.+?) \(pid", report)
        if not title:
            continue
        stacks = []
        for block in re.split(r"\n\s*\n", report):
            head = re.search(r"^\s+(?:Previous )?(?:atomic )?(?:read|write) of size \d+ at",
                             block, re.M | re.I)
            if head:
                stacks.append(read_frames(block))
        yield title.group(1), stacks


def read_frames(block):
    frames = []
    for line in block.split("\n"):
        known, bare = FRAME.match(line), BARE_FRAME.match(line)
        lineless = LINELESS_FRAME.match(line)
        if known:
            frames.append((known.group(1), known.group(2), int(known.group(3))))
        elif lineless:
            frames.append((*lineless.groups(), 0))
        elif bare:
            frames.append((re.sub(r" (<null>|\S+) \(.*", "", bare.group(1)), None, 0))
    return frames


FOREIGN = re.compile(r"^/usr/|/compiler-rt/|/sanitizer_common/|/libstdc\+\+-v3/")


def own_place(stack, names):
    """The top frame in one of the program's own files: interceptors (memcpy, read) and code of
    libraries above it do the access on its behalf. None if no frame is the program's. `names`: its
    files; None: all but those of the system."""
    for function, file, line in stack:
        if file and (os.path.basename(file) in names if names is not None
                     else not FOREIGN.search(file)):
            return os.path.basename(file), line or function
    return None


# ThreadSanitizer takes an allocation for a write of the whole block. The program makes no access
# there; the race on the pointer that gave the block away is reported on its own.
ALLOCATORS = ("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign",
              "memalign", "valloc", "strdup", "operator new")


def is_allocation(stack):
    return bool(stack) and stack[0][1] is None and stack[0][0].startswith(ALLOCATORS)


def tsan_races(log, names):
    """(set of pairs, warnings that could not be placed). `names`: the program's own files."""
    pairs, lost, _ = read_races(log, names)
    return pairs, lost


def read_races(log, names):
    """As tsan_races, and the number of races with an allocation, which are in neither."""
    pairs, lost, allocations = set(), [], 0
    for title, stacks in tsan_warnings(log):
        if not title.startswith(("data race", "heap-use-after-free", "race on")):
            lost.append(title)
            continue
        if any(map(is_allocation, stacks)):
            allocations += 1
            continue
        places = [own_place(s, names) for s in stacks]
        if len(places) == 2 and all(places):
            pairs.add(pair(*places))
        else:
            lost.append(f"{title}: a stack without a frame in the program")
    return pairs, lost, allocations


# ---- racehive ----

def build_racehive(build, sources, program, options=(), level="-O2"):
    name = "racehive-c++" if any(map(is_cxx, sources)) else "racehive-cc"
    compile_program([os.path.join(build, "bin", name)], sources, program,
                    [level, "-pthread", *options])


def candidates_of(build, program):
    """The candidates that racehive prints for a program, as it prints them."""
    done = subprocess.run([os.path.join(build, "bin", "racehive"), "candidates", "--json", program],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, XDG_DATA_HOME=os.path.dirname(program)))
    if done.returncode:
        raise BuildError(f"racehive candidates ended with {done.returncode}:\n{done.stderr}")
    return read_candidates(done.stdout)


def read_candidates(text):
    candidates = json.loads(text)["candidates"]
    for c in candidates:
        for side in ("first", "second"):
            for field in ("file", "line", "function", "access"):
                if field not in c[side]:
                    raise BuildError(f"candidate {c.get('id')}: {side} has no {field}")
        if c["verdict"] != "unknown":
            raise BuildError(f"candidate {c.get('id')}: verdict {c['verdict']}, not unknown")
    return candidates


def place_of(side):
    return os.path.basename(side["file"] or ""), side["line"]


def candidate_pairs(candidates):
    return {pair(place_of(c["first"]), place_of(c["second"])) for c in candidates}


# ---- working folders ----

class WorkFolder:
    """A temporary folder, removed at the end unless it is to be kept."""

    def __init__(self, keep):
        self.keep = keep

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="racehive-candidates-")
        return self.path

    def __exit__(self, *_):
        if self.keep:
            print(f"kept {self.path}", file=sys.stderr)
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def seed_range(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
