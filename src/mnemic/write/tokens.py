"""What policy took out of a draft's text: named while the draft is prepared, sealed where the write commits."""

from __future__ import annotations

from mnemic.unit_of_work import Mutation, Unit
from mnemic.write.draft import Draft
from mnemic.write.vault import Vault, vault_name, vault_prefix


def readied(draft: Draft, vault: Vault) -> Draft:
    """The draft with its tokens under the names they will be kept by, and a key at hand to seal them with.

    It waits for a small file at most. Raises KeyFailed as the keyring raises it.
    """
    prefix = vault_prefix(draft.secret, draft.subject)
    vaulted = {vault_name(prefix, marker): value for marker, value in draft.tokens.items()}
    vault.keyring.seal(draft.subject, b"", b"")
    return draft.decided(draft.decision, tokens={}, vaulted=vaulted, vault=vault)


async def keep(unit: Unit, draft: Draft) -> None:
    """Keep what policy tokenised, where it is not kept already. It is sealed here, for the key may be another since the
    draft was made: inside a transaction the one of now is known (`RecordStore.reseal`).
    """
    tenant, vault = draft.scope.tenant, draft.vault
    for name, value in draft.vaulted.items():
        if await unit.reads.find_mark(tenant, name) is None:
            assert vault is not None
            sealed = vault.sealed(draft.subject, name, value)
            await unit.apply(Mutation(tenant=tenant, marks={name: sealed}))
