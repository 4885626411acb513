"""Stop a process at each of its file operations.

`outcomes` forks once per operation. An audit hook in the child counts operations, and sends the child a signal right
before the one with the given number. Call it in a process that has started no threads.
"""

import os
import signal
import sys

OPERATIONS = {"open", "os.chmod", "os.chown", "os.link", "os.listdir", "os.mkdir", "os.remove", "os.rename"}
OPERATIONS |= {"os.rmdir", "os.scandir", "os.truncate", "os.utime", "shutil.copystat", "shutil.rmtree"}


def stop_at(number, sign, root):
    """Send a signal to this process before its file operation of this number, counted from 0, below ``root``."""
    seen = 0

    def hook(event, args):
        nonlocal seen
        if event not in OPERATIONS:
            return
        # Removing a tree names files relative to an open folder, so only names that lead elsewhere are left out.
        name = os.fsdecode(args[0]) if isinstance(args[0], str | bytes | os.PathLike) else ""
        if name.startswith("/") and not name.startswith(root):
            return
        seen += 1
        if seen == number + 1:
            os.kill(os.getpid(), sign)

    sys.addaudithook(hook)
    return lambda: seen > number


def outcomes(job, sign, *, root, prepare, step=1):
    """Yield the exit status of ``job()`` stopped at operation 0, ``step``, ... until it has no more of them.

    ``prepare()`` is called before each run. The status is the exit code, or minus the signal that ended the process.
    """
    for number in range(0, 1000, step):
        prepare()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                reached = stop_at(number, sign, str(root))
                code = job()
                if not reached():
                    os.write(writing, b"finished")
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            finished = answer.read() == b"finished"
        _, status = os.waitpid(child, 0)
        if finished:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        yield os.waitstatus_to_exitcode(status)
    raise AssertionError("a thousand file operations and no end")
