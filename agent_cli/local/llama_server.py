"""llama.cpp's server, and a watcher that ends it with its last user.

Run by its path, with nothing of agent_cli: ``python -P llama_server.py ENTRY USERS``. ``ENTRY`` is a
descriptor of the registry's entry (JSON: ``path``, ``name``, ``port``, ``key``) whose lock the server
holds as long as it lives; ``USERS`` is a file on which every user holds a shared lock. The system takes
the lock of a user who dies, however that happens, so nobody has to be asked whether he is still there.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import threading


def main(entry: int, users: str) -> None:
    """Returns in the process that was started; server and watcher go on without it."""
    if os.fork():
        return
    alive, watched = os.pipe()
    if server := os.fork():
        os.close(entry)
        _watch(server, users)
    else:
        os.close(watched)
        threading.Thread(target=_end_with_the_watcher, args=[alive], daemon=True).start()
        _serve(json.loads(os.pread(entry, 1 << 16, 0)))


def _watch(server: int, users: str) -> None:
    """In a process of its own: while a model loads, no thread of Python runs beside it.

    New users wait until the lock is free again, that is until the server is gone."""
    fcntl.flock(os.open(users, os.O_RDWR | os.O_CLOEXEC), fcntl.LOCK_EX)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)


def _end_with_the_watcher(alive: int) -> None:
    os.read(alive, 1)
    os._exit(0)


def _serve(entry: dict[str, str | int]) -> None:
    import xllamacpp  # noqa: PLC0415  (the watcher needs none of it)

    params = xllamacpp.CommonParams()
    params.model.path = entry["path"]
    params.model_alias = {entry["name"]}
    params.port = entry["port"]
    params.api_keys = [entry["key"]]
    params.cors_origins = "http://127.0.0.1"
    params.endpoint_slots = False
    server = xllamacpp.Server(params)
    while server:
        signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
