"""The network's outputs by PyTorch, from the safetensors file alone: the
reference that `models` is compared with.

    pip install torch==2.15.0 safetensors==0.8.0 chess==1.11.2 zstandard==0.25.0
    python tests/reference/torch_outputs.py models/default.safetensors \
        tests/data/dump_2021-10_first499.rows.zst --every 5 > tests/data/torch_outputs.tsv

Reads the positions of a rows file (see labels.py), builds the 902 inputs from
their EPD by python-chess, and prints `EPD <tab> pawns <tab> inputs`, mover's
view, the inputs that are on by their indices. First line: the net's SHA-256.
"""

import argparse
import hashlib
import json
import pathlib

import chess
import torch
import zstandard
from safetensors import safe_open


# Which kinds of pieces a piece of each kind is taken by for a lesser one.
MINOR = [chess.PAWN, chess.KNIGHT, chess.BISHOP]
LESSER = {
    chess.PAWN: [],
    chess.KNIGHT: [chess.PAWN],
    chess.BISHOP: [chess.PAWN],
    chess.ROOK: MINOR,
    chess.QUEEN: MINOR + [chess.ROOK],
}


def en_prise(board, color, kind):
    """The squares of these pieces that are attacked, and not defended or by a lesser one."""
    found = []
    for square in board.pieces(kind, color):
        attackers = {board.piece_type_at(s) for s in board.attackers(not color, square)}
        defended = board.attackers(color, square)
        if attackers and (not defended or attackers & set(LESSER[kind])):
            found.append(square)
    return found


def inputs(board):
    """The layout kibitz-902-v2: models/src/feature.rs."""
    x = torch.zeros(902)
    mover = board.turn
    seen = (lambda square: square) if mover else chess.square_mirror
    for square, piece in board.piece_map().items():
        plane = piece.piece_type - 1 + (0 if piece.color == mover else 6)
        x[64 * plane + seen(square)] = 1
    if board.has_legal_en_passant():
        x[64 * 12 + seen(board.ep_square)] = 1
    for i, color in enumerate((mover, not mover)):
        for kind in chess.PIECE_TYPES[:5]:
            for count in range(min(len(en_prise(board, color, kind)), 3)):
                x[64 * 13 + 15 * i + 3 * (kind - 1) + count] = 1
        x[896 + 2 * i] = board.has_kingside_castling_rights(color)
        x[897 + 2 * i] = board.has_queenside_castling_rights(color)
    x[900] = board.is_check()
    return x


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    with safe_open(args.net, "pt") as file:
        metadata = json.loads(file.metadata()["kibitz"])
        assert metadata["layout"] == "kibitz-902-v2"
        assert metadata["activation"] == "clipped-relu"
        layers = []
        for i in range(4):
            weight = file.get_tensor(f"layers.{i}.weight").float()
            linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
            linear.weight.data = weight
            linear.bias.data = file.get_tensor(f"layers.{i}.bias").float()
            layers += [linear, torch.nn.Hardtanh(0, 1)]
    net = torch.nn.Sequential(*layers[:-1])
    with open(args.rows, "rb") as file:
        rows = zstandard.ZstdDecompressor().stream_reader(file).read().decode().splitlines()
    epds = [row.split("\t")[0] for row in rows[:: args.every]]
    print(hashlib.sha256(args.net.read_bytes()).hexdigest())
    on = torch.stack([inputs(chess.Board(epd + " 0 1")) for epd in epds])
    with torch.no_grad():
        outputs = net(on)
    for epd, output, row in zip(epds, outputs[:, 0].tolist(), on):
        indices = " ".join(map(str, row.nonzero()[:, 0].tolist()))
        print(f"{epd}\t{output:.7f}\t{indices}")


main()
