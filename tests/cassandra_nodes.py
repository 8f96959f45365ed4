"""Real Cassandra nodes for tests, on loopback addresses, each with a folder, stopped by whoever started them."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from bench.cpu_shares import STARTING, Shares

JARS = Path(__file__).parent.parent / "build" / "cassandra" / "jars"
"""Folder into which `make cassandra` fetches the jars."""

_WAIT_SECONDS = 240.0
_FIRST_RING_DELAY = 3000
"""Milliseconds that a node waits for the others to hear of it before anything is written. The server's default is
30,000."""

_ADDED_RING_DELAY = 15_000
"""The same for a node that joins or leaves during writes: where gossip takes longer, quorums may not overlap."""

_LOOPBACK = ("link", "set", "lo", "up")
_OPENED = {
    "java.base": "java.io java.lang java.lang.module java.lang.reflect java.nio java.util java.util.concurrent"
    " java.util.concurrent.atomic jdk.internal.loader jdk.internal.math jdk.internal.module jdk.internal.ref"
    " jdk.internal.reflect jdk.internal.util.jar sun.nio.ch",
    "jdk.management": "com.sun.management.internal",
}
_EXPORTED = {
    "java.base": "java.lang.ref jdk.internal.misc jdk.internal.ref sun.nio.ch",
    "java.management.rmi": "com.sun.jmx.remote.internal.rmi",
    "java.rmi": "sun.rmi.registry sun.rmi.server",
    "java.sql": "java.sql",
    "jdk.unsupported": "sun.misc",
}
_SETTINGS = """
cluster_name: mnemic
num_tokens: 8
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: group
commitlog_sync_group_window: 2ms
data_file_directories: [{folder}/data]
commitlog_directory: {folder}/commitlog
saved_caches_directory: {folder}/saved
hints_directory: {folder}/hints
cdc_raw_directory: {folder}/cdc
listen_address: {address}
rpc_address: {address}
storage_port: {storage}
native_transport_port: {native}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "{seed}:{storage}"}}]
endpoint_snitch: GossipingPropertyFileSnitch
paxos_variant: v2
memtable_heap_space: 96MiB
memtable_offheap_space: 96MiB
concurrent_reads: 16
concurrent_writes: 16
auto_snapshot: false
storage_compatibility_mode: NONE
"""
_LOGGING = """<configuration><appender name="F" class="ch.qos.logback.core.FileAppender">
<file>{folder}/system.log</file>
<encoder><pattern>%-5level %date{{ISO8601}} %logger{{20}} - %msg%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="F"/></root></configuration>"""


def at_hand() -> bool:
    """Check whether nodes can be started here: Java, and the jars that `make cassandra` fetches."""
    return shutil.which("java") is not None and (JARS / ".complete").exists()


def _flags(option: str, packages: dict[str, str]) -> list[str]:
    return [
        word
        for module, names in packages.items()
        for name in names.split()
        for word in (option, f"{module}/{name}=ALL-UNNAMED")
    ]


class Network:
    """A bridge of its own with a network namespace for each node, so that one can be cut off. Needs root and `ip`.

    There is one at a time on a machine, for all have the same addresses. What a process that was killed has left is
    removed first: its bridge would take what is sent to the new nodes.
    """

    def __init__(self) -> None:
        self._lock = (Path(tempfile.gettempdir()) / "mnemic-network.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise RuntimeError("another process has a network of nodes on this machine") from None
        self._remove_left()
        self.prefix = f"mn{os.getpid() % 10000}"
        self._count = 0
        self._run("link", "add", self.prefix, "type", "bridge")
        self._run("addr", "add", "10.77.0.254/24", "dev", self.prefix)
        self._run("link", "set", self.prefix, "up")

    @staticmethod
    def at_hand() -> bool:
        """Check whether namespaces can be made here."""
        return os.geteuid() == 0 and shutil.which("ip") is not None

    def join(self, number: int) -> tuple[str, ...]:
        """Make the namespace of a node; the command that runs another one in it."""
        name, outer, inner = self._names(number)
        if number <= self._count:  # of a node that was taken away; its link goes with it
            self._run("netns", "del", name)
        self._run("netns", "add", name)
        self._count = max(self._count, number)
        self._run("link", "add", outer, "type", "veth", "peer", "name", inner)
        self._run("link", "set", inner, "netns", name)
        self._run("link", "set", outer, "master", self.prefix, "up")
        for words in (("addr", "add", f"10.77.0.{number}/24", "dev", inner), ("link", "set", inner, "up"), _LOOPBACK):
            self._run("-n", name, *words)
        return "ip", "netns", "exec", name

    def cut(self, number: int) -> None:
        """Cut a node off from everybody: what is sent is dropped without an answer."""
        self._run("link", "set", self._names(number)[1], "down")

    def mend(self, number: int) -> None:
        """Connect it again."""
        self._run("link", "set", self._names(number)[1], "up")

    def close(self) -> None:
        """Remove what was made."""
        for number in range(1, self._count + 1):
            subprocess.run(["ip", "netns", "del", self._names(number)[0]], check=False)
        subprocess.run(["ip", "link", "del", self.prefix], check=False)
        self._lock.close()

    @staticmethod
    def _remove_left() -> None:
        """Remove namespaces and bridges of processes that have ended without `close`."""
        for kind, names in (("netns", r"(?m)^(mn\d+n\d+)\b"), ("link", r"(?m)^\d+: (mn\d+):")):
            listed = subprocess.run(["ip", kind, "list"], check=True, capture_output=True, text=True).stdout
            for name in re.findall(names, listed):
                subprocess.run(["ip", kind, "del", name], check=False)

    def _names(self, number: int) -> tuple[str, str, str]:
        return f"{self.prefix}n{number}", f"{self.prefix}o{number}", f"{self.prefix}i{number}"

    def _run(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)


_CLOCK = """public class WrongClock implements org.apache.cassandra.utils.Clock {
    private static final long MORE = Long.getLong("mnemic.clock");
    public long nanoTime() { return System.nanoTime(); }
    public long currentTimeMillis() { return System.currentTimeMillis() + MORE; }
}"""


class Node:
    """One node: `start`, `kill`, `stop`."""

    def __init__(self, cluster: Cluster, number: int, *, ring_delay: int = _FIRST_RING_DELAY, clock: int = 0) -> None:
        self.number = number
        self._ring_delay = ring_delay
        self.address = cluster.address_of(number)
        self._inside = cluster.network.join(number) if cluster.network is not None else ()
        self.folder = cluster.folder / f"node{number}"
        self._jmx = _free_port()
        self._native = cluster.native
        self._heap = cluster.heap
        self._tier = cluster.tier
        self._shares = cluster.shares
        self._others_serve = ring_delay == _ADDED_RING_DELAY
        self.process: subprocess.Popen[bytes] | None = None
        self._spent = 0.0
        conf = self.folder / "conf"
        conf.mkdir(parents=True)
        settings = _SETTINGS.format(
            folder=self.folder,
            address=self.address,
            storage=cluster.storage,
            native=cluster.native,
            seed=cluster.address_of(1),
        )
        (conf / "cassandra.yaml").write_text(settings)
        (conf / "logback.xml").write_text(_LOGGING.format(folder=self.folder))
        (conf / "cassandra-rackdc.properties").write_text(f"dc={cluster.datacenter_of(number)}\nrack=rack1\n")
        self._clock = self._wrong(conf, clock) if clock else ()

    @staticmethod
    def _wrong(conf: Path, seconds: int) -> tuple[str, ...]:
        """Return the options of a node whose clock is wrong by so many seconds. Its clock is compiled by the JDK."""
        (conf / "WrongClock.java").write_text(_CLOCK)
        subprocess.run(["javac", "-cp", f"{JARS}/*", "-d", str(conf), str(conf / "WrongClock.java")], check=True)
        return "-Dcassandra.clock=WrongClock", f"-Dmnemic.clock={1000 * seconds}"

    def start(self) -> None:
        """Start it, for the first time or again, and return once it answers."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start it."""
        conf = self.folder / "conf"
        command = [
            *self._inside, "java", *_flags("--add-exports", _EXPORTED), *_flags("--add-opens", _OPENED),
            f"-Xms{self._heap}m", f"-Xmx{self._heap}m", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=384m",
            f"-XX:TieredStopAtLevel={self._tier}", "-XX:MetaspaceSize=192m", "-XX:ActiveProcessorCount=16",
            "-XX:-UseDynamicNumberOfCompilerThreads",
            "-Dcassandra.available_processors=2",
            "-Dio.netty.availableProcessors=2", f"-Dcassandra.config=file://{conf}/cassandra.yaml",
            f"-Dcassandra.storagedir={self.folder}", f"-Dlogback.configurationFile={conf}/logback.xml",
            f"-Dcassandra.jmx.local.port={self._jmx}", f"-Djava.io.tmpdir={self.folder}",
            "-Dcassandra-foreground=yes", f"-Dcassandra.ring_delay_ms={self._ring_delay}",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0", *self._clock, f"-javaagent:{JARS}/jamm-0.4.0.jar",
            "-cp", f"{conf}:{JARS}/*", "org.apache.cassandra.service.CassandraDaemon",
        ]  # fmt: skip
        with (self.folder / "out").open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder)
        if self._shares is not None:
            self._shares.put(f"node{self.number}", self.process.pid)
            self._shares.weigh(f"node{self.number}", STARTING if self._others_serve else None)

    def wait(self) -> None:
        """Return once it answers. One that starts while others serve has a small share of the processors until
        `settle`: on a machine to itself its compilers would take nothing from them.
        """
        until = time.monotonic() + _WAIT_SECONDS
        while not self._answers():
            if self.process is None or self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(self._told())
            time.sleep(0.2)

    def settle(self) -> None:
        """Give it the share of the others."""
        if self._shares is not None:
            self._shares.weigh(f"node{self.number}")

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process is not None and self.process.poll() is None:
            self._spent += cpu_seconds(self.process)
            self._others_serve = True
            self.process.kill()
            self.process.wait()

    @property
    def spent(self) -> float:
        """Seconds of processor that it has used, also before it was killed."""
        running = self.process is not None and self.process.poll() is None
        return self._spent + (cpu_seconds(self.process) if self.process is not None and running else 0.0)

    def nodetool(self, *words: str) -> str:
        """Return what the operator's command says."""
        opened = [*_flags("--add-exports", _EXPORTED), *_flags("--add-opens", _OPENED)]
        tool = [
            *self._inside,
            "java",
            *opened,
            "-cp",
            f"{self.folder / 'conf'}:{JARS}/*",
            "org.apache.cassandra.tools.NodeTool",
        ]
        ran = subprocess.run(
            [*tool, "-h", "127.0.0.1", "-p", str(self._jmx), *words], capture_output=True, text=True, timeout=600
        )
        if ran.returncode:
            raise RuntimeError(f"nodetool {words[0]} of node {self.number}: {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection((self.address, self._native), timeout=0.5):
            return True
        return False

    def _told(self) -> str:
        log = self.folder / "system.log"
        told = log.read_text(errors="replace") if log.exists() else (self.folder / "out").read_text(errors="replace")
        state = None if self.process is None else self.process.poll()
        said = "does not answer" if state is None else f"ended with {state}"
        errors = [line for line in told.splitlines() if line.startswith(("ERROR", "FATAL")) or "Exception: " in line]
        return "\n".join([f"node {self.number} {said}:", *errors[-10:], told[-1500:]])


class Cluster:
    """Nodes on 127.0.0.1, 127.0.0.2 and so on, or in the namespaces of `network`, each with its share of the processors
    where `shares` are given. `datacenters` names those of the nodes, `clocks` gives the seconds by which the clocks of
    nodes are wrong. `tier`: 1 for Java's quick compiler alone, 4 for both. The thorough one takes 20 seconds of
    processor in the first minutes of each node, and again when a node is gone and code must be compiled anew; on a
    machine that all nodes share they take it from each other.
    """

    def __init__(
        self,
        count: int = 1,
        *,
        heap: int = 640,
        tier: int = 1,
        network: Network | None = None,
        shares: Shares | None = None,
        datacenters: Sequence[str] = (),
        clocks: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mnemic-cassandra-"))
        self.heap = heap
        self.tier = tier
        self.network = network
        self.shares = shares
        self.native, self.storage = _free_port(), _free_port()
        self._datacenters = datacenters
        self.nodes = [Node(self, number, clock=clocks.get(number, 0)) for number in range(1, count + 1)]
        self._ever = list(self.nodes)

    def address_of(self, number: int) -> str:
        """Return the address of a node."""
        return f"{'127.0.0' if self.network is None else '10.77.0'}.{number}"

    def datacenter_of(self, number: int) -> str:
        """Return the datacenter of a node."""
        return self._datacenters[number - 1] if self._datacenters else "datacenter1"

    def url(self, keyspace: str = "mnemic", **options: object) -> str:
        """Return the address of a keyspace for the store."""
        hosts = ",".join(node.address for node in self.nodes)
        told = "&".join(f"{name}={value}" for name, value in options.items())
        return f"cassandra://{hosts}:{self.native}/{keyspace}?{told}".rstrip("?")

    def start(self) -> None:
        """Start one node after the other, as a cluster wants it."""
        for node in self.nodes:
            node.start()

    def add(self) -> Node:
        """Return one more node, not started yet."""
        self.nodes.append(Node(self, len(self.nodes) + 1, ring_delay=_ADDED_RING_DELAY))
        self._ever.append(self.nodes[-1])
        return self.nodes[-1]

    def spent(self) -> float:
        """Return the seconds of processor of all nodes so far, also of those that were taken away."""
        return sum(node.spent for node in self._ever)

    def compiled(self) -> float:
        """Return the seconds of processor that the compilers of the running nodes took."""
        return sum(_compilers_seconds(node.process) for node in self.nodes if node.process is not None)

    def stop(self) -> None:
        """End every node and remove its files."""
        for node in self.nodes:
            node.kill()
        if self.network is not None:
            self.network.close()
        if self.shares is not None:
            self.shares.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _compilers_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of the threads in which a Java process compiles."""
    total = 0
    for task in Path(f"/proc/{process.pid}/task").glob("*/stat"):
        with suppress(OSError):  # a thread that has ended
            name, fields = task.read_text().rsplit(")", 1)
            if "(C1 Compiler" in name or "(C2 Compiler" in name:
                total += sum(map(int, fields.split()[11:13]))
    return total / os.sysconf("SC_CLK_TCK")
