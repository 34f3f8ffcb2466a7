"""Bare positions with evaluations, by python-chess: the row-by-row reference for
`datasets::positions`.

    pip install chess==1.11.2 zstandard==0.25.0
    python tests/reference/positions.py --csv ../shared/data/fen_eval/*.csv.zst \
        > tests/data/positions.digests.tsv
    python tests/reference/positions.py --write tests/data \
        tests/data/dump_2021-10_first499.rows.zst

A row is `EPD <tab> White's centipawns or #mate <tab> ply`. With --csv, one line
a file: name, number of rows, SHA-256 over the rows, and how many lines were
left out as illegal and as finished. With --write, every fifth position of a
file that labels.py made (Lichess data, CC0), written by python-chess and the
json module in each format that `ingest build` reads, and the rows to expect.
"""

import argparse
import csv
import hashlib
import json
import pathlib

import chess
import zstandard


def label(text):
    """Returns a label from `+56` or `#-7`, clamped like Kibitz's labels."""
    if text.startswith("#"):
        return f"#{max(-1000, min(1000, int(text[1:])))}"
    return str(max(-30000, min(30000, int(text))))


def digest(path):
    hasher, rows, illegal, finished = hashlib.sha256(), 0, 0, 0
    with zstandard.open(path, "rt") as text:
        for line in csv.DictReader(text):
            board = chess.Board(line["FEN"])
            if not board.is_valid():
                illegal += 1
            elif not any(board.legal_moves):
                finished += 1
            else:
                epd = board.epd(en_passant="legal")
                row = f"{epd}\t{label(line['Evaluation'])}\t{board.ply()}\n"
                hasher.update(row.encode())
                rows += 1
    print(path.name, rows, hasher.hexdigest(), illegal, finished, sep="\t")


def database_line(board, score, depth):
    """Returns a line with the expected score among decoys: shallower ones, and later pvs."""
    pv = {"mate": int(score[1:])} if score.startswith("#") else {"cp": int(score)}
    pv["line"] = " ".join(move.uci() for move in list(board.legal_moves)[:10])
    decoy = {"cp": 1234, "line": pv["line"]}
    evals = [
        {"pvs": [decoy], "knodes": 900, "depth": depth - 1},
        {"pvs": [pv, decoy], "knodes": 500, "depth": depth},
        {"pvs": [decoy, pv], "knodes": 400, "depth": depth},
    ]
    if depth % 2:
        evals.reverse()
    return json.dumps({"fen": board.epd(en_passant="fen"), "evals": evals}, separators=(",", ":"))


def epd_line(board, score, depth):
    """Returns an EPD line with the mover's score; mates are alternately `dm` and `ce`."""
    sign = 1 if board.turn == chess.WHITE else -1
    if not score.startswith("#"):
        return board.epd(ce=sign * int(score), acd=depth, id="a; ce 1;")
    moves = sign * int(score[1:])
    if moves > 0 and depth % 2:
        return board.epd(dm=moves, acd=depth)
    ce = 32767 - (2 * moves - 1) if moves > 0 else -32767 + 2 * -moves
    return board.epd(ce=ce, acd=depth)


def stored(score):
    if not score.startswith("#"):
        return score
    moves = int(score[1:])
    return str((32000 - abs(moves)) * (1 if moves > 0 else -1))


def write(source, folder):
    lines = zstandard.open(source, "rt").read().splitlines()[::5]
    files = {name: [] for name in ("jsonl", "csv", "txt", "epd", "tsv")}
    files["csv"].append("FEN,Evaluation")
    for number, line in enumerate(lines):
        epd, score, ply, _ = line.split("\t")
        board = chess.Board(epd + f" 0 {int(ply) // 2 + 1}")
        assert board.is_valid() and board.ply() == int(ply)
        depth = 10 + number % 30
        signed = score if score.startswith("-") else "+" + score
        wdl = ("1.0", "0.5", "0.0", "?")[number % 4]
        files["jsonl"].append(database_line(board, score, depth))
        files["csv"].append(f"{board.fen()},{score if score.startswith('#') else signed}")
        files["txt"].append(f"{board.fen()} | {stored(score)} | {wdl}")
        files["epd"].append(epd_line(board, score, depth))
        files["tsv"].append(f"{epd}\t{score}\t{ply}\t{depth}\t{wdl}")
    for name, text in files.items():
        data = "".join(line + "\n" for line in text).encode()
        packed = zstandard.ZstdCompressor(level=19).compress(data)
        (folder / f"positions.{name}.zst").write_bytes(packed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    for source in args.sources:
        if args.write:
            write(source, args.write)
        else:
            digest(source)


if __name__ == "__main__":
    main()
