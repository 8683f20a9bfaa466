"""Small ONNX files, written byte by byte: a test needs onnxruntime to run one, and no package to make one.

Numbers of fields: onnx.proto of ONNX 1.x.
"""

import numpy as np

FLOAT, INT64 = 1, 7  # types of numbers


def varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def message(*fields):
    """Encode (number of the field, value): a whole number, text, or bytes."""
    encoded = b""
    for number, value in fields:
        if isinstance(value, int):
            encoded += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            encoded += varint(number << 3 | 2) + varint(len(data)) + data
    return encoded


def value_info(name, shape, kind=FLOAT):
    """Describe an input or output; a size that is text is free."""
    dims = [(1, message((1 if isinstance(size, int) else 2, size))) for size in shape]
    return message((1, name), (2, message((1, message((1, kind), (2, message(*dims)))))))


def tensor(name, values):
    values = np.asarray(values, dtype="<f4")
    return message(*((1, size) for size in values.shape), (2, FLOAT), (8, name), (9, values.tobytes()))


def whole_numbers(name, values):
    return message((1, len(values)), (2, INT64), (8, name), (9, np.asarray(values, dtype="<i8").tobytes()))


def node(operator, inputs, output):
    return message(*((1, name) for name in inputs), (2, output), (4, operator))


def network(shape=("n", 3, 4, 4), weights=None, inputs=1, product="product"):
    """Return a network for images of 4 x 4 pixels.

    Its outputs are `pixels` (n, 48), what it was given; `mean` (n, 3, 1, 1); `product` (or another name), the pixels
    times the weights (48, d), where there are some; `maps`, which is no row per image; and `huge`, a million times the
    pixels.
    """
    nodes = [node("Flatten", ["image"], "pixels"), node("GlobalAveragePool", ["image"], "mean")]
    nodes += [node("Relu", ["image"], "maps"), node("Mul", ["pixels", "million"], "huge")]
    outputs = {"pixels": ("n", 48), "mean": ("n", 3, 1, 1), "maps": shape, "huge": ("n", 48)}
    initializers = [tensor("million", np.full(1, 1e6))]
    if weights is not None:
        nodes.append(node("MatMul", ["pixels", "weights"], product))
        initializers.append(tensor("weights", weights))
        outputs[product] = ("n", weights.shape[1])
    graph = [(1, one) for one in nodes] + [(2, "tests")] + [(5, one) for one in initializers]
    graph += [(11, value_info(name, shape)) for name in ["image", "second"][:inputs]]
    graph += [(12, value_info(name, size)) for name, size in outputs.items()]
    return message((1, 8), (7, message(*graph)), (8, message((1, ""), (2, 13))))


def text_network(table, shape=("n", "length"), kind=INT64, mask=False):
    """Return a text network: the output `text` is the sum of the rows of the table, (tokens, d), of its tokens.

    With `mask`, it has the second input `attention_mask`, which it does not use.
    """
    nodes = [node("Gather", ["table", "tokens"], "rows"), node("ReduceSum", ["rows", "axis"], "sum")]
    nodes.append(node("Flatten", ["sum"], "text"))
    graph = [(1, one) for one in nodes] + [(2, "tests"), (5, tensor("table", table)), (5, whole_numbers("axis", [1]))]
    graph += [(11, value_info(name, shape, kind)) for name in ["tokens", *(["attention_mask"] if mask else [])]]
    graph.append((12, value_info("text", ("n", len(table[0])))))
    return message((1, 8), (7, message(*graph)), (8, message((1, ""), (2, 13))))


def tokenizer(words):
    """Return a tokenizer.json that divides texts into lower-case words and punctuation; other words have the number 1.

    Texts are put between the tokens 2 and 3; `words` have the numbers from 4. No token has the number 0.
    """
    special = {"<other>": 1, "<start>": 2, "<end>": 3}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parts = [{"SpecialToken": {"id": "<start>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    parts.append({"SpecialToken": {"id": "<end>", "type_id": 0}})
    return {
        "version": "1.0",
        "truncation": None,
        "padding": {
            "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 3, "pad_type_id": 0,
            "pad_token": "<end>",
        },
        "added_tokens": [{"id": number, "content": name} | flags for name, number in special.items()],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": parts,
            "pair": parts,
            "special_tokens": {name: {"id": name, "ids": [special[name]], "tokens": [name]} for name in special},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": special | {word: number for number, word in enumerate(words, 4)},
            "unk_token": "<other>",
        },
    }  # fmt: skip


# A network in the layout of one whose weights are in another file: a tensor that states where its numbers are.
ELSEWHERE = message((1, 8), (7, message((5, message((8, "w"), (13, message((1, "location"), (2, "w.data"))))))))
