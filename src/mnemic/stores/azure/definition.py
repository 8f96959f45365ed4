"""The index as mnemic creates it: its fields, and an exact search over vectors."""

from __future__ import annotations

from azure.search.documents.indexes.models import (
    ExhaustiveKnnAlgorithmConfiguration,
    ExhaustiveKnnParameters,
    SearchableField,
    SearchField,
    SearchFieldDataType,
    SearchIndex,
    SimpleField,
    VectorSearch,
    VectorSearchProfile,
)

_NAMES = ("memory_id", "tenant", "level", "owner", "kind", "status", "key", "category")
_NUMBERS = ("happened_at", "expires_at", "version")
_EXACT = "exact"


def definition(index: str, dimension: int) -> SearchIndex:
    """Return the index called `index`, for vectors of `dimension`."""
    text, number = SearchFieldDataType.STRING, SearchFieldDataType.INT64
    algorithm = ExhaustiveKnnAlgorithmConfiguration(name=_EXACT, parameters=ExhaustiveKnnParameters(metric="cosine"))
    return SearchIndex(
        name=index,
        fields=[
            SimpleField(name="id", type=text, key=True, filterable=True),
            *(SimpleField(name=name, type=text, filterable=True) for name in _NAMES),
            *(SimpleField(name=name, type=number, filterable=True) for name in _NUMBERS),
            SearchableField(name="content"),
            SearchableField(name="context"),
            SearchField(
                name="vector",
                type=f"Collection({SearchFieldDataType.SINGLE.value})",
                searchable=True,
                hidden=True,
                vector_search_dimensions=dimension,
                vector_search_profile_name=_EXACT,
            ),
        ],
        vector_search=VectorSearch(
            algorithms=[algorithm],
            profiles=[VectorSearchProfile(name=_EXACT, algorithm_configuration_name=_EXACT)],
        ),
    )


def dimension_of(index: SearchIndex) -> int | None:
    """Return the dimension of the index's vectors; None if it has none."""
    return next((field.vector_search_dimensions for field in index.fields if field.name == "vector"), None)
