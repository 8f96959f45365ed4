"""Conversations as the frameworks write them."""

from __future__ import annotations

from typing import Any

BEDROCK: dict[str, Any] = {
    "ask": [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [{"text": "hello"}]},
        {"role": "user", "content": [{"text": "my seat?"}]},
    ],
    "tool": [
        {"role": "user", "content": [{"text": "my seat?"}]},
        {"role": "assistant", "content": [{"toolUse": {"name": "t", "toolUseId": "1", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "ok"}]}}]},
    ],
}
ANTHROPIC: dict[str, Any] = {
    "ask": [{"role": "user", "content": [{"type": "text", "text": "my seat?"}]}],
    "tool": [
        {"role": "user", "content": "my seat?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]},
    ],
}
OPENAI: dict[str, Any] = {
    "ask": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "my seat?"}],
    "tool": [
        {"role": "user", "content": "my seat?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ],
}
RESPONSES: dict[str, Any] = {
    "ask": [{"role": "user", "content": [{"type": "input_text", "text": "my seat?"}]}],
    "tool": [
        {"role": "user", "content": [{"type": "input_text", "text": "my seat?"}]},
        {"type": "function_call", "call_id": "1", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "ok"},
    ],
}
SHAPES = {"bedrock": BEDROCK, "anthropic": ANTHROPIC, "openai": OPENAI, "responses": RESPONSES}


def texts(message: Any) -> str:
    """Everything textual in a message, in order."""
    content = message["content"] if isinstance(message, dict) else message.content
    if isinstance(content, str):
        return content
    return "\x1f".join(block.get("text", "[block]") if isinstance(block, dict) else block for block in content)
