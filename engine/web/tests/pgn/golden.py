"""Writes the parse of the PGN files here by python-chess: `python golden.py > golden.json`."""

import json
import pathlib
import re

import chess.pgn


def first(pattern: str, text: str) -> str:
    return re.sub(pattern, "", text, count=1)


def describe(node: chess.pgn.GameNode, parent: int) -> dict:
    comment = node.comment
    score = node.eval()
    clock = node.clock()
    if score is not None:
        comment = first(r"\[%eval [^\]]*\]", comment)
    if clock is not None:
        comment = first(r"\[%clk [^\]]*\]", comment)
    white = score.white() if score is not None else None
    return {
        "parent": parent,
        "uci": node.move.uci() if node.move else "",
        "before": node.starting_comment.split() if node.parent else [],
        "comment": comment.split(),
        "glyphs": sorted(node.nags),
        "eval": None
        if white is None
        else {"mate": white.mate()} if white.is_mate() else {"cp": white.score()},
        "depth": node.eval_depth() or 0,
        "clock": None if clock is None else round(clock * 1000),
    }


def flatten(game: chess.pgn.Game) -> list[dict]:
    """Nodes in PGN order: a move, its variations, the moves after it."""
    nodes = [describe(game, 0)]

    def follow(node: chess.pgn.GameNode, number: int) -> None:
        while node.variations:
            main, *others = node.variations
            nodes.append(describe(main, number))
            reached = len(nodes) - 1
            for other in others:
                nodes.append(describe(other, number))
                follow(other, len(nodes) - 1)
            node, number = main, reached

    follow(game, 0)
    return nodes


golden = {}
for path in sorted(pathlib.Path(__file__).parent.glob("*.pgn")):
    with path.open(encoding="utf-8") as file:
        game = chess.pgn.read_game(file)
    assert game is not None and not game.errors, (path, game and game.errors)
    # It leaves escaped quotes as they are.
    tags = {name: value.replace('\\"', '"') for name, value in game.headers.items()}
    golden[path.name] = {"tags": tags, "nodes": flatten(game)}
print(json.dumps(golden, ensure_ascii=False, indent=1))
