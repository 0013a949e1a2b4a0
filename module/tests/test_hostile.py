"""Whatever is sent, the server lives and answers."""

import random

import redis
from conftest import WISHES, reserve

NUMBERS = [
    0, 1, -1, 2, 100, 2**31, 2**32, 2**48, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30,
    0.5, 1e-9, 1e-300, -0.5, "nan", "inf", "-inf", "1e6", "1e400", "0x10", "1_000", "10m", "8MiB",
    "99999999999TiB", "0.1%", "", " ", "\0", "1 ", "+1",
]
WORDS = [
    "LAST", "WITHIN", "EVER", "ERROR", "MEMORY", "SLACK", "CAPACITY", "COUNTING", "STRUCTURE",
    "KEYED", "SEED", "SECRET", "BLOOM", "REPLACE", "TALLY", "ITEMS", "NOCREATE", "NONSCALING",
    "EXPANSION", "double-buffer", "compact-short-hash", "bytes", "SIZE", "AT", "00" * 16,
]  # fmt: skip
COMMANDS = [
    "LATELY.RESERVE", "LATELY.ADD", "LATELY.INSERT", "LATELY.ADDAT", "LATELY.ADDNX", "LATELY.ADDNXAT", "LATELY.SEEN",
    "LATELY.SEENAT", "LATELY.COUNT", "LATELY.COUNTAT", "LATELY.INCRBY", "LATELY.INCRBYAT", "LATELY.LIMIT", "LATELY.LIMITAT",
    "LATELY.ADDHASHES", "LATELY.SEENHASHES", "LATELY.TURNBACK", "LATELY.MERGE", "LATELY.CARD", "LATELY.INFO", "LATELY.DUMP", "LATELY.LOAD", "LATELY.PLAN", "LATELY.HELP",
    "BF.RESERVE", "BF.ADD", "BF.MADD", "BF.INSERT", "BF.EXISTS", "BF.MEXISTS", "BF.CARD", "BF.INFO",
    "BF.SCANDUMP", "BF.LOADCHUNK",
]  # fmt: skip
KEYS = ["k0", "k1", "k2", "k3", "text", "list", "missing"]


def damaged(draw, snapshot):
    snapshot = bytearray(snapshot)
    choice = draw.random()
    if choice < 0.4:
        return bytes(snapshot[: draw.randrange(len(snapshot) + 1)])
    if choice < 0.8:
        for _ in range(draw.randrange(1, 5)):
            snapshot[draw.randrange(min(len(snapshot), 120))] = draw.randrange(256)
        return bytes(snapshot)
    return bytes(snapshot) + draw.randbytes(draw.randrange(1, 100))


def hostile(draw, snapshots):
    command = draw.choice(COMMANDS)
    words = [] if draw.random() < 0.05 else [draw.choice(KEYS)]
    if command == "LATELY.LOAD" and draw.random() < 0.9:
        words.append(damaged(draw, draw.choice(snapshots)))
    if command == "BF.LOADCHUNK" and draw.random() < 0.9:
        chunk = draw.randbytes(8) + bytes(40) + damaged(draw, draw.choice(snapshots))
        words += [draw.choice([len(chunk) + 1, 1, 0, draw.choice(NUMBERS)]), chunk]
    for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 4, 6, 30])):
        kind = draw.random()
        if kind < 0.4:
            words.append(draw.choice(NUMBERS))
        elif kind < 0.8:
            words.append(draw.choice(WORDS))
        else:
            words.append(draw.randbytes(draw.choice([0, 1, 8, 1000])))
    return command, words


def test_ten_thousand_hostile_commands(server):
    draw = random.Random(2024)
    server("CONFIG", "SET", "lately.max-key-bytes", "4mb")
    server("SET", "text", "x")
    server("RPUSH", "list", "x")
    for number, wish in enumerate(WISHES.values()):
        reserve(server, f"k{number}", wish.split())
        server("LATELY.ADD", f"k{number}", *range(100))
    snapshots = [server("LATELY.DUMP", key) for key in server.client.keys("k*")]
    refused = 0
    for number in range(10_000):
        command, words = hostile(draw, snapshots)
        try:
            server(command, *words)
        except redis.ResponseError as refusal:
            assert "internal fault" not in str(refusal), (command, words)
            refused += 1
        if number % 1000 == 999:
            assert server.is_alive()
    assert refused > 3000
    # Whatever is stored now can be saved and opened again.
    digest = server.digest()
    server("DEBUG", "RELOAD")
    assert server.digest() == digest
    server("CONFIG", "SET", "lately.max-key-bytes", 0)
