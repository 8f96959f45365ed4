"""Too many connections push out those that wait longest; one that is being answered stays."""

from __future__ import annotations

import resource

import pytest

from mnemic_server.connections import Connections, networks, place_of


class Opened:
    """A connection that knows whether it was cut off."""

    def __init__(self) -> None:
        self.gone = False

    def cut(self) -> None:
        self.gone = True


def several(connections: Connections, number: int, address: str = "192.0.2.1") -> list[Opened]:
    made = [Opened() for _ in range(number)]
    assert all(connections.note_opened(one, address) for one in made)
    return made


def test_one_too_many_pushes_out_the_one_that_has_waited_longest() -> None:
    connections = Connections(most=3, per_address=100)
    first, second, third = several(connections, 3)
    connections.answering(first)
    several(connections, 1)
    assert (first.gone, second.gone, third.gone, len(connections)) == (False, True, False, 3)


def test_whoever_was_answered_before_goes_after_those_who_never_were() -> None:
    connections = Connections(most=2, per_address=100)
    known, stranger = several(connections, 2)
    connections.answering(known)
    connections.waiting(known)
    several(connections, 1)
    assert (known.gone, stranger.gone) == (False, True)
    connections.answering(*several(connections, 1))
    several(connections, 1)
    assert known.gone


def test_where_all_are_being_answered_there_is_no_room() -> None:
    connections = Connections(most=2, per_address=100)
    for one in several(connections, 2):
        connections.answering(one)
    assert not connections.note_opened(Opened(), "192.0.2.9")
    assert len(connections) == 2


def test_one_address_pushes_out_its_own() -> None:
    connections = Connections(most=100, per_address=2)
    others = several(connections, 2, "192.0.2.7")
    own = several(connections, 3, "192.0.2.1")
    assert [one.gone for one in own] == [True, False, False]
    assert not any(one.gone for one in others)
    for one in own[1:]:
        connections.answering(one)
    assert not connections.note_opened(Opened(), "192.0.2.1")
    connections.note_closed(own[1])
    assert connections.note_opened(Opened(), "192.0.2.1")


def test_a_proxy_may_bring_as_many_as_there_are() -> None:
    connections = Connections(most=100, per_address=2, proxies=networks("192.0.2.0/30"))
    assert not any(one.gone for one in several(connections, 50, "192.0.2.1"))


def test_what_is_closed_is_forgotten() -> None:
    connections = Connections()
    for one in several(connections, 5):
        connections.note_closed(one)
        connections.note_closed(one)
        connections.waiting(one)
    assert len(connections) == 0
    assert not connections._addresses


def test_files_are_left_for_the_rest_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for files, most in ((256, 128), (1024, 896), (100_000, 4096), (resource.RLIM_INFINITY, 4096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert Connections().most == most


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::1", "::1"),
        ("", ""),
        ("a.socket", "a.socket"),
    ],
)
def test_an_address_is_counted_by_what_one_subscriber_has(address: str, place: str) -> None:
    assert place_of(address) == place
