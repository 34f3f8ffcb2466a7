"""Compiles the kernels of trainer/gpu by NVRTC for each GPU; prints registers and spills.

    python3 tests/cuda/kernels.py CUDA DRIVER

CUDA is the folder with CUDA's `include` and `lib`, DRIVER the folder with the library of driver.c,
where kernels.json is written. The exit code is 1 if a kernel does not compile, spills more than
MOST_SPILLED bytes, or is not launched by the test.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

# Compute capabilities, ten times: Turing, Ampere (A100; RTX 30), Ada, Hopper, Blackwell (RTX 50).
CAPABILITIES = [75, 80, 86, 89, 90, 120]
# Bytes a thread. Spills of a few registers come and go with NVRTC's version.
MOST_SPILLED = 32
KERNEL = re.compile(r"#\[cube\(launch[^]]*\]\s*(?:pub\S*\s+)?fn (\w+)")
COMPILED = re.compile(
    r"entry function '(?P<kernel>\w+)' for '(?P<gpu>\w+)'\n.*\n"
    r".* (?P<stack>\d+) bytes stack frame, (?P<spilled>\d+) bytes spill stores.*\n"
    r".* Used (?P<registers>\d+) registers"
)


def build_test():
    """Builds the test of the kernels and returns the program's path."""
    command = "cargo test --locked -p gpu --features cuda --test against_cpu --no-run"
    built = subprocess.run(
        [*command.split(), "--message-format=json"], stdout=subprocess.PIPE, check=True, text=True
    )
    messages = map(json.loads, built.stdout.splitlines())
    return next(message["executable"] for message in messages if message.get("executable"))


def launch_kernels(test, cuda, driver, capability):
    """Runs the test as on a GPU of this compute capability; returns output and exit code."""
    environment = {
        **os.environ,
        "CUDA_PATH": str(cuda),
        "LD_LIBRARY_PATH": f"{driver}:{cuda / 'lib'}",
        "KIBITZ_COMPUTE_CAPABILITY": str(capability),
    }
    return subprocess.run(
        [test, "--exact", "cuda_kernels_launch"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def figures(output):
    """Returns by kernel the number of its programs and each figure's maximum over them."""
    found = {}
    for match in COMPILED.finditer(output):
        kernel = found.setdefault(match["kernel"], collections.Counter())
        kernel["programs"] += 1
        for name in ("registers", "spilled", "stack"):
            kernel[name] = max(kernel[name], int(match[name]))
    return found


def table(title, gpus, names, figure):
    """Returns a text table of one figure, with a row a kernel and a column a GPU."""
    width = max(map(len, [title, *names]))
    lines = [f"{title:{width}}" + "".join(f"{gpu:>9}" for gpu in gpus)]
    for name in names:
        cells = (f"{found[name][figure]:>9}" for found in gpus.values())
        lines.append(f"{name:{width}}" + "".join(cells))
    return "\n".join([*lines, ""])


def main():
    cuda, driver = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    sources = pathlib.Path("trainer/gpu/src").glob("*.rs")
    names = sorted(name for path in sources for name in KERNEL.findall(path.read_text()))
    test = build_test()
    gpus = {}
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda number: launch_kernels(test, cuda, driver, number), CAPABILITIES)
        for capability, run in zip(CAPABILITIES, runs):
            found = figures(run.stdout)
            missing = sorted(set(names) - set(found))
            if run.returncode or missing:
                log = run.stdout.splitlines()
                print(*(line for line in log if not line.startswith("ptxas info")), sep="\n")
                why = "fails" if run.returncode else f"does not launch {', '.join(missing)}"
                wrong.append(f"the test {why} (compute capability {capability / 10})")
                continue
            gpu = COMPILED.search(run.stdout)["gpu"]
            gpus[gpu] = found
            for name in names:
                if found[name]["spilled"] > MOST_SPILLED:
                    wrong.append(f"{name} spills {found[name]['spilled']} bytes on {gpu}")
    (driver / "kernels.json").write_text(json.dumps(gpus, indent=2) + "\n")
    spilling = [name for name in names if any(found[name]["spilled"] for found in gpus.values())]
    if gpus:
        print(table("registers", gpus, names, "registers"))
    if spilling:
        print(table("spilled bytes", gpus, spilling, "spilled"))
    if wrong:
        sys.exit("\n".join(wrong))


main()
