"""The graph in Neo4j, or in another server that speaks Bolt and openCypher, through the official driver."""

from __future__ import annotations

from mnemic.stores.neo4j.graph import Neo4jGraph

__all__ = ["Neo4jGraph"]
