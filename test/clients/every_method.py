"""A part of a client that remembers which of its methods were called, and the status of a call that is refused."""

import httpx


async def status_of(call):
    try:
        await call
    except httpx.HTTPStatusError as error:
        return error.response.status_code


class EveryMethod:
    def __init__(self, part):
        self._part = part
        self._called = set()

    def __getattr__(self, name):
        self._called.add(name)
        return getattr(self._part, name)

    def uncalled(self):
        names = [name for name in dir(self._part) if not name.startswith("_")]
        return [n for n in names if callable(getattr(self._part, n)) and n not in self._called]
