"""Runs commands in a guest of the lab, one for each connection.

A request is one line, the bytes it announces, and nothing more:

    run ID LENGTH INPUT      LENGTH bytes of shell command, INPUT bytes for its
                             standard input; answered by what it prints
    status ID                answered by the exit code, once

The command writes to the connection itself. When the connection is closed
before the command has ended, the command is killed with all its children.
Programs write line by line, as they would to a terminal: who waits for a line
would else wait until the program has filled a buffer or has ended.
"""

import os
import select
import signal
import socketserver
import subprocess
import sys
import threading


BY_LINE = {
    # What coreutils' stdbuf -oL sets, and the same for Python.
    "LD_PRELOAD": "/usr/libexec/coreutils/libstdbuf.so",
    "_STDBUF_O": "L",
    "PYTHONUNBUFFERED": "1",
}


class Commands:
    """The exit codes that nobody has asked for yet."""

    def __init__(self):
        self.codes = {}
        self.changed = threading.Condition()

    def end(self, ident, code):
        with self.changed:
            self.codes[ident] = code
            self.changed.notify_all()

    def status(self, ident):
        with self.changed:
            self.changed.wait_for(lambda: ident in self.codes, timeout=10)
            return self.codes.pop(ident, None)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline().decode().split()
        match words:
            case ["run", ident, length, size]:
                command = self.rfile.read(int(length)).decode()
                self.run(ident, command, self.rfile.read(int(size)))
            case ["status", ident]:
                code = self.server.commands.status(ident)
                self.wfile.write(b"" if code is None else b"%d\n" % code)

    def run(self, ident, command, data):
        child = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=self.connection,
            stderr=self.connection,
            start_new_session=True,
            env=os.environ | BY_LINE,
        )
        feeder = threading.Thread(target=feed, args=(child.stdin, data), daemon=True)
        feeder.start()
        if not self.ends(child):
            kill(child)
        code = child.wait()
        # As a shell would say it: 128 and the signal that killed it.
        self.server.commands.end(ident, 128 - code if code < 0 else code)

    def ends(self, child):
        """Waits for the child; false says that the other side went first."""
        ended = os.pidfd_open(child.pid)
        try:
            poll = select.poll()
            poll.register(ended, select.POLLIN)
            poll.register(self.connection, select.POLLIN)
            return any(fd == ended for fd, _ in poll.poll())
        finally:
            os.close(ended)


def feed(pipe, data):
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        pass  # the command does not read it all


def kill(child):
    for sig, patience in (signal.SIGTERM, 2), (signal.SIGKILL, None):
        try:
            os.killpg(child.pid, sig)
            child.wait(patience)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64
    commands = Commands()


if __name__ == "__main__":
    with Server(("", int(sys.argv[1])), Handler) as server:
        print(sys.argv[2], flush=True)
        server.serve_forever()
