"""Every move of PGN files with its player, by python-chess: the reference for `ingest build --moves`.

    pip install chess==1.11.2 zstandard==0.25.0
    python tests/reference/moves.py datasets/samples/*.pgn.zst > tests/data/moves.digests.tsv

A row is `EPD <tab> move <tab> rating <tab> speed <tab> seconds left`: the position before the move,
the move in UCI notation with castling as king takes rook, and `?` for what is unknown. Seconds are
rounded down to 0, 1, 2, 3, 4, 6, 8, 12 and so on. One line a source: name, number of rows, SHA-256
over the rows.
"""

import argparse
import hashlib
import io
import pathlib

import chess
import chess.pgn
import zstandard

STEPS = sorted({0, 1} | {2 << i for i in range(14)} | {3 << i for i in range(14)})
# Ends of Lichess's classes, in seconds of the initial time and 40 increments.
SPEEDS = [
    (30, "ultrabullet"), (180, "bullet"), (480, "blitz"), (1500, "rapid"), (21600, "classical"),
]


def known(value):
    return "?" if value is None else str(value)


def time_control(tag):
    base, _, increment = tag.partition("+")
    if tag == "-":
        return "correspondence", None
    if not (base.isdigit() and increment.isdigit()):
        return None, None
    estimate = int(base) + 40 * int(increment)
    names = [name for end, name in SPEEDS if estimate < end]
    return (names or ["correspondence"])[0], int(base)


def rows(text):
    while (game := chess.pgn.read_game(text)) is not None:
        headers = game.headers
        speed, base = time_control(headers.get("TimeControl", "?"))
        ratings = {}
        for color, tag in [(chess.WHITE, "WhiteElo"), (chess.BLACK, "BlackElo")]:
            rating = headers.get(tag, "?")
            ratings[color] = int(rating) if rating.isdigit() else None
        board = game.board()
        clocks = {chess.WHITE: base, chess.BLACK: base}
        for node in game.mainline():
            mover = board.turn
            seconds = clocks[mover]
            if seconds is not None:
                seconds = max(step for step in STEPS if step <= seconds)
            fields = [
                board.epd(en_passant="legal"), board.uci(node.move, chess960=True),
                known(ratings[mover]), known(speed), known(seconds),
            ]
            yield "\t".join(fields) + "\n"
            board.push(node.move)
            clocks[mover] = node.clock()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    for source in parser.parse_args().sources:
        reader = zstandard.ZstdDecompressor().stream_reader(source.read_bytes(), read_across_frames=True)
        text = io.StringIO(reader.read().decode("utf-8-sig", errors="replace"))
        count, digest = 0, hashlib.sha256()
        for row in rows(text):
            count += 1
            digest.update(row.encode())
        print(source.name, count, digest.hexdigest(), sep="\t", flush=True)


main()
