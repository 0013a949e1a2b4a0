"""A cluster of real servers: three primaries, each with a replica."""

import time

from servers import Server, wait_for

SLOTS = 16384


class Cluster:
    """Node 0 to 2 begin as primaries, node 3 to 5 as their replicas."""

    def __init__(self, engine, replicas=True):
        settings = {
            "cluster_enabled": "yes",
            "cluster_node_timeout": 1000,
            "cluster_config_file": "nodes.conf",
        }
        self.nodes = []
        try:
            for _ in range(6 if replicas else 3):
                self.nodes.append(Server(engine, **settings))
            self.form()
        except BaseException:
            self.stop()
            raise

    def form(self):
        primaries = self.nodes[:3]
        for place, node in enumerate(primaries):
            first, last = SLOTS * place // 3, SLOTS * (place + 1) // 3 - 1
            node("CLUSTER ADDSLOTSRANGE", first, last)
        for number, node in enumerate(self.nodes):
            node("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for node in self.nodes[1:]:
            node("CLUSTER MEET", "127.0.0.1", self.nodes[0].port)
        wait_for(lambda: all(len(self.view(node)) == len(self.nodes) for node in self.nodes))
        for replica, primary in zip(self.nodes[3:], primaries):
            replica("CLUSTER REPLICATE", self.id(primary))
        wait_for(lambda: all(self.is_ready(node) for node in self.nodes))

    def view(self, node):
        """What a node knows of all nodes: id to (port, flags)."""
        lines = node.raw("CLUSTER", "NODES").decode().splitlines()
        known = {}
        for line in lines:
            identity, address, flags, *_ = line.split()
            known[identity] = (int(address.split("@")[0].split(":")[1]), flags.split(","))
        return known

    def is_ready(self, node):
        info = node.raw("CLUSTER", "INFO")
        if b"cluster_state:ok" not in info:
            return False
        replication = node.client.info("replication")
        if replication["role"] == "slave" and replication["master_link_status"] != "up":
            return False
        replicas = [flags for _, flags in self.view(node).values() if "slave" in flags]
        return len(replicas) == len(self.nodes) - 3

    def id(self, node):
        return node.raw("CLUSTER", "MYID").decode()

    def owner(self, key):
        """The primary that serves a key now."""
        slot = self.nodes[0].raw("CLUSTER", "KEYSLOT", key)
        for node in self.nodes:
            if node.process.poll() is not None:
                continue
            for first, last, primary, *_ in node.raw("CLUSTER", "SLOTS"):
                if first <= slot <= last:
                    return next(n for n in self.nodes if n.port == primary[1])
        raise AssertionError(f"nobody serves slot {slot}")

    def wait_until_owned_by_another(self, key, lost, seconds=30):
        start = time.monotonic()

        def moved():
            try:
                owner = self.owner(key)
                return owner is not lost and b"cluster_state:ok" in owner.raw("CLUSTER", "INFO")
            except (AssertionError, StopIteration):
                return False

        wait_for(moved, seconds)
        return time.monotonic() - start

    def stop(self):
        for node in self.nodes:
            node.stop()
