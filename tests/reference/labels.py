"""Every labelled position of PGN files, by python-chess: the row-by-row reference
for `datasets`.

    pip install chess==1.11.2 zstandard==0.25.0
    python tests/reference/labels.py datasets/samples/*.pgn.zst --rows tests/data
    python tests/reference/labels.py ../shared/data/*_pgn/*.zst ../shared/data/quirks/*.pgn* \
        --digests tests/data/labels.digests.tsv

An evaluation is an `[%eval]`, else the score of a match between engines.
A row is `EPD <tab> White's centipawns or #mate <tab> ply <tab> depth`; scores
are cut to +-30000 and mates to +-1000, as the label says it does. With
--rows, a file NAME.rows.zst for each source; with --digests, one line a
source: FOLDER/NAME, number of rows, SHA-256 over the rows.
"""

import argparse
import decimal
import hashlib
import io
import pathlib
import re

import chess
import chess.engine
import chess.pgn
import zstandard


# Formats `+0.25/12 0.5s` and `-M6/20 0.1s` of cutechess, fastchess and `arena match`: score in
# pawns or plies to mate from the mover's view, depth, and a time.
MATCH_SCORE = re.compile(r"([+-]?)(?:M(\d+)|(\d*\.\d+))/(\d+)[, \n]+[0-9.]+s\b")


def match_score(node):
    found = MATCH_SCORE.match(node.comment.lstrip())
    if not found:
        return None, None
    sign, plies, pawns, depth = found.groups()
    if plies:
        # M1 is the mate on the board: no label.
        moves = int(plies) // 2
        score = chess.engine.Mate(moves) if moves else None
    else:
        score = chess.engine.Cp(round(decimal.Decimal(pawns) * 100))
    if score is None:
        return None, None
    return chess.engine.PovScore(-score if sign == "-" else score, not node.turn()), int(depth)


def rows(text):
    while (game := chess.pgn.read_game(text)) is not None:
        variant = game.headers.get("Variant", "Standard")
        if variant.lower() not in ("standard", "from position", "normal", "", "chess960"):
            continue
        try:
            game.board()
        except ValueError:
            continue
        board = game.board()
        if not board.is_valid():
            continue
        for node in game.mainline():
            board.push(node.move)
            score, searched = node.eval(), node.eval_depth()
            if "[%eval" not in node.comment:
                score, searched = match_score(node)
            if score is None or not any(board.legal_moves):
                continue
            white = score.white()
            if white.mate() == 0:
                continue
            if white.is_mate():
                label = f"#{max(-1000, min(1000, white.mate()))}"
            else:
                label = str(max(-30000, min(30000, white.score())))
            epd = board.epd(en_passant="legal")
            depth = min(searched or 0, 255)
            yield f"{epd}\t{label}\t{board.ply()}\t{depth}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--digests", type=pathlib.Path)
    args = parser.parse_args()
    digests = []
    for source in args.sources:
        data = source.read_bytes()
        if source.suffix == ".zst":
            reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
            data = reader.read()
        text = io.StringIO(data.decode("utf-8-sig", errors="replace"))
        lines = list(rows(text))
        joined = "".join(lines).encode()
        digests.append(f"{source.parent.name}/{source.name}\t{len(lines)}\t{hashlib.sha256(joined).hexdigest()}\n")
        print(digests[-1], end="", flush=True)
        if args.rows:
            packed = zstandard.ZstdCompressor(level=19).compress(joined)
            (args.rows / f"{source.name.split('.')[0]}.rows.zst").write_bytes(packed)
    if args.digests:
        args.digests.write_text("".join(digests))


main()
