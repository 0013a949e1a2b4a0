"""A server with the module, and `redis-cli` on it until that is left. `cargo xtask redis` runs it."""

import subprocess
import sys

from servers import Server

server = Server(sys.argv[1])
try:
    print(f"{server.engine} on port {server.port}; try LATELY.HELP, leave with quit", flush=True)
    subprocess.run(["redis-cli", "-p", str(server.port)], check=False)
finally:
    server.stop()
