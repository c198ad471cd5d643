# SPDX-License-Identifier: Apache-2.0
"""Counts instructions of builds whose keys are off, and fails when they have grown.

The kernels run with one thread under callgrind, so counts hardly depend on the machine. They are
compared with those in bench/results/instructions.json, which are renewed with `bench/run --accept`.
Another compiler, libc or valgrind makes other counts: then nothing is compared, and that is said.
"""
import hashlib
import json
import os
import shutil

import arms
import builds

ACCEPTED = os.path.normpath(os.path.join(builds.HERE, "..", "results", "instructions.json"))
LIMIT = 1.02
BUILDS = ("whole", "keyed")


def has_avx2():
    """Libc chooses its copying functions by this."""
    with open("/proc/cpuinfo") as file:
        return " avx2" in file.read()


def environment(versions):
    return {"clang": versions["clang"], "libc": versions["libc"], "valgrind": versions["valgrind"],
            "avx2": has_avx2()}


def source_of(subject):
    """Changes when a kernel or its size does."""
    text = hashlib.sha256(str(subject.sizes.counted).encode())
    for path in subject.sources:
        with open(path, "rb") as file:
            text.update(file.read())
    return text.hexdigest()[:16]


def countable(subjects):
    return [s for s in subjects if s.kind == "kernel" and s.sizes.counted]


def count(options, subjects, results, progress):
    """Kernels with one thread; programs with the small load, where the evaluation is whole."""
    if not shutil.which("valgrind"):
        progress.note("instructions: valgrind is not installed")
        return
    for subject in subjects:
        size = subject.sizes.counted if subject.kind == "kernel" else None
        if subject.kind == "kernel" and not size:
            continue
        for how in BUILDS:
            progress.say(f"{subject.name}: instructions, {how}")
            try:
                results.add_instructions(subject.name, how, arms.count_instructions(
                    options, subject, how, size))
            except (arms.ToolFailed, builds.BenchError) as error:
                results.add_failure(subject.name, f"callgrind, {how}", str(error))
                progress.note(f"{subject.name}, callgrind: failed: {error}")
            progress.step()


def load_accepted(path=ACCEPTED):
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def compare(accepted, counts, sources, now):
    """(state, lines): `passed`, `failed` or `skipped`, and what there is to say. `counts`: of the
    keyed builds; `sources`: what they are of; `now`: the environment."""
    if not accepted:
        return "skipped", ["no counts have been accepted yet: bench/run --accept"]
    changed = [f"{name} is {now.get(name)}, was {was}"
               for name, was in accepted["environment"].items() if now.get(name) != was]
    if changed:
        return "skipped", ["counts are not comparable: " + "; ".join(changed)]
    state, lines, compared = "passed", [], 0
    for name, new in sorted(counts.items()):
        old = accepted["counts"].get(name)
        if not old:
            lines.append(f"{name}: not among the accepted counts")
        elif old["source"] != sources[name]:
            lines.append(f"{name}: the kernel has changed since its count was accepted")
        else:
            compared += 1
            growth = new / old["instructions"]
            verdict = "GREW" if growth > LIMIT else "ok"
            state = "failed" if growth > LIMIT else state
            lines.append(f"{name}: {growth:.4f} of the accepted count, {verdict}")
    if not compared:
        return "skipped", lines or ["nothing was counted"]
    return state, lines


def keyed_counts(subjects, results):
    return {s.name: results.count(s.name, "keyed") for s in countable(subjects)
            if results.count(s.name, "keyed")}


def check(subjects, results):
    """Adds the comparison to the results; returns its state."""
    counts = keyed_counts(subjects, results)
    sources = {s.name: source_of(s) for s in countable(subjects)}
    state, lines = compare(load_accepted(), counts, sources,
                           environment(results.data["versions"]))
    results.data["check"] = {"state": state, "lines": lines, "limit": LIMIT}
    return state


def accept(subjects, results, path=ACCEPTED):
    """Counts of kernels that were not counted now stay as they are, if they are comparable."""
    now = environment(results.data["versions"])
    old = load_accepted(path) or {}
    kept = old.get("counts", {}) if old.get("environment") == now else {}
    new = {s.name: {"instructions": results.count(s.name, "keyed"), "source": source_of(s)}
           for s in countable(subjects) if results.count(s.name, "keyed")}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump({"environment": now, "counts": {**kept, **new}}, file, indent=1, sort_keys=True)
        file.write("\n")
