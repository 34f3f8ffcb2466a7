"""Tests of the package against python-chess and Kibitz's programs. Run by `tests/python.sh`.

KIBITZ_PROGRAMS is the folder of the programs.
"""

import ast
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import numpy as np
import pyarrow.parquet
import pytest

import kibitz

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(os.environ["KIBITZ_PROGRAMS"])
SAMPLE = ROOT / "datasets/samples/dump_2026-06_annotated500.pgn.zst"

sys.path.insert(0, str(ROOT / "tests/reference"))
import inputs as by_python_chess  # noqa: E402


def program(name, *arguments):
    return subprocess.run(
        [PROGRAMS / name, *arguments], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a dataset and its exported rows, both made by `ingest`."""
    folder = tmp_path_factory.mktemp("dataset")
    dataset, rows = folder / "games.dataset", folder / "rows.parquet"
    program("ingest", "build", SAMPLE, "--keep", "quiet", "--out", dataset)
    program("ingest", "export", dataset, "--format", "parquet", "--split", "all", "--out", rows)
    return folder


@pytest.fixture(scope="session")
def dataset(folder):
    return kibitz.Dataset(folder / "games.dataset")


@pytest.fixture(scope="session")
def rows(folder):
    return pyarrow.parquet.read_table(folder / "rows.parquet")


@pytest.fixture(scope="session")
def engine():
    return kibitz.Engine()


@pytest.fixture(scope="session")
def fens(rows):
    return random.Random(1).sample(rows["fen"].to_pylist(), 200)


def indices(row):
    """Returns the inputs of a row without padding."""
    return sorted(row[row != kibitz.INPUTS].tolist())


def test_rows_match_export(dataset, rows):
    read = []
    for split in ("train", "validation"):
        assert dataset.count(split) == rows["split"].to_pylist().count(split) > 0
        for batch in dataset.batches(split, 1000):
            sign = np.where(batch.white_to_move, 1, -1)
            scores = batch.scores * sign
            mates = np.sign(scores) * (32_000 - np.abs(scores))
            results = (batch.results * sign + 1) / 2
            for i, fen in enumerate(batch.fens()):
                month, mate = batch.months[i], abs(scores[i]) > 30_000
                read.append(
                    {
                        "fen": fen,
                        "cp": None if mate else scores[i],
                        "mate": mates[i] if mate else None,
                        "result": None if np.isnan(results[i]) else results[i],
                        "ply": batch.plies[i],
                        "month": None if np.isnat(month) else str(month),
                        "depth": batch.depths[i] or None,
                        "split": split,
                    }
                )
    assert read == rows.to_pylist()


def test_records_and_labels(dataset):
    for batch in dataset.batches(size=1000):
        records = batch.records
        assert records.shape == (len(batch), 32) and records.dtype == np.uint8
        stored = records[:, 28:30].copy().view("<i2")[:, 0]
        assert (np.where(batch.white_to_move, stored, -stored) == batch.scores).all()
        chances = 2 / (1 + np.exp(-0.368208 * batch.scores.astype(float) / 100)) - 1
        assert np.abs(chances - batch.win_chances).max() < 1e-6


def test_inputs_match_python_chess(dataset):
    compared = 0
    for batch in dataset.batches("validation", 500):
        own, opposing = batch.inputs, batch.opposing_inputs
        assert own.shape == opposing.shape == (len(batch), kibitz.MAX_ACTIVE)
        for fen, mine, theirs in zip(batch.fens(), own, opposing):
            expected = by_python_chess.inputs(chess.Board(fen))
            assert indices(mine) == expected == kibitz.inputs(fen).tolist(), fen
            assert indices(theirs) == sorted(map(by_python_chess.seen_by_other, expected)), fen
            compared += 1
    assert compared > 500


def test_rare_inputs_match_python_chess():
    for line in (ROOT / "tests/data/inputs.tsv").read_text().splitlines():
        fen, expected = line.split("\t")[2:]
        assert kibitz.inputs(fen).tolist() == list(map(int, expected.split())), fen


def test_batches_cover_all_positions_once(dataset):
    def read(**order):
        sizes, records = [], []
        for batch in dataset.batches(size=700, **order):
            sizes.append(len(batch))
            records += map(bytes, batch.records)
        assert all(size == 700 for size in sizes[:-1]) and 0 < sizes[-1] <= 700
        return records

    stored = read()
    assert len(set(stored)) == len(stored) == dataset.count()
    shuffled = read(seed=1)
    assert shuffled == read(seed=1, epoch=0) != stored
    assert read(seed=2) != shuffled != read(seed=1, epoch=1)
    assert sorted(shuffled) == sorted(stored)


def test_batches_may_be_abandoned(dataset):
    for _ in range(20):
        assert len(next(dataset.batches(size=1, seed=1))) == 1
    assert len(next(dataset.batches(size=10**9))) == dataset.count()


def test_fingerprint_and_manifest(dataset, folder):
    metadata = pyarrow.parquet.read_metadata(folder / "rows.parquet").metadata
    assert dataset.fingerprint == metadata[b"kibitz.fingerprint"].decode()
    assert dataset.manifest["fingerprint"] == dataset.fingerprint
    assert dataset.manifest["counts"]["positions_train"] == dataset.count("train")


def test_evaluations_match_the_engine(engine, fens):
    fens = fens[:30]
    for fen, value, exact in zip(fens, engine.evaluate(fens), engine.evaluate_float(fens)):
        expected = json.loads(program("engine", "eval", fen, "--json"))
        assert value == expected["quantised"]["mover"], fen
        assert exact == pytest.approx(expected["float"]["mover"], abs=1e-3), fen


def test_colour_twins_have_equal_values(engine, fens):
    twins = [chess.Board(fen).mirror().fen(en_passant="legal") for fen in fens]
    assert (engine.evaluate(fens) == engine.evaluate(twins)).all()


def test_searches_match_the_engine(fens):
    with chess.engine.SimpleEngine.popen_uci(str(PROGRAMS / "engine")) as uci:
        for game, fen in enumerate(fens[:10]):
            mine = kibitz.Engine().search(fen, depth=7)
            info = uci.analyse(chess.Board(fen), chess.engine.Limit(depth=7), game=game)
            assert mine.pv == [move.uci() for move in info["pv"]], fen
            assert mine.move == mine.pv[0]
            assert (mine.nodes, mine.depth) == (info["nodes"], 7), fen
            assert mine.mate == info["score"].relative.mate(), fen
            if mine.mate is None:
                assert mine.score == info["score"].relative.score(), fen


def test_lines_are_legal_and_ordered(engine, fens):
    for fen in fens[:20]:
        outcome = engine.search(fen, nodes=5_000, lines=3)
        assert [line.pv for line in outcome.lines][0] == outcome.pv
        scores = [line.score for line in outcome.lines]
        assert scores == sorted(scores, reverse=True)
        for line in outcome.lines:
            board = chess.Board(fen)
            for move in line.pv:
                board.push_uci(move)


def test_limits_hold(engine):
    assert engine.search(chess.STARTING_FEN, nodes=1_000).nodes == 1_000
    # The depth depends on the speed of the machine; only the end of the search is tested.
    outcome = engine.search(chess.STARTING_FEN, ["e2e4", "e7e5"], time=0.1)
    assert outcome.depth >= 1 and outcome.pv
    engine.clear()


def test_mates(engine):
    mate = engine.search("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", depth=3)
    assert (mate.move, mate.mate, mate.score) == ("e1e8", 1, 31_999)
    mated = engine.search("7k/8/8/8/8/8/r7/1r4K1 w - - 0 1", depth=3)
    assert (mated.move, mated.mate, mated.score) == (None, 0, -32_000)
    assert mated.pv == []


def test_castling_is_in_uci_notation(engine):
    castles = "4k3/8/8/8/8/8/4PPPP/4K2R w K - 0 1"
    assert engine.search(castles, ["e1g1"], depth=1).move
    fen = "4k2r/8/8/8/8/8/8/1K3R2 w Fh - 0 1"
    board = chess.Board(fen, chess960=True)
    for move in ["b1f1", *engine.search(fen, ["b1f1"], depth=4).pv]:
        board.push_uci(move)


def test_a_net_file(engine, fens):
    default = kibitz.Engine(ROOT / "models/default.safetensors")
    assert (default.evaluate(fens) == engine.evaluate(fens)).all()


def test_ctrl_c_ends_a_search(engine):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.search(chess.STARTING_FEN, depth=100)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert engine.search(chess.STARTING_FEN, depth=2).move


def test_errors_name_their_cause(dataset, engine, tmp_path):
    with pytest.raises(kibitz.DatasetError, match="nothing"):
        kibitz.Dataset(tmp_path / "nothing")
    with pytest.raises(OSError, match="nothing"):
        kibitz.Engine(tmp_path / "nothing")
    (tmp_path / "net").write_bytes(b"no net")
    with pytest.raises(ValueError):
        kibitz.Engine(tmp_path / "net")
    with pytest.raises(ValueError, match="split"):
        dataset.batches("test")
    with pytest.raises(ValueError, match="batch"):
        dataset.batches(size=0)
    with pytest.raises(ValueError):
        engine.evaluate(["no position"])
    with pytest.raises(ValueError, match="depth, nodes or time"):
        engine.search(chess.STARTING_FEN)
    with pytest.raises(ValueError, match="e2e5"):
        engine.search(chess.STARTING_FEN, ["e2e5"], depth=1)
    with pytest.raises(ValueError):
        engine.search(chess.STARTING_FEN, time=-1.0)


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stub_lists_the_whole_module():
    stub = ast.parse((ROOT / "engine/python/kibitz.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    constants = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    module = public(vars(kibitz)) - {"kibitz"}
    assert public(classes.keys() | functions | constants) == module
    for name, node in classes.items():
        members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
        if name != "DatasetError":
            assert public(members) == public(vars(getattr(kibitz, name))), name
            assert getattr(kibitz, name).__doc__
