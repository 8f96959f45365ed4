"""YAML as data and nothing else (PyYAML; the extra `yaml`): no tags that make objects, no anchors, no double names."""

from __future__ import annotations

from typing import Any

import yaml


class NotPlainYaml(ValueError):
    """The text is not YAML, or uses more than plain data needs; the message contains none of it."""


def loads(text: str) -> object:
    """Return the data in `text`. Raises NotPlainYaml, and nothing else, for any text."""
    try:
        return yaml.load(text, Loader=_Plain)  # noqa: S506 - a safe loader, and stricter
    except NotPlainYaml:
        raise
    except (yaml.YAMLError, ValueError, RecursionError):
        raise NotPlainYaml("not YAML") from None


class _Plain(yaml.SafeLoader):  # type: ignore[misc] # comes without types
    """The safe loader, without aliases (a few of them expand to gigabytes) and without duplicate keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise NotPlainYaml("it has an alias")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(name, deep=True) for name, _ in node.value]
        if any(not isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise NotPlainYaml("a name is no text, or is there twice")
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]
