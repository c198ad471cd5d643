"""The real programs of tests/realworld, built in several ways and kept between measurements."""
import hashlib
import os
import re
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REALWORLD = os.path.join(HERE, "..", "..", "tests", "realworld", "run")

# How a program is built. `plain` is what its user has; `whole` is the same compiler with the whole
# program in view, as racehive-cc has it, so that what keys cost is told from what that wins.
BUILDS = ("plain", "whole", "keyed")


class BenchError(Exception):
    pass


def write_wrapper(path, compiler):
    """A compiler that has the whole program in view. Some programs turn warnings into errors."""
    flags = "--start-no-unused-arguments -flto=full -ffat-lto-objects -fuse-ld=lld " \
            "--end-no-unused-arguments"
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nexec {compiler} {flags} "$@"\n')
    os.chmod(path, stat.S_IRWXU)
    return path


def compilers(options, build):
    if build == "whole":
        return (write_wrapper(os.path.join(options.work, "whole-cc"), "clang-19"),
                write_wrapper(os.path.join(options.work, "whole-c++"), "clang++-19"))
    return (os.path.join(options.build, "bin", "racehive-cc"),
            os.path.join(options.build, "bin", "racehive-c++"))


def tools_stamp(options, build):
    """Changes when a program must be built again."""
    if build != "keyed":
        return "clang-19"
    stamp = hashlib.sha256()
    library = os.path.join(options.build, "lib", "racehive")
    for path in sorted(os.path.join(library, name) for name in os.listdir(library)):
        with open(path, "rb") as file:
            stamp.update(file.read())
    return stamp.hexdigest()


def build(options, program, how):
    """Builds a program if it is not there; returns its command line (see tests/realworld/lib.sh)."""
    work = os.path.join(options.work, how)
    record = os.path.join(work, f"{program}.command")
    os.makedirs(work, exist_ok=True)
    stamp = tools_stamp(options, how)
    if os.path.exists(record):
        with open(record) as file:
            known, _, command = file.read().partition("\n")
        if known == stamp or options.reuse:
            return command
    print(f"building {program}, {how}", file=sys.stderr)
    cc, cxx = compilers(options, how)
    env = dict(os.environ)
    if how == "plain":
        env["RACEHIVE_PROFILE"] = "off"
    done = subprocess.run([REALWORLD, f"--cc={cc}", f"--cxx={cxx}", f"--work={work}", "--bench",
                           program], env=env, stdout=subprocess.PIPE, text=True)
    name, tab, command = done.stdout.strip().partition("\t")
    if name != program or not tab or "\n" in command:
        raise BenchError(f"{program} cannot be built ({how})")
    with open(record, "w") as file:
        file.write(f"{stamp}\n{command}")
    return command


def sidecar_of(options, program):
    """By build id, since some build systems copy a program to another place."""
    inside = {"pbzip2": "pbzip2/pbzip2", "zstd": "libzstd/programs/zstd",
              "xz": "static/src/xz/xz", "memcached": "memcached/memcached",
              "redis": "redis/src/redis-server"}[program]
    path = os.path.join(options.work, "keyed", program, "build", inside)
    notes = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"Build ID: (\w\w)(\w+)", notes)
    if not found:
        raise BenchError(f"{path} has no build id")
    return os.path.join(options.work, "keyed", "data", "racehive", "by-build-id", found[1],
                        f"{found[2]}.racehive")
