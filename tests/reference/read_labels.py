"""Reads the labelled positions of a PGN file with python-chess, for comparison in
`bench_ingest`.

    pip install chess==1.11.2
    python tests/reference/read_labels.py games.pgn
"""

import sys

import chess.pgn

positions = 0
with open(sys.argv[1], encoding="utf-8") as text:
    while (game := chess.pgn.read_game(text)) is not None:
        board = game.board()
        for node in game.mainline():
            board.push(node.move)
            score = node.eval()
            if score is not None:
                board.fen(), score.white()
                positions += 1
print(positions)
