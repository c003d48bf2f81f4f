"""What takes minutes or needs the network is made when the first row that needs it runs, and once."""

import functools
import threading


def once(function):
    """Makes a function that does its work at the first call, and at each call raises what the first one raised."""
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
