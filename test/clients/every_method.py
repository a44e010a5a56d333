"""A part of a client that remembers which of its methods were called."""


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
