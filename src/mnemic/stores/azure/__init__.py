"""A search index of memories on Azure AI Search."""

from __future__ import annotations

from mnemic.stores.azure.index import AzureSearchIndex

__all__ = ["AzureSearchIndex"]
