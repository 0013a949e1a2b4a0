"""How long commands keep a server from all others: the time that its main thread is at work.

Not how long anything takes: whoever else is at work on this machine does not count. But a machine has hiccups
that do count, when a hypervisor pauses it or the system tidies its memory. What is ours comes again at the same
step of the same scenario, and what is the machine's does not: so a scenario with a slow step is played again,
on a new server, and each step is taken at its best. A machine that is slow all along is asked how slow it is:
a step that seems to take too long is followed by a script of the same length every time.
"""

import pathlib

import redis
from servers import Server

LIMIT = 5e-3
# How often a scenario is played before a slow step is ours.
TURNS = 5
# What a server takes for a script on a machine that is not slow.
SCRIPT = "local x = 0 for i = 1, 200000 do x = (x * 3 + i) % 1000003 end return x"
SCRIPT_TAKES = 5e-3


class Work:
    """What the main thread of a server does, step by step."""

    def __init__(self, server, limit=LIMIT):
        self.server = server
        self.limit = limit
        pid = server.process.pid
        self.told = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat")
        # The name of each step, and what it took.
        self.steps = []

    def spent(self):
        # The system counts when the thread pauses; it does, because this question is another command.
        self.server("PING")
        return int(self.told.read_text().split()[0]) / 1e9

    def __call__(self, *words, may_fail=False):
        """Runs a command, and keeps what it took."""
        before = self.spent()
        try:
            answer = self.server(*words)
        except redis.ResponseError as error:
            if not may_fail:
                raise
            answer = error
        taken = self.spent() - before
        if taken > self.limit:
            taken /= self.slowness()
        # The field of `LATELY.INFO` is part of its name.
        name = f"{words[0]} {words[2]}" if words[0] == "LATELY.INFO" and len(words) == 3 else words[0]
        self.steps.append((name, taken))
        return answer

    def slowness(self):
        """How many times as long as elsewhere anything takes here and now."""
        before = self.spent()
        self.server("EVAL", SCRIPT, 0)
        return max(1, (self.spent() - before) / SCRIPT_TAKES)

    def most(self):
        """What commands took at most, by name."""
        most = {}
        for name, taken in self.steps:
            most[name] = max(taken, most.get(name, 0))
        return most


def slow_steps(engine, scenario, limit=LIMIT):
    """Plays a scenario, a function of a server and its work, and tells of steps that took longer than the limit
    every time."""
    best = None
    for _ in range(TURNS):
        server = Server(engine)
        try:
            work = Work(server, limit)
            scenario(server, work)
            assert server.is_alive()
            assert server.client.info("lately")["lately_caught_faults"] == 0
        finally:
            server.stop()
        assert work.steps, "a scenario has steps"
        assert best is None or len(best) == len(work.steps), "a scenario is the same every time"
        best = [min(pair, key=lambda step: step[1]) for pair in zip(best or work.steps, work.steps)]
        slow = [(name, f"{1000 * taken:.1f} ms") for name, taken in best if taken > limit]
        if not slow:
            break
    return slow
