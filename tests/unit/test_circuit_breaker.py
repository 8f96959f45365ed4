"""A circuit opens after some misses, lets one call through after a rest, and closes with an answer."""

from __future__ import annotations

from datetime import timedelta

from mnemic.runtime.circuit_breaker import CircuitBreaker
from mnemic.testing.clock import ManualClock


def test_it_opens_after_misses_in_a_row() -> None:
    circuit = CircuitBreaker(ManualClock().monotonic, failures=2)
    circuit.count_timeout()
    circuit.close_circuit()
    circuit.count_timeout()
    assert circuit.allows()
    circuit.count_timeout()
    assert not circuit.allows()


def test_one_call_is_let_through_after_a_rest() -> None:
    clock = ManualClock()
    circuit = CircuitBreaker(clock.monotonic, failures=1, rest=timedelta(seconds=5))
    circuit.count_timeout()
    clock.advance(timedelta(seconds=5))
    assert [circuit.allows(), circuit.allows()] == [True, False]
    circuit.count_timeout()
    assert not circuit.allows()
    clock.advance(timedelta(seconds=5))
    assert circuit.allows()
    circuit.close_circuit()
    assert [circuit.allows(), circuit.allows()] == [True, True]
