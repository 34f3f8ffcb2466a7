"""Errors of the command, with the exit codes of `docs/exit-codes.md`."""

OTHER = 1
USAGE = 2
MISSING = 3
DAMAGED = 4
REFUSED = 5
CANNOT_WRITE = 7
INTERRUPTED = 130
TERMINATED = 143


class Failure(Exception):
    """Error that ends the command, with an exit code and a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Lost(Failure):
    """Lost connection or missing file: worth a retry on another node."""
