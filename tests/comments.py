#!/usr/bin/env python3
"""Lists Rust comments that open with a pronoun or a relative clause and so hide their subject.

A comment is read alone, in an editor's hover or a search result: it opens with a noun phrase in
the field's terms, or with what a function does ("Returns the static evaluation in centipawns").

    python3 tests/comments.py

The exit code is 1 if there is one.
"""

import re
import subprocess
import sys

OPENING = re.compile(
    r"(What|Who|Whom|How|Those|Such|Of|That|It|They|Them|Its|Their|One|Ones|None|Nobody|Nothing"
    r"|Likewise)\b(?!-)"
)
COMMENT = re.compile(r"\s*//[/!]?\s?(.*)")


def main():
    listed = subprocess.run(["git", "ls-files", "*.rs"], stdout=subprocess.PIPE, check=True, text=True)
    found = 0
    for path in listed.stdout.split():
        with open(path, encoding="utf-8") as file:
            before = None
            for number, line in enumerate(file, 1):
                comment = COMMENT.match(line)
                if comment and not before and OPENING.match(comment[1]):
                    print(f"{path}:{number}: {comment[1]}")
                    found += 1
                before = comment
    if found:
        sys.exit(f"{found} comments hide their subject (CONTRIBUTING.md)")


main()
