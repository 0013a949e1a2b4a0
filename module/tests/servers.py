"""Real servers for the tests: started on loopback with ports of their own, always stopped again."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

MODULE = os.environ["LATELY_MODULE"]
ENGINES = dict(pair.split("=", 1) for pair in os.environ["LATELY_ENGINES"].split(","))


# What this process has claimed, until it ends.
CLAIMS = []


def free_port():
    """A port nobody listens on, whose cluster bus port (10000 above) is free too. Other workers look for theirs at the
    same time, and a server listens only later: so both are claimed, by names that nobody else can have."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port > 50000:
            continue
        with socket.socket() as bus:
            try:
                bus.bind(("127.0.0.1", port + 10000))
                for claimed in (port, port + 10000):
                    claim = socket.socket(socket.AF_UNIX)
                    claim.bind(f"\0lately-port-{claimed}")
                    CLAIMS.append(claim)
                return port
            except OSError:
                continue


class Server:
    """One server process with the module, in a folder of its own."""

    def __init__(self, engine, folder=None, load=True, before=(), **settings):
        self.engine = engine
        # Words of a program that runs the server, if one does.
        self.before = before
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="lately-server-"))
        self.port = settings.pop("port", None) or free_port()
        self.load = load
        self.settings = settings
        self.process = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        arguments = [*self.before, ENGINES[self.engine]]
        arguments += ["--port", str(self.port), "--bind", "127.0.0.1"]
        settings = {
            "dir": str(self.folder),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
            "enable-debug-command": "yes",
            "repl-diskless-sync-delay": "0",
            "logfile": str(self.folder / "log"),
        } | self.settings
        if self.load:
            arguments += ["--loadmodule", MODULE]
            # What a test sees is what it did; the tests of the keeper want it.
            settings = {"lately.expire-idle": "no"} | settings
        for name, value in settings.items():
            arguments += [f"--{name.replace('_', '-')}"] + str(value).split("\n")
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, cwd=self.folder)
        self.client = self.connect()
        self.wait_until_ready()

    def connect(self, protocol=2, **options):
        options |= {"host": "127.0.0.1", "port": self.port, "socket_timeout": 60}
        options = {"password": self.settings.get("requirepass")} | options
        # A test wants to see a connection break, at once.
        options |= {"retry": Retry(NoBackoff(), 0)}
        return redis.Redis(protocol=protocol, **options)

    def wait_until_ready(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                if not self.client.info("persistence")["loading"]:
                    return
            except (redis.ConnectionError, redis.BusyLoadingError):
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server ended:\n{self.log()}") from None
            if time.monotonic() > deadline:
                raise RuntimeError(f"the server does not answer:\n{self.log()}")
            time.sleep(0.01)

    def log(self):
        log = self.folder / "log"
        return log.read_text(errors="replace") if log.exists() else ""

    def is_alive(self):
        return self.process.poll() is None and self.client.ping()

    def kill(self):
        """As a power failure would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def shutdown(self, *how):
        try:
            self.client.execute_command("SHUTDOWN", *how)
        except redis.ConnectionError:
            pass
        self.process.wait(timeout=30)

    def restart(self, *how):
        self.shutdown(*how)
        self.start()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def digest(self, *keys):
        """What the engine and our digest say of keys: equal exactly if all bits and tallies are."""
        keys = keys or sorted(self.client.keys("*"))
        return self.client.execute_command("DEBUG", "DIGEST-VALUE", *keys)

    def raw(self, *words):
        """The answer as it came, past the client's own ideas about commands it knows."""
        connection = self.client.connection_pool.get_connection()
        connection.send_command(*words)
        answer = connection.read_response()
        self.client.connection_pool.release(connection)
        return answer

    def __call__(self, *words):
        return self.client.execute_command(*words)


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen in time")
        time.sleep(0.02)


def follow(replica, primary):
    replica("REPLICAOF", "127.0.0.1", primary.port)
    wait_for(lambda: replica.client.info("replication")["master_link_status"] == "up")


def wait_until_equal(replica, primary):
    wait_for(
        lambda: replica.client.info("replication")["slave_repl_offset"]
        == primary.client.info("replication")["master_repl_offset"]
    )
