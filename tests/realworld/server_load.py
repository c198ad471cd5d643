# SPDX-License-Identifier: Apache-2.0
"""Loads a memcached or redis server on 127.0.0.1 and verifies every answer.

server_load.py mixed|stream memcached|redis PORT CONNECTIONS COMMANDS

Every connection sends COMMANDS commands on keys of its own, in pipelined batches whose contents
follow from the connection's number alone, and knows what each answer must be.
mixed:  sets, gets and deletes with values of many sizes. All connections also count on one shared
        key, whose last value must be the number of all counts: an update that two server threads
        lose between them shows there.
stream: one batch of small sets and gets over and over, which costs the client next to nothing.
"""

import random
import socket
import sys
import threading
import time

BATCH = 40
STREAM_BATCH = 500
KEYS = 200
SHARED = b"shared-counter"
TIMEOUT = 600


class Memcached:
    """Commands of the text protocol; each returns the request, or reads the answer to it."""

    def __init__(self, stream):
        self.stream = stream

    def set(self, key, value):
        return b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value)

    def get(self, key):
        return b"get %s\r\n" % key

    def delete(self, key):
        return b"delete %s\r\n" % key

    def count(self, key):
        return b"incr %s 1\r\n" % key

    def answer_set(self):
        return b"STORED\r\n"

    def answer_get(self, key, value):
        return b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value), value)

    def read_set(self):
        return self.stream.readline() == self.answer_set()

    def read_get(self):
        line = self.stream.readline()
        if line == b"END\r\n":
            return None
        value = self.stream.read(int(line.split()[3]) + 2)[:-2]
        if self.stream.readline() != b"END\r\n":
            raise ValueError("no END after a value")
        return value

    def read_delete(self):
        return {b"DELETED\r\n": True, b"NOT_FOUND\r\n": False}[self.stream.readline()]

    def read_count(self):
        return int(self.stream.readline())


class Redis:
    """The same commands in redis' protocol."""

    def __init__(self, stream):
        self.stream = stream

    @staticmethod
    def encode(*words):
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)

    def set(self, key, value):
        return self.encode(b"SET", key, value)

    def get(self, key):
        return self.encode(b"GET", key)

    def delete(self, key):
        return self.encode(b"DEL", key)

    def count(self, key):
        return self.encode(b"INCR", key)

    def answer_set(self):
        return b"+OK\r\n"

    def answer_get(self, _, value):
        return b"$%d\r\n%s\r\n" % (len(value), value)

    def read_set(self):
        return self.stream.readline() == self.answer_set()

    def read_get(self):
        size = int(self.stream.readline()[1:])
        return None if size < 0 else self.stream.read(size + 2)[:-2]

    def read_delete(self):
        return self.read_count() == 1

    def read_count(self):
        return int(self.stream.readline()[1:])


PROTOCOLS = {"memcached": Memcached, "redis": Redis}


class Client:
    """One connection with its model of what the server holds."""

    def __init__(self, protocol, port, number):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        self.commands = PROTOCOLS[protocol](self.socket.makefile("rb"))
        self.random = random.Random(number)
        self.number = number
        self.model = {}
        self.counts = 0

    def make_value(self):
        size = self.random.choice((0, 1, 30, 300, 3000, 20000))
        return self.random.randbytes(size)

    def make_command(self):
        """A request, the function that reads its answer, and the answer it must have."""
        commands = self.commands
        key = b"key-%d-%d" % (self.number, self.random.randrange(KEYS))
        kind = self.random.random()
        if kind < 0.25:
            self.model[key] = self.make_value()
            return commands.set(key, self.model[key]), commands.read_set, True
        if kind < 0.85:
            return commands.get(key), commands.read_get, self.model.get(key)
        if kind < 0.90:
            known = self.model.pop(key, None) is not None
            return commands.delete(key), commands.read_delete, known
        self.counts += 1
        return commands.count(SHARED), commands.read_count, None

    def send(self, request):
        """Sends aside: the server may stop reading until its own answers are read."""
        sender = threading.Thread(target=self.socket.sendall, args=(request,))
        sender.start()
        return sender

    def send_batch(self, size):
        batch = [self.make_command() for _ in range(size)]
        sender = self.send(b"".join(request for request, _, _ in batch))
        last = 0
        for request, read, expected in batch:
            answer = read()
            if read == self.commands.read_count:
                good, last = answer > last, answer
            else:
                good = answer == expected
            if not good:
                raise ValueError(f"wrong answer {answer!r:.80} to {request!r:.80}")
        sender.join()

    def run_mixed(self, commands):
        while commands > 0:
            self.send_batch(min(BATCH, commands))
            commands -= BATCH

    def run_stream(self, commands):
        request, expected = b"", b""
        for step in range(STREAM_BATCH):
            key = b"key-%d-%d" % (self.number, step // 5)
            value = key * 3
            if step % 5 == 0:
                request += self.commands.set(key, value)
                expected += self.commands.answer_set()
            else:
                request += self.commands.get(key)
                expected += self.commands.answer_get(key, value)
        for _ in range(commands // STREAM_BATCH):
            sender = self.send(request)
            if self.commands.stream.read(len(expected)) != expected:
                raise ValueError("wrong answer in a stream")
            sender.join()


def count_in_all(clients):
    """What the shared counter must be, and what it is."""
    first = clients[0]
    first.socket.sendall(first.commands.get(SHARED))
    return sum(client.counts for client in clients), int(first.commands.read_get())


def main():
    kind, protocol, (port, connections, commands) = sys.argv[1], sys.argv[2], map(int, sys.argv[3:])
    clients = [Client(protocol, port, number) for number in range(connections)]
    first = clients[0]
    first.socket.sendall(first.commands.set(SHARED, b"0"))
    if not first.commands.read_set():
        sys.exit("cannot set the shared counter")

    failures = []

    def run(client):
        try:
            getattr(client, "run_" + kind)(commands)
        except Exception as error:  # whatever went wrong, the load failed, and the others end
            failures.append(f"connection {client.number}: {error!r}")

    threads = [threading.Thread(target=run, args=(client,)) for client in clients]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit("\n".join(failures))
    seconds = time.monotonic() - began

    expected, found = count_in_all(clients)
    if expected != found:
        sys.exit(f"the shared counter is {found} after {expected} counts")
    print(f"{connections * commands} answers verified, {expected} counts, {seconds:.3f} seconds")


main()
