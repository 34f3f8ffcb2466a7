"""Runs the test programs of the workspace in parallel, and lists failures at the end.

`cargo test` runs one program after another, so the slowest test of each leaves the other
cores idle.

    tests/run.py --no-default-features --features engine/cli
    tests/run.py -p tests --test cluster -- --ignored

Arguments are those of `cargo test`: packages and features, and behind `--` those of the test
programs. The exit code is 1 if a test failed, and cargo's if something does not compile.

Temporary files of the tests lie in memory if there is room: on a busy disk each of the thousands
of `fsync` calls takes 5 to 25 ms. TMPDIR selects another folder.
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# File system in memory, and the free bytes that it must have.
MEMORY, ROOM = "/dev/shm", 8 << 30

# Seconds of the longest programs, for a first run.
LONGEST = {"engine/openbench": 158, "datasets/datasets": 88, "tests/exactly_once": 73}

FAILED = re.compile(r"^test (.*) \.\.\. FAILED$", re.MULTILINE)


def test_programs(arguments):
    """Builds the tests; yields each program and the folder of its package."""
    command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cargo:
        for line in cargo.stdout:
            message = json.loads(line)
            if message["reason"] == "compiler-artifact" and message["profile"]["test"]:
                if message["executable"]:
                    yield message["executable"], pathlib.Path(message["manifest_path"]).parent
    if cargo.returncode:
        sys.exit(cargo.returncode)


def name_of(program, folder):
    """Returns `tests/fit` for the program `fit-0123456789abcdef`."""
    return f"{folder.name}/{pathlib.Path(program).name.rsplit('-', 1)[0]}"


def restore_signals():
    """Lets programs start with the usual effect of signals, which tests send: `nohup` and a shell's
    `&` ignore some, and programs inherit that, but no handler.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def is_roomy(folder):
    """Returns whether a file system in memory has room, and runs programs."""
    if not os.path.isdir(folder) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False
    available = re.search(r"MemAvailable: *(\d+) kB", pathlib.Path("/proc/meminfo").read_text())
    return min(int(available[1]) << 10, shutil.disk_usage(folder).free) >= ROOM


@contextlib.contextmanager
def temporary_folder():
    """Points TMPDIR, unless it is set, to a folder in memory, if there is room."""
    if "TMPDIR" in os.environ or not is_roomy(MEMORY):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="kibitz-tests-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        # A test runs the engine under another account.
        os.chmod(folder, 0o755)
        os.environ["TMPDIR"] = folder
        yield


def run(program, folder, options):
    """Returns the name, the seconds by the clock and of processor time, the output and the failed
    tests of a program."""
    start = time.monotonic()
    name = name_of(program, folder)
    environment = os.environ | {"CARGO_MANIFEST_DIR": str(folder)}
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([program, *options], cwd=folder, env=environment, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read().decode(errors="replace")
    failed = [f"{name}: {test}" for test in FAILED.findall(output)]
    if child.returncode and not failed:
        failed = [f"{name}: exit code {child.returncode}"]
    return name, time.monotonic() - start, usage.ru_utime + usage.ru_stime, output, failed


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, options = arguments[:cut], arguments[cut + 1 :]
    programs = list(test_programs(arguments))
    restore_signals()
    # Longest first, by the last run, so that no long one runs alone at the end.
    record = pathlib.Path(programs[0][0]).parent / "test-seconds.json"
    before = LONGEST | (json.loads(record.read_text()) if record.exists() else {})
    programs.sort(key=lambda program: -before.get(name_of(*program), 0))
    failed, seconds, processor = [], {}, {}
    with temporary_folder(), concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(run, *program, options) for program in programs]
        for done in concurrent.futures.as_completed(runs):
            name, seconds[name], processor[name], output, failures = done.result()
            times = f"{seconds[name]:.1f} s, {processor[name]:.1f} s of processor time"
            print(f"\n== {name}, {times}\n{output.strip()}", flush=True)
            failed += failures
    record.write_text(json.dumps(before | seconds))
    heaviest = sorted(processor.items(), key=lambda item: -item[1])[:10]
    print(f"\nprocessor time: {sum(processor.values()):.0f} s, most by")
    print(", ".join(f"{name} {time:.0f} s" for name, time in heaviest))
    if failed:
        print("\nfailed:", *failed, sep="\n    ")
        sys.exit(1)


main()
