"""Compresses text like Lichess's dumps: independent zstd frames, each after a skippable
frame that holds its compressed size (pzstd's format).

    pip install zstandard==0.25.0
    python tests/reference/pzstd.py games.pgn games.pgn.zst --frame 262144

Lichess's frames hold 32 MiB of text; the small samples have smaller ones.
"""

import argparse
import pathlib
import struct

import zstandard

SKIPPABLE_MAGIC = 0x184D2A50


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--frame", type=int, default=32 << 20)
    args = parser.parse_args()
    text = args.text.read_bytes()
    packer = zstandard.ZstdCompressor(level=19, write_checksum=True)
    with open(args.out, "wb") as out:
        for start in range(0, len(text), args.frame):
            frame = packer.compress(text[start : start + args.frame])
            out.write(struct.pack("<III", SKIPPABLE_MAGIC, 4, len(frame)) + frame)


main()
