# SPDX-License-Identifier: Apache-2.0
"""Loads a DNS resolver on 127.0.0.1 and verifies every answer.

dns_load.py mixed|stream PORT UPSTREAM CLIENTS QUERIES
dns_load.py zone

Every client has a socket of its own, each fourth one a TCP connection, the others UDP, and asks
QUERIES questions on names that follow from the client's number alone, some of them at a time. All
clients ask for the same names, so that the resolver's threads meet in its cache. What a name's
answer must be follows from the name:
- some do not exist,
- some are local data of the resolver, of which `zone` prints the configuration,
- all others the resolver has to ask for at port UPSTREAM, where this program answers.
mixed:  some answers expire after a second and have to be asked for again.
stream: none does, so that the resolver's work is always the same.
"""

import random
import select
import socket
import struct
import sys
import time

NAMES = 4096
QUESTIONS = 512
WINDOW = {"udp": 12, "tcp": 48}  # all UDP windows together fit into a socket's buffer
TIMEOUT = 600
RETRY = {"mixed": 2, "stream": 20}  # a slow answer must not make more work for the resolver
RECONNECTIONS = 50

A, SOA, AAAA = 1, 6, 28
HEADER = struct.Struct(">HHHHHH")
QUERY, AUTHORITY = 0x0100, 0x8400
ANSWER, LOCAL_ANSWER, NO_SUCH_NAME = 0x8180, 0x8580, 0x8183


def encode(name):
    return b"".join(bytes([len(label)]) + label for label in name.encode().split(b".")) + b"\0"


class Name:
    """One of the names: the question about it and its answer."""

    def __init__(self, number):
        self.number = number
        self.local = number % 16 == 3
        self.exists = number % 16 != 7
        self.type = AAAA if number % 4 == 1 else A
        self.zone = "local.example" if self.local else "stub.example"
        self.text = f"n{number:04}.{self.zone}"
        self.question = encode(self.text) + struct.pack(">HH", self.type, 1)

    def address(self):
        if self.type == AAAA:
            return socket.inet_pton(socket.AF_INET6, f"2001:db8::{self.number:x}")
        return bytes([10, 7 if self.local else 8, self.number >> 8, self.number & 255])

    def address_record(self):
        """What comes before the time to live, and what comes after it."""
        address = self.address()
        return (b"\xc0\x0c" + struct.pack(">HH", self.type, 1),
                struct.pack(">H", len(address)) + address)

    def no_such_name_record(self):
        """The zone's start of authority, which lets a resolver remember that there is no name."""
        zone = encode(self.zone)
        data = zone * 2 + struct.pack(">IIIII", 1, 3600, 600, 86400, 600)
        return zone + struct.pack(">HH", SOA, 1), struct.pack(">H", len(data)) + data

    def upstream_answer(self, query_id, seconds):
        counts = (1, 0) if self.exists else (0, 1)
        flags = AUTHORITY if self.exists else AUTHORITY | 3
        before, after = self.address_record() if self.exists else self.no_such_name_record()
        return (HEADER.pack(query_id, flags, 1, *counts, 0) + self.question +
                before + struct.pack(">I", seconds) + after)

    def query(self, query_id):
        return HEADER.pack(query_id, QUERY, 1, 0, 0, 0) + self.question

    def expected(self, query_id):
        """How the resolver's answer must begin and end, and its size unless that is free."""
        if not self.exists:
            return HEADER.pack(query_id, NO_SUCH_NAME, 1, 0, 1, 0) + self.question, b"", None
        before, after = self.address_record()
        flags = LOCAL_ANSWER if self.local else ANSWER
        begin = HEADER.pack(query_id, flags, 1, 1, 0, 0) + self.question + before
        return begin, after, len(begin) + 4 + len(after)


class Upstream:
    """The name server that the resolver asks."""

    def __init__(self, port, names, short_lived):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.answers = {}
        for name in names:
            seconds = 1 if short_lived and name.number % 8 == 2 else 3600
            if not name.local:
                self.answers[name.question] = name.upstream_answer(0, seconds)
        self.queries = 0

    def read(self):
        try:
            while True:
                query, address = self.socket.recvfrom(4096)
                end = query.index(b"\0", HEADER.size) + 5
                answer = self.answers.get(query[HEADER.size:end])
                if answer is None:
                    raise ValueError(f"the resolver asks for {query!r:.200}")
                self.queries += 1
                self.socket.sendto(query[:2] + answer[2:], address)
        except BlockingIOError:
            pass


class Client:
    """One socket, its questions, and those of them that have no answer yet."""

    def __init__(self, number, port, names, queries, retry):
        self.kind = "tcp" if number % 4 == 3 else "udp"
        self.number, self.port, self.left, self.retry = number, port, queries, retry
        chosen = random.Random(number).choices(names, k=QUESTIONS)
        self.queries = [name.query(index) for index, name in enumerate(chosen)]
        self.expected = [name.expected(index) for index, name in enumerate(chosen)]
        self.window, self.next, self.pending = WINDOW[self.kind], 0, set()
        self.read = self.read_tcp if self.kind == "tcp" else self.read_udp
        self.resent = self.connections = 0
        self.connect()

    def connect(self):
        kind = socket.SOCK_STREAM if self.kind == "tcp" else socket.SOCK_DGRAM
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.connect(("127.0.0.1", self.port))
        self.socket.setblocking(False)
        self.buffer = b""
        self.connections += 1

    def send(self, indexes):
        """What is lost here is sent again: by UDP after a while, by TCP in another connection."""
        queries = [self.queries[index] for index in indexes]
        try:
            if self.kind == "tcp":
                queries = [b"".join(struct.pack(">H", len(each)) + each for each in queries)]
            for query in queries:
                self.socket.sendall(query)
        except ConnectionError:
            pass

    def send_window(self):
        """Sends the next questions, over and over the same ones, unless all were answered."""
        first = self.next if self.next < QUESTIONS else 0
        self.next = min(first + min(self.window, self.left), QUESTIONS)
        self.left -= self.next - first
        self.pending.update(range(first, self.next))
        self.wait, self.sent = self.retry, time.monotonic()
        self.send(range(first, self.next))

    def take(self, answer):
        """Verifies an answer. It may be the second one to a question that was sent again."""
        index = answer[0] << 8 | answer[1]
        begin, end, size = self.expected[index]
        if not answer.startswith(begin) or not answer.endswith(end) or \
                size is not None and len(answer) != size:
            raise ValueError(f"wrong answer {answer!r:.300}, not {begin!r} to {end!r}")
        self.pending.discard(index)

    def read_udp(self):
        receive, take = self.socket.recv, self.take
        try:
            while self.pending:
                take(receive(4096))
        except (BlockingIOError, ConnectionRefusedError):
            pass  # no more of them, or a question was refused, which is sent again

    def read_tcp(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionResetError
        data, at = self.buffer + data, 0
        while len(data) >= at + 2:
            end = at + 2 + (data[at] << 8 | data[at + 1])
            if len(data) < end:
                break
            self.take(data[at + 2:end])
            at = end
        self.buffer = data[at:]

    def send_again(self, now):
        """What had no answer for a while was lost, which may happen to UDP."""
        if self.kind == "udp" and self.pending and now - self.sent > self.wait:
            self.wait, self.sent = self.wait * 2, now
            self.resent += len(self.pending)
            self.send(self.pending)


class Load:
    """Serves all sockets until every client has all answers."""

    def __init__(self, clients, upstream):
        self.clients, self.upstream = clients, upstream
        self.poll = select.epoll()
        self.poll.register(upstream.socket, select.EPOLLIN)
        self.by_socket = {}
        for client in clients:
            self.add(client)

    def add(self, client):
        self.poll.register(client.socket, select.EPOLLIN)
        self.by_socket[client.socket.fileno()] = client

    def reconnect(self, client):
        """A resolver that reads its configuration again closes its connections."""
        if client.kind != "tcp" or client.connections > RECONNECTIONS:
            raise ConnectionError(f"client {client.number} lost its connection")
        del self.by_socket[client.socket.fileno()]
        client.socket.close()
        client.connect()
        self.add(client)
        client.resent += len(client.pending)
        client.send(client.pending)

    def serve(self, client):
        """Whether the client has all its answers."""
        try:
            client.read()
        except ConnectionError:
            self.reconnect(client)
        if client.pending:
            return False
        if client.left:
            client.send_window()
            return False
        self.poll.unregister(client.socket)
        return True

    def run(self):
        upstream, busy = self.upstream.socket.fileno(), len(self.clients)
        began = checked = time.monotonic()
        for client in self.clients:
            client.send_window()
        while busy:
            for number, _ in self.poll.poll(1):
                if number == upstream:
                    self.upstream.read()
                else:
                    busy -= self.serve(self.by_socket[number])
            now = time.monotonic()
            if now - began > TIMEOUT:
                sys.exit(f"{busy} clients are still without answers after {TIMEOUT} seconds")
            if now - checked > 1:
                checked = now
                for client in self.clients:
                    client.send_again(now)
        return time.monotonic() - began


def print_zone(names):
    print('local-zone: "local.example." static')
    for name in names:
        if name.local:
            family = socket.AF_INET6 if name.type == AAAA else socket.AF_INET
            kind = "AAAA" if name.type == AAAA else "A"
            print(f'local-data: "{name.text}. {kind} {socket.inet_ntop(family, name.address())}"')


def main():
    names = [Name(number) for number in range(NAMES)]
    if sys.argv[1:] == ["zone"]:
        print_zone(names)
        return
    kind, (port, upstream_port, count, queries) = sys.argv[1], map(int, sys.argv[2:])
    upstream = Upstream(upstream_port, names, kind == "mixed")
    clients = [Client(number, port, names, queries, RETRY[kind]) for number in range(count)]
    seconds = Load(clients, upstream).run()
    print(f"{count * queries} answers verified, {upstream.queries} asked upstream, "
          f"{sum(client.resent for client in clients)} sent again, {seconds:.3f} seconds")


main()
