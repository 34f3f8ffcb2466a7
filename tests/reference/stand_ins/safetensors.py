"""As much of the package `safetensors` as the script of docs/network.md needs,
in plain Python. The format: eight bytes, little-endian, with the length of the
header; the header, JSON; the tensors' bytes."""

import json
import struct

import torch


class safe_open:
    def __init__(self, path, framework):
        assert framework == "pt"
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            self.header = json.loads(file.read(length))
            self.data = file.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def metadata(self):
        return self.header["__metadata__"]

    def keys(self):
        return [name for name in self.header if name != "__metadata__"]

    def get_tensor(self, name):
        entry = self.header[name]
        begin, end = entry["data_offsets"]
        code = {"F16": "e", "F32": "f"}[entry["dtype"]]
        count = (end - begin) // struct.calcsize(code)
        values = struct.unpack(f"<{count}{code}", self.data[begin:end])
        if len(entry["shape"]) == 1:
            return torch.Tensor(list(values))
        rows, width = entry["shape"]
        return torch.Tensor([values[i * width : (i + 1) * width] for i in range(rows)])
