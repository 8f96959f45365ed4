"""Language models, embedders and rerankers over HTTP (docs/models.md)."""
