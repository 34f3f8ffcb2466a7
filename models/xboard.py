#!/usr/bin/env python3
"""UCI adapter for engines that speak only the Chess Engine Communication Protocol (xboard).
Needs python-chess.

    arena match --engine embedded --engine 'cmd="python3 models/xboard.py phalanx"' ...

A search cannot be stopped. UCI has no resignation: it becomes
`bestmove 0000`, which loses the game as an illegal move does.
"""

import logging
import sys

import chess
import chess.engine

# python-chess warns about every unknown line of an engine.
logging.getLogger("chess.engine").setLevel(logging.ERROR)


def limit(words, game):
    """Returns the limit of a `go` command, times in seconds; the clock is set once a game."""
    given = {name: int(value) for name, value in zip(words, words[1:]) if value.isdigit()}
    seconds = {name: value / 1000 for name, value in given.items()}
    return chess.engine.Limit(
        time=seconds.get("movetime"),
        depth=given.get("depth"),
        nodes=given.get("nodes"),
        white_clock=seconds.get("wtime"),
        black_clock=seconds.get("btime"),
        white_inc=seconds.get("winc"),
        black_inc=seconds.get("binc"),
        remaining_moves=given.get("movestogo"),
        clock_id=game,
    )


def position(words):
    """Returns the board after a `position` command."""
    end = words.index("moves") if "moves" in words else len(words)
    board = chess.Board(" ".join(words[1:end]) or chess.STARTING_FEN)
    for move in words[end + 1 :]:
        board.push_uci(move)
    return board


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: xboard.py PROGRAM [ARGUMENTS]")
    engine = chess.engine.SimpleEngine.popen_xboard(sys.argv[1:], timeout=30)
    game, board = object(), chess.Board()
    for line in sys.stdin:
        command, *words = line.split() or [""]
        if command == "uci":
            print("id name", engine.id.get("name", sys.argv[1]))
            print("uciok")
        elif command == "isready":
            print("readyok")
        elif command == "ucinewgame":
            game = object()
        elif command == "position":
            board = position(words)
        elif command == "go":
            result = engine.play(board, limit(words, game), game=game, info=chess.engine.INFO_SCORE)
            if "score" in result.info:
                score = result.info["score"].relative
                mate = f"mate {score.mate()}"
                print("info score", mate if score.is_mate() else f"cp {score.score()}")
            print("bestmove", result.move or "0000")
        elif command == "quit":
            break
        sys.stdout.flush()
    engine.quit()


if __name__ == "__main__":
    main()
