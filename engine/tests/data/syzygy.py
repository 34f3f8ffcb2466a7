"""Writes `syzygy.tsv`: what python-chess reads in the tables, for random positions.

    python3 syzygy.py FOLDER-OF-TABLES > syzygy.tsv     (python-chess 1.11)

Columns: FEN (half of them with a fifty-move clock), WDL as if the clock stood
at 0 (-2 to 2), DTZ, and the greatest WDL after a move by the clock, negated
(the value of the position under the fifty-move rule).
"""

import random
import sys

import chess
import chess.syzygy

RANDOM = random.Random(2026)


def random_board():
    board = chess.Board.empty()
    pieces = [chess.Piece(chess.KING, chess.WHITE), chess.Piece(chess.KING, chess.BLACK)]
    for _ in range(RANDOM.choice([1, 2, 2, 2])):
        kind = RANDOM.choice([chess.PAWN, chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN])
        pieces.append(chess.Piece(kind, RANDOM.choice([chess.WHITE, chess.BLACK])))
    for piece, square in zip(pieces, RANDOM.sample(range(64), len(pieces))):
        board.set_piece_at(square, piece)
    board.turn = RANDOM.choice([chess.WHITE, chess.BLACK])
    board.halfmove_clock = RANDOM.choice([0, RANDOM.randrange(1, 100)])
    return board


def value(tables, board):
    """The board's DTZ by its clock: what is left of a win or loss within 100 plies."""
    if board.is_checkmate():
        return -2
    wdl, dtz = tables.probe_wdl(board), tables.probe_dtz(board)
    if wdl in (2, -2) and abs(dtz) + board.halfmove_clock > 100:
        return wdl // 2
    return wdl


def main():
    with chess.syzygy.open_tablebase(sys.argv[1]) as tables:
        count = 0
        while count < 2000:
            board = random_board()
            if not board.is_valid() or not any(board.legal_moves):
                continue
            best = -3
            for move in list(board.legal_moves):
                board.push(move)
                best = max(best, -value(tables, board))
                board.pop()
            print(board.fen(), tables.probe_wdl(board), tables.probe_dtz(board), best, sep="\t")
            count += 1


main()
