"""Writes `mates_in_one.epd`: positions with a mate in one, from the ends of games.

    zstdcat dump_2013-02*.pgn.zst dump_2021-10*.pgn.zst {dump,rebuilt}_2026-06*.pgn.zst \
        | python3 mates_in_one.py > mates_in_one.epd     (python-chess 1.11)

Each line is a position of the last two moves of a game that ended in mate, and
all moves that mate there. Equal positions are left out; the first thousand are
taken.
"""

import sys

import chess
import chess.pgn

WANTED = 1000


def mates(board):
    for move in board.legal_moves:
        board.push(move)
        mated = board.is_checkmate()
        board.pop()
        if mated:
            yield move


found = set()
while len(found) < WANTED and (game := chess.pgn.read_game(sys.stdin)):
    board = game.end().board()
    if not board.is_checkmate():
        continue
    for _ in range(3):
        if board.move_stack:
            board.pop()
        moves = list(mates(board))
        if moves and board.epd() not in found and len(found) < WANTED:
            found.add(board.epd())
            print(board.epd(bm=moves))
