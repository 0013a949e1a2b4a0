"""A command asks for memory in the filter that the last ones used, before it opens its key. Whatever
becomes of that filter in between, answers are right and the server lives."""

import random
import time

from conftest import reserve


def test_a_key_that_expires_while_it_is_opened(server):
    """The next filter of that key may come to lie where the old one was, and hash otherwise."""
    server("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    try:
        for round in range(200):
            for item in "abcd":
                server("LATELY.ADD", "k", item)
            server("PEXPIRE", "k", 1)
            time.sleep(0.002)
            server("LATELY.ADD", "k", f"x{round}")
            seen = server("LATELY.SEEN", "k", f"x{round}", "a", "b", "c", "d")
            # It would take three false positives in a filter with one item.
            assert seen[0] == 1 and sum(seen) < 4
            assert server("LATELY.ADD", "k", f"x{round}") == [0]
    finally:
        server("DEBUG", "SET-ACTIVE-EXPIRE", 1)


def test_filters_that_go_come_and_change_places(server, wish):
    """Runs of single items on a few keys, and between them everything that takes a filter away, replaces
    it or gives it another name; beside sets. What was added is seen."""
    random.seed(7)
    client, keys, model = server.client, ["a", "b", "c"], {}

    def there(key):
        if key not in model:
            reserve(server, key, wish)
            model[key] = set()
        return model[key]

    def forget(*names):
        for name in names:
            model.pop(name, None)

    def rename(one, other):
        there(one)
        client.rename(one, other)
        model[other] = model.pop(one)

    def copy(one, other):
        there(one)
        client.copy(one, other, replace=True)
        model[other] = set(model[one])

    def restore(one, other):
        there(one)
        client.restore(other, 0, client.dump(one), replace=True)
        model[other] = set(model[one])

    changes = [
        lambda one, other: (client.delete(one), forget(one)),
        lambda one, other: (client.unlink(one), forget(one)),
        lambda one, other: (server("FLUSHALL", "ASYNC"), forget(*keys)),
        lambda one, other: (client.set(one, "text"), client.delete(one), forget(one)),
        rename,
        copy,
        restore,
    ]
    for round in range(60):
        key = random.choice(keys)
        seen = there(key)
        for number in range(random.randrange(5)):
            item = f"{round}:{number}"
            server("LATELY.ADD", key, item)
            assert server("LATELY.SEEN", key, item) == [1]
            seen.add(item)
        # The window is longer than what a filter gets here.
        for item in sorted(seen)[-3:]:
            assert server("LATELY.ADD", key, item) == [0]
        random.choice(changes)(*random.sample(keys, 2))
