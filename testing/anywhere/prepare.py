"""Makes things that take minutes or need the network once, when the first row needs them."""

import functools
import threading


def once(function):
    """Returns a function that does its work at the first call. Later calls raise the exception of the first call, if there was one."""
    lock = threading.Lock()

    @functools.cache
    def call():
        try:
            function()
        except Exception as failed:
            return failed
        return None

    def needs():
        with lock:
            failed = call()
        if failed:
            raise failed

    return needs
