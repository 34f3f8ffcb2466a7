"""python-chess as a GUI: plays and analyses with an engine, and checks its output.

    pip install chess==1.11.2
    python uci_gui.py ENGINE

Every move and every line of play is judged by python-chess's own rules.
Whatever it logs as unexpected is an error too. Prints what was done; ends with
code 1 at the first thing that is wrong.
"""

import logging
import random
import sys

import chess
import chess.engine
from chess.engine import Limit


# Increment in seconds of games with clocks.
INCREMENT = 0.01


class Complaints(logging.Handler):
    """Log handler that keeps python-chess's warnings about the engine's output."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


def check(right, *what):
    if not right:
        raise AssertionError(" ".join(str(word) for word in what))


def check_info(board, info):
    for name in ["depth", "seldepth", "score", "nodes", "nps", "time", "hashfull", "pv"]:
        check(name in info, "no", name, "in", info, board.fen())
    check(info["pv"], "an empty line", board.fen())
    line = board.copy()
    for move in info["pv"]:
        check(move in line.legal_moves, move, "is illegal in", line.fen())
        line.push(move)


def check_result(board, result, pondered):
    check(result.move in board.legal_moves, result.move, "is illegal in", board.fen())
    if result.ponder is not None:
        after = board.copy()
        after.push(result.move)
        check(result.ponder in after.legal_moves, result.ponder, "in", after.fen())
    # python-chess drops info received while pondering.
    if not pondered or result.info:
        check_info(board, result.info)
        check(result.info["pv"][0] == result.move, result, board.fen())


def play_game(engine, board, limits, rng, plies=140):
    """Plays a game of the engine against itself; when pondering, against random moves."""
    clocks = {chess.WHITE: 2.0, chess.BLACK: 2.0}
    expected = None
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < plies:
        limit = limits[board.ply() % len(limits)]
        ponder = limit == "ponder"
        if ponder and board.turn == chess.BLACK:
            # The ponder move in 70 % of the cases.
            move = rng.choice(list(board.legal_moves))
            if expected is not None and rng.random() < 0.7:
                move = expected
            board.push(move)
            continue
        if isinstance(limit, str):
            limit = Limit(
                white_clock=clocks[chess.WHITE],
                black_clock=clocks[chess.BLACK],
                white_inc=INCREMENT,
                black_inc=INCREMENT,
            )
        result = engine.play(board, limit, game=game, info=chess.engine.INFO_ALL, ponder=ponder)
        check_result(board, result, ponder)
        if limit.white_clock is not None:
            spent = float(result.info.get("time", 0.0))
            clocks[board.turn] += INCREMENT - spent
            check(clocks[board.turn] > 0, "lost on time", board.fen())
        expected = result.ponder
        board.push(result.move)
    return board


def options(engine):
    kinds = {option.name: option.type for option in engine.options.values()}
    for name, kind in {
        "Threads": "spin",
        "Hash": "spin",
        "Clear Hash": "button",
        "Ponder": "check",
        "MultiPV": "spin",
        "UCI_Chess960": "check",
        "UCI_LimitStrength": "check",
        "UCI_Elo": "spin",
        "EvalFile": "string",
        "Evaluation": "combo",
    }.items():
        check(kinds.get(name) == kind, name, "is", kinds.get(name))
    for option in engine.options.values():
        if option.type != "button" and not option.is_managed():
            # Kibitz's own default.
            engine.configure({option.name: option.default})
    engine.configure({"Threads": 2, "Hash": 32, "Clear Hash": None, "Move Overhead": 10})
    engine.ping()
    try:
        engine.configure({"Hash": 0})
        check(False, "a Hash of 0 is taken")
    except chess.engine.EngineError:
        pass
    engine.configure({"Threads": 1, "Hash": 16})


def analyses(engine):
    board = chess.Board()
    board.push_san("e4")
    infos = engine.analyse(board, Limit(depth=7), multipv=5)
    check(len(infos) == 5, infos)
    scores = [info["score"].relative.score() for info in infos]
    check(scores == sorted(scores, reverse=True), scores)
    check(len({info["pv"][0] for info in infos}) == 5, infos)
    for info in infos:
        check_info(board, info)
    few = chess.Board("k7/8/8/8/8/8/1r6/7K w - - 0 1")
    check(len(engine.analyse(few, Limit(depth=4), multipv=5)) == 1, "one legal move")

    # Infinite search, ended by stop.
    for multipv in [None, 3]:
        with engine.analysis(board, multipv=multipv) as analysis:
            depth = 0
            for info in analysis:
                if "score" in info:
                    check_info(board, info)
                depth = max(depth, info.get("depth", 0))
                if depth >= 6:
                    analysis.stop()
                    break
            best = analysis.wait()
            check(best.move in board.legal_moves, best)

    only = [chess.Move.from_uci("a7a6"), chess.Move.from_uci("h7h6")]
    check(engine.analyse(board, Limit(depth=4), root_moves=only)["pv"][0] in only, "root_moves")
    check(engine.play(board, Limit(nodes=1000), root_moves=only).move in only, "root_moves")

    # Morphy: mate in two by a1a6.
    morphy = chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1")
    check(engine.analyse(morphy, Limit(mate=2))["score"].relative == chess.engine.Mate(2), "mate")
    check(engine.play(morphy, Limit(mate=2)).move == chess.Move.from_uci("a1a6"), "mate")

    # Every mate and stalemate is answered without a move.
    for fen in ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"]:
        check(not engine.play(chess.Board(fen), Limit(depth=3)).move, fen)


def games(engine):
    rng = random.Random(1)
    played = []
    standard = [
        [Limit(nodes=2000)],
        [Limit(depth=4), Limit(time=0.01)],
        ["clock"],
        ["ponder"],
        [Limit(nodes=1), Limit(depth=1)],
    ]
    for limits in standard:
        played.append(play_game(engine, chess.Board(), limits, rng))
    for position in [0, 518, 959]:
        board = chess.Board.from_chess960_pos(position)
        played.append(play_game(engine, board, [Limit(nodes=1500), "clock"], rng))
    # Castling in the GUI's notation, in standard chess and Chess960.
    for chess960 in [False, True]:
        board = chess.Board("3k4/8/8/8/8/8/1r6/R3K3 w Q - 0 1", chess960=chess960)
        move = engine.play(board, Limit(depth=8)).move
        check(board.is_castling(move), board.uci(move))
    for setting in [{"Level": "easy"}, {"UCI_LimitStrength": True, "UCI_Elo": 800}]:
        before = {name: engine.options[name].default for name in setting}
        engine.configure(setting)
        board = chess.Board()
        while not board.is_game_over(claim_draw=True) and board.ply() < 40:
            move = engine.play(board, Limit(time=0.1)).move
            check(move in board.legal_moves, move, board.fen())
            board.push(move)
        played.append(board)
        engine.configure(before)
    return played


def main():
    complaints = Complaints()
    logging.getLogger("chess.engine").addHandler(complaints)
    with chess.engine.SimpleEngine.popen_uci(sys.argv[1], timeout=120) as engine:
        check(engine.id["name"].startswith("Kibitz"), engine.id)
        options(engine)
        analyses(engine)
        played = games(engine)
        engine.quit()
        check(engine.returncode.result(60) == 0, "ended with", engine.returncode)
    check(not complaints.lines, "\n".join(complaints.lines))
    plies = [board.ply() for board in played]
    ended = sum(board.is_game_over(claim_draw=True) for board in played)
    print(f"{len(played)} games of {sum(plies)} plies, {ended} to their end")


if __name__ == "__main__":
    main()
