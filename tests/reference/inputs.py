"""The 902 inputs of a position by python-chess alone: the reference for trainer
and engine (tests/tests/inputs.rs, trainer/features/src/lib.rs).

    pip install chess==1.11.2 zstandard==0.25.0
    python tests/reference/inputs.py every GAMES.pgn.zst > games.tsv
    python tests/reference/inputs.py chosen GAMES.pgn.zst... > tests/data/inputs.tsv

`every` prints every position of the games, `chosen` a selection that activates
every input, with positions that are rare in games. A row is `FEN before | move |
FEN | inputs`, tab-separated; FEN before and move are empty for the first position
of a game. Chess960 games have castling rights as `HAha` and castling moves as king
takes rook. The en-passant square is given after every double step, whether or not
a capture is legal. Inputs are the indices of the active ones, from the mover's
view. `tests/inputs.sh` compares many more positions.

The rows kept were chosen from datasets/samples/dump_2026-06_annotated500.pgn.zst,
datasets/samples/dump_2013-02_rewritten2551.pgn.zst, and 3,018 Chess960 games of a
league on Lichess (github.com/rahulan-c/lichess4545-stats, docs/pgns, MIT).
"""

import argparse
import io
import pathlib
import sys

import chess
import chess.pgn

# Kinds of pieces that are lesser than each kind.
MINOR = [chess.PAWN, chess.KNIGHT, chess.BISHOP]
LESSER = {
    chess.PAWN: [],
    chess.KNIGHT: [chess.PAWN],
    chess.BISHOP: [chess.PAWN],
    chess.ROOK: MINOR,
    chess.QUEEN: MINOR + [chess.ROOK],
}


def en_prise(board, color, kind):
    """Returns the pieces attacked by a lesser piece, or attacked and undefended."""
    found = []
    for square in board.pieces(kind, color):
        attackers = {board.piece_type_at(s) for s in board.attackers(not color, square)}
        defended = board.attackers(color, square)
        if attackers and (not defended or attackers & set(LESSER[kind])):
            found.append(square)
    return found


def inputs(board):
    """Returns the active inputs of the layout kibitz-902-v2 (models/src/feature.rs), sorted."""
    on = []
    mover = board.turn
    seen = (lambda square: square) if mover else chess.square_mirror
    for square, piece in board.piece_map().items():
        plane = piece.piece_type - 1 + (0 if piece.color == mover else 6)
        on.append(64 * plane + seen(square))
    if board.has_legal_en_passant():
        on.append(64 * 12 + seen(board.ep_square))
    for i, color in enumerate((mover, not mover)):
        for kind in chess.PIECE_TYPES[:5]:
            for count in range(min(len(en_prise(board, color, kind)), 3)):
                on.append(64 * 13 + 15 * i + 3 * (kind - 1) + count)
        if board.has_kingside_castling_rights(color):
            on.append(896 + 2 * i)
        if board.has_queenside_castling_rights(color):
            on.append(897 + 2 * i)
    if board.is_check():
        on.append(900)
    return sorted(on)


def seen_by_other(i):
    """Returns the index of an input from the other side's view (docs/network.md)."""
    if i < 768:
        return (i + 384) % 768 ^ 56
    if 832 <= i < 862:
        return i + 15 if i < 847 else i - 15
    return i ^ 56 if i < 832 else i ^ 2 if i < 900 else i ^ 1


def fen(board):
    return board.fen(shredder=board.chess960, en_passant="fen")


def row(before, move, board):
    return "\t".join([before, move, fen(board), " ".join(map(str, inputs(board)))])


def games(path):
    """Yields the games of a file, without variations and comments."""
    if path.suffix == ".zst":
        import zstandard

        # Dumps have several frames.
        with open(path, "rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            text = io.TextIOWrapper(reader, encoding="utf-8").read()
    else:
        text = path.read_text()
    pgn = io.StringIO(text)
    while game := chess.pgn.read_game(pgn):
        if not game.errors and game.headers.get("Variant", "Standard") in (
            "Standard",
            "From Position",
            "Chess960",
        ):
            yield game


def rows(path):
    """Yields every position of a file as a row and a board."""
    for game in games(path):
        board = game.board()
        if not board.is_valid():
            continue
        yield row("", "", board), board
        for move in game.mainline_moves():
            before, uci = fen(board), board.uci(move, chess960=board.chess960)
            board.push(move)
            yield row(before, uci, board), board


# Positions rare in games: the FEN, and a move from it if the position after it matters.
RARE = [
    # En-passant square without a legal capture: the capturing pawn is pinned by rank, by file and
    # by diagonal, the captured pawn is pinned, the king is in another check. Then a capture that is
    # the only way out of the pawn's check.
    ("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", None),
    ("4k3/8/8/8/3Pp3/8/8/4RK2 b - d3 0 1", None),
    ("8/8/2k5/8/3Pp3/8/6B1/3K4 b - d3 0 1", None),
    ("7k/8/8/8/3pP3/2B5/8/4K3 b - e3 0 1", None),
    ("4k3/8/8/8/3pP3/8/8/B3K2R b - e3 0 1", None),
    ("rnbqkbnr/ppp2ppp/8/3Pp3/8/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 3", None),
    ("8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", None),
    # A discovered check from behind both pawns of the file, and the king behind
    # the pawn that would be taken.
    ("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1", None),
    ("4k3/8/8/K2pP2r/8/8/3p4/8 w - d6 0 1", None),
    # Two pawns that may capture, one of them pinned; both edges.
    ("8/4k3/8/8/2pPp3/8/8/4RK2 b - d3 0 1", None),
    ("4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1", None),
    ("4k3/8/8/6pP/8/8/8/4K3 w - g6 0 1", None),
    # Double steps and en-passant captures as moves.
    ("4k3/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1", "d7d5"),
    ("4k3/8/8/8/2p1p3/8/3P4/4K3 w - - 0 1", "d2d4"),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),
    ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4e3"),
    # Checks: a double check by a discovering knight, by a promotion, by an en-passant capture that
    # opens two lines, by castling.
    ("4k3/8/8/8/4N3/8/8/4RK2 w - - 0 1", "e4f6"),
    ("3nk3/4P3/8/8/8/8/8/4RK2 w - - 0 1", "e7d8q"),
    ("6k1/8/8/3pP3/2B5/8/8/4K3 w - d6 0 1", "e5d6"),
    ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"),
    ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1"),
    # All combinations of castling rights, and moves that remove them.
    *((f"r3k2r/8/8/8/8/8/8/R3K2R {turn} {rights} - 0 1", None)
      for turn in "wb"
      for rights in ["KQkq", "KQk", "KQq", "Kkq", "Qkq", "KQ", "Kk", "Kq", "Qk", "Qq", "kq",
                     "K", "Q", "k", "q", "-"]),
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "h1h8"),
    ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "a8a1"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1e2"),
    # Pawns that capture a rook in its corner and promote.
    ("r3k2r/1P4P1/8/8/8/8/8/R3K2R w KQkq - 0 1", "b7a8q"),
    ("r3k2r/8/8/8/8/8/1p4p1/R3K2R b KQkq - 0 1", "g2h1n"),
    # Pieces en prise, more of a kind than at the start: one to four of them, own and theirs.
    *((" ".join([f"{''.join(rank)}", turn, "- - 0 1"]), None)
      for turn in "wb"
      for rank in [
          ("4k3/8/8/", "p7", "/8/", "Q7/8", "/4K3"),
          ("4k3/8/8/", "pp6", "/8/", "QQ6/8", "/4K3"),
          ("4k3/8/8/", "ppp5", "/8/", "QQQ5/8", "/4K3"),
          ("4k3/8/8/", "8/pppp4", "/", "QQQQ4/8", "/4K3"),
          ("4k3/8/8/", "8/pppp4", "/", "RRRR4/8", "/4K3"),
          ("4k3/8/8/", "qqqq4/", "PPPP4/8", "/8", "/4K3"),
          ("4k3/8/8/", "rrrr4/", "PPPP4/8", "/8", "/4K3"),
          ("k7/8/8/", "n1n1n1n1/", "1P1P1P1P/8", "/8", "/7K"),
          ("k7/8/8/", "b1b1b1b1/", "1P1P1P1P/8", "/8", "/7K"),
          ("k7/8/8/", "1p1p1p1p/", "N1N1N1N1/8", "/8", "/7K"),
          ("k7/8/8/", "1p1p1p1p/", "B1B1B1B1/8", "/8", "/7K"),
          ("1k6/8/", "R2p2p1/", "8/8", "/r2P2P1", "/8/7K"),
      ]),
    # Kings attack and defend; pinned pieces attack; no attack passes through a piece.
    ("8/8/4k3/3n4/8/8/8/3RK3 b - - 0 1", None),
    ("4k3/8/8/8/8/8/4n3/4K3 w - - 0 1", None),
    ("4k3/8/8/4n3/2B5/8/8/4RK2 w - - 0 1", None),
    ("4k3/8/8/3n4/8/3P4/8/3RK3 w - - 0 1", None),
]
# Rare Chess960 positions: rooks between others, kings on any file, castling that moves one piece
# only, or each to the other's square.
RARE_960 = [
    ("1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1", None),
    ("1rk3r1/8/8/8/8/8/8/1RK3R1 b Gb - 0 1", None),
    ("rrkr4/8/8/8/8/8/8/RRKR4 b Db - 0 1", None),
    ("rrk4r/8/8/8/8/8/8/RRK4R w HBhb - 0 1", "c1b1"),
    ("rrkr4/8/8/8/8/8/8/RRKR4 w DAda - 0 1", "a1a8"),
    ("4k3/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1"),
    ("6kr/8/8/8/8/8/8/4K3 b h - 0 1", "g8h8"),
    ("6k1/8/8/8/8/8/8/5RK1 w F - 0 1", "g1f1"),
    ("4k3/8/8/8/8/8/8/4KR2 w F - 0 1", "e1f1"),
    ("rk6/8/8/8/8/8/8/RK5R w HAa - 0 1", "b1h1"),
]


def rare():
    for positions, chess960 in [(RARE, False), (RARE_960, True)]:
        for text, uci in positions:
            board = chess.Board(text, chess960=chess960)
            assert board.is_valid(), text
            if not uci:
                yield row("", "", board), board
                continue
            before, move = fen(board), chess.Move.from_uci(uci)
            assert board.is_legal(move), (text, uci)
            move = board.parse_uci(uci)
            uci = board.uci(move, chess960=chess960)
            board.push(move)
            yield row(before, uci, board), board


def kinds(board):
    """Returns the properties that a position covers: its inputs, castling rights, checks."""
    mover = "w" if board.turn else "b"
    found = {("variant", board.chess960, mover)}
    found.add(("rights", board.chess960, mover, board.castling_xfen()))
    checkers = len(board.checkers())
    if checkers:
        found.add(("check", checkers, mover))
    if board.ep_square is not None:
        takers = board.attackers(board.turn, board.ep_square) & board.pieces(chess.PAWN, board.turn)
        found.add(("en passant", mover, len(takers), board.has_legal_en_passant(), bool(checkers)))
    return found | {("input", mover, index) for index in inputs(board)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["every", "chosen"])
    parser.add_argument("games", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    if args.what == "every":
        for path in args.games:
            for line, _ in rows(path):
                print(line)
        return
    seen = set()
    for line, board in rare():
        seen |= kinds(board)
        print(line)
    for path in args.games:
        for line, board in rows(path):
            found = kinds(board)
            if not found <= seen:
                seen |= found
                print(line)


if __name__ == "__main__":
    sys.stdout.reconfigure(newline="\n")
    main()
