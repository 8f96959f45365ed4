"""Everything that changes a store passes one function, and inside it one method."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import Module, modules

UNIT_OF_WORK = "unit_of_work.py"
STORES = frozenset({"stores", "testing"})
"""The rooms that implement a store, or test one."""
WRITES = frozenset(
    {"insert", "replace", "remove", "append_audit", "enqueue", "remember_request", "remove_requests", "put_mark"}
)
"""The methods of a transaction that write (`mnemic.ports.Transaction`)."""
OWN_TRANSACTIONS = {
    # The port `RecordStore` over a `RowStore`: its transaction, and the methods of its parts that change rows.
    "stores/row_store_adapter/store.py": {
        "open", "transact", "begin_space", "fill", "switch_space", "secret", "adopt", "seal", "reseal",
        "acknowledge", "register", "unregister",
    },
    # Journals into the chain of the tenant; totals of tenants (decision 0085).
    "stores/cassandra/journal.py": {"collect"},
    "stores/cassandra/tenant_totals.py": {"begin"},
}  # fmt: skip
"""Functions of stores that begin a transaction (decision 0004)."""


def calls(module: Module) -> Iterator[ast.Attribute]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func


def outside() -> list[Module]:
    """The modules that are neither a store, nor made for testing one, nor the unit of work."""
    return [one for one in modules() if one.room not in STORES and one.name != UNIT_OF_WORK]


def test_only_the_unit_of_work_opens_a_transaction_and_writes_in_it() -> None:
    found = [
        f"{module.name}:{call.lineno}"
        for module in outside()
        for call in calls(module)
        if call.attr == "transact"
        or (call.attr in WRITES and isinstance(call.value, ast.Name) and call.value.id in ("tx", "transaction"))
    ]
    assert found == []
    # A method that was renamed would leave the list above without meaning.
    (unit_of_work,) = (one for one in modules() if one.name == UNIT_OF_WORK)
    assert {call.attr for call in calls(unit_of_work)} >= WRITES | {"transact"}


def test_stores_begin_no_other_transactions() -> None:
    begun: dict[str, set[str]] = {}
    for module in modules():
        for function in module.functions() if module.room in STORES - {"testing"} else ():
            called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
            if any(isinstance(call, ast.Attribute) and call.attr == "transact" for call in called):
                begun.setdefault(module.name, set()).add(function.name)
    assert begun == OWN_TRANSACTIONS
