"""Seeded streams of commands, and what is asked afterwards."""

import random


def items(seed, count, distinct):
    """Items with repeats at all distances, the same for the same seed."""
    draw = random.Random(seed)
    return [b"item %d" % int(distinct ** draw.random()) for _ in range(count)]


def fill(server, key, seed, count, distinct=5000, batch=50):
    """Inserts a stream through pipelines; what each item was answered."""
    answers = []
    stream = items(seed, count, distinct)
    for start in range(0, count, 20 * batch):
        pipe = server.client.pipeline(transaction=False)
        for part in range(start, min(start + 20 * batch, count), batch):
            words = stream[part : part + batch]
            command = "LATELY.ADDNX" if (part // batch) % 5 == 4 else "LATELY.ADD"
            pipe.execute_command(command, key, *words)
        for answer in pipe.execute():
            answers += answer
    return answers


def ask(server, key, distinct=6000):
    """Whether each of many items is in the window, at one moment of the server's clock."""
    return server("LATELY.SEEN", key, *(b"item %d" % i for i in range(distinct)))
