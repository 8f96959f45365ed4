"""Data keys: sealing, destroying, rotating, and the errors for a wrong key."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidConfig, KeyFailed
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.types import Level, Scope

ANA = Scope(tenant="acme", level=Level.USER, owner="ana")
BEN = Scope(tenant="acme", level=Level.USER, owner="ben")


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    MasterKeys.make(tmp_path / "master.key")
    return tmp_path / "master.key"


@pytest.fixture
def keys(tmp_path: Path, key_file: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys", key_file)


def again(keys: KeyFolder) -> KeyFolder:
    """The same folder in another process."""
    return KeyFolder(keys._path, keys._key_file)


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


@given(plain=st.binary(max_size=300), bound=st.binary(max_size=30))
def test_what_is_sealed_opens_again_and_only_as_it_was_bound(
    plain: bytes, bound: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("keys")
    MasterKeys.make(folder / "master.key")
    keys = KeyFolder(folder / "keys", folder / "master.key")
    sealed = keys.seal(ANA, plain, bound)
    assert keys.open(sealed, bound) == plain
    assert again(keys).open(sealed, bound) == plain
    with pytest.raises(KeyFailed, match="key_failed:damaged"):
        keys.open(sealed, bound + b"!")


def test_any_changed_byte_is_noticed(keys: KeyFolder) -> None:
    sealed = keys.seal(ANA, b"jane@acme.com", b"here")
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(KeyFailed):
            keys.open(bytes(changed), b"here")


def test_subjects_have_keys_of_their_own_and_stay_unnamed(keys: KeyFolder, tmp_path: Path) -> None:
    sealed = keys.seal(ANA, b"one", b"")
    assert not keys.holds(BEN)
    keys.seal(BEN, b"two", b"")
    assert keys.destroy(BEN)
    assert keys.open(sealed, b"") == b"one"
    assert b"ana" not in everything(tmp_path / "keys")
    assert "ana" not in " ".join(str(file) for file in (tmp_path / "keys").rglob("*"))


def test_a_destroyed_key_is_gone_in_every_process(keys: KeyFolder, tmp_path: Path) -> None:
    other = again(keys)
    sealed = keys.seal(ANA, b"one", b"")
    assert other.open(sealed, b"") == b"one"
    assert keys.destroy(ANA)
    for each in (keys, other, again(keys)):
        with pytest.raises(KeyFailed, match="key_failed:destroyed"):
            each.open(sealed, b"")
        assert not each.holds(ANA)
    assert not keys.destroy(ANA)
    assert b"wrapped" not in everything(tmp_path / "keys")


def test_a_new_key_does_not_open_what_the_destroyed_one_sealed(keys: KeyFolder) -> None:
    old = keys.seal(ANA, b"one", b"")
    keys.destroy(ANA)
    new = keys.seal(ANA, b"two", b"")
    assert keys.open(new, b"") == b"two"
    with pytest.raises(KeyFailed, match="key_failed:destroyed"):
        keys.open(old, b"")


def test_another_folder_is_missing_and_not_destroyed(keys: KeyFolder, tmp_path: Path, key_file: Path) -> None:
    sealed = keys.seal(ANA, b"one", b"")
    with pytest.raises(KeyFailed, match="key_failed:missing"):
        KeyFolder(tmp_path / "elsewhere", key_file).open(sealed, b"")


def test_another_master_key_is_told(keys: KeyFolder, tmp_path: Path) -> None:
    sealed = keys.seal(ANA, b"one", b"")
    MasterKeys.make(tmp_path / "other.key")
    with pytest.raises(KeyFailed, match="key_failed:wrong_key"):
        KeyFolder(tmp_path / "keys", tmp_path / "other.key").open(sealed, b"")


def test_rotation_wraps_every_key_anew_and_other_processes_follow(keys: KeyFolder, tmp_path: Path) -> None:
    other = again(keys)
    sealed = [keys.seal(who, b"said", b"") for who in (ANA, BEN)]
    before = MasterKeys.read(tmp_path / "master.key")
    assert keys.rotate() == 2
    assert keys.count() == (2, 0, 0)
    after = MasterKeys.read(tmp_path / "master.key")
    assert len(after.keys) == 1
    assert after.first.name != before.first.name
    for each in (keys, other, again(keys)):
        assert [each.open(one, b"") for one in sealed] == [b"said"] * 2
    made_later = other.seal(Scope(tenant="acme", level=Level.USER, owner="cleo"), b"new", b"")
    assert again(keys).open(made_later, b"") == b"new"
    assert before.first.name.encode() not in everything(tmp_path / "keys")


def test_a_rotation_that_was_cut_off_goes_on(keys: KeyFolder, tmp_path: Path, key_file: Path) -> None:
    sealed = keys.seal(ANA, b"said", b"")
    begun = MasterKeys.read(key_file).with_next_key()
    begun.store(key_file)
    assert again(keys).open(sealed, b"") == b"said"
    assert again(keys).rotate() == 1
    assert MasterKeys.read(key_file).keys == begun.keys[:1]
    assert again(keys).open(sealed, b"") == b"said"


def test_another_data_key_seals_and_both_open_until_the_first_is_retired(keys: KeyFolder) -> None:
    old, name, other = keys.seal(ANA, b"one", b"here"), keys.subject_name(ANA), again(keys)
    followed = keys.follow([name, keys.subject_name(BEN)])
    assert followed == {name: 2}
    assert keys.follow([name]) == followed  # it goes on
    assert keys.count() == (1, 0, 1)
    assert other.open(old, b"here") == b"one"
    new = other.reseal_value(old, b"here")
    assert new is not None
    assert (other.reseal_value(new, b"here"), keys.open(new, b"here")) == (None, b"one")
    assert keys.rotate() == 1
    assert (keys.open(old, b"here"), again(keys).open(new, b"here")) == (b"one", b"one")
    assert keys.retire({name: 1}) == 0  # of an earlier rotation
    assert keys.retire(followed) == 1
    for each in (keys, other, again(keys)):
        assert each.open(new, b"here") == b"one"
        assert each.reseal_value(old, b"here") is None
        with pytest.raises(KeyFailed, match="key_failed:rotated"):
            each.open(old, b"here")
    assert keys.count() == (1, 0, 0)
    keys.follow([name])
    assert keys.destroy(ANA)
    for sealed in (old, new):
        with pytest.raises(KeyFailed, match="key_failed:destroyed"):
            keys.open(sealed, b"here")


def test_under_the_wrong_master_key_no_data_key_is_changed(keys: KeyFolder, tmp_path: Path) -> None:
    sealed = keys.seal(ANA, b"one", b"")
    MasterKeys.make(tmp_path / "other.key")
    with pytest.raises(KeyFailed, match="key_failed:wrong_key"):
        KeyFolder(tmp_path / "keys", tmp_path / "other.key").follow([keys.subject_name(ANA)])
    assert keys.open(sealed, b"") == b"one"


def test_many_threads_make_one_key(keys: KeyFolder) -> None:
    rings = [again(keys) for _ in range(8)]
    sealed: list[bytes] = []
    threads = [threading.Thread(target=lambda ring=ring: sealed.append(ring.seal(ANA, b"x", b""))) for ring in rings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [keys.open(one, b"") for one in sealed] == [b"x"] * 8
    assert keys.count() == (1, 0, 0)


def test_only_the_owner_reads_any_of_it(keys: KeyFolder, tmp_path: Path) -> None:
    keys.seal(ANA, b"x", b"")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 4
    assert {stat.S_IMODE(os.stat(file).st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("text", [b"", b"not base64!", b"c2hvcnQ=", b"x" * 2000])
def test_a_file_that_is_no_key_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.key").write_bytes(text)
    with pytest.raises(InvalidConfig, match="invalid_config:key_file"):
        KeyFolder(tmp_path / "keys", tmp_path / "bad.key")


def test_a_key_file_is_never_written_over(key_file: Path) -> None:
    before = key_file.read_bytes()
    with pytest.raises(InvalidConfig, match="invalid_config:key_file"):
        MasterKeys.make(key_file)
    assert key_file.read_bytes() == before
    with pytest.raises(InvalidConfig, match="invalid_config:key_file"):
        MasterKeys.read(key_file.with_name("absent"))


def test_nothing_shows_a_key(keys: KeyFolder, key_file: Path) -> None:
    master = MasterKeys.read(key_file)
    assert repr(master.first.value) not in repr(master)
    assert key_file.read_text().strip() not in repr(vars(keys))
