# SPDX-License-Identifier: Apache-2.0
"""Writes deterministic data for the workloads: make_data.py text|random|zeros BYTES."""

import random
import sys

CHUNK = 1 << 16


def text(generator):
    """Prose-like lines: words of a fixed vocabulary, frequent ones more often, some numbers."""
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = [
        "".join(generator.choices(letters, range(26, 0, -1), k=generator.randint(1, 10)))
        for _ in range(4000)
    ]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    while True:
        line = generator.choices(words, weights, k=5000)
        line.append(str(generator.getrandbits(48)))
        yield (" ".join(line) + "\n").encode()


def noise(generator):
    while True:
        yield generator.randbytes(CHUNK)


def zeros(_):
    while True:
        yield bytes(CHUNK)


KINDS = {"text": text, "random": noise, "zeros": zeros}


def main():
    kind, left = sys.argv[1], int(sys.argv[2])
    source = KINDS[kind](random.Random(kind))
    while left > 0:
        chunk = next(source)[:left]
        sys.stdout.buffer.write(chunk)
        left -= len(chunk)


main()
