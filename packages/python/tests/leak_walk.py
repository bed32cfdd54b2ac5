"""Looks for a secret in everything that can be reached from something without asking the interpreter for its insides.

That is: attributes, items, slots, causes and contexts, the variables of the frames of tracebacks, and how each thing prints.
What functions enclose is not looked at: no logger, debugger page or error reporter shows it.
"""

from __future__ import annotations

import inspect
import types
import urllib.parse
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
#: What has nothing but its items. Whoever is made from one of them may have more.
_HOLDERS = (dict, list, tuple, set, frozenset)
_PLAIN = (int, float, complex, bool, type(None), types.ModuleType, types.CodeType)


def reachable_texts(root: Any) -> list[str]:
    texts: list[str] = []
    visited: dict[int, Any] = {}
    queue: list[Any] = [root]

    def read(get: Any) -> None:
        try:
            queue.append(get())
        except Exception:  # A property that raises gives nothing away but its error.
            return

    while queue:
        value = queue.pop()
        if isinstance(value, str):
            texts.append(value)
            continue
        if isinstance(value, (bytes, bytearray)):
            texts.append(bytes(value).decode("latin-1"))
            continue
        if isinstance(value, _PLAIN) or id(value) in visited:
            continue
        visited[id(value)] = value
        if isinstance(value, type):
            continue
        for get in (lambda held=value: repr(held), lambda held=value: str(held)):
            read(get)
        if isinstance(value, BaseException):
            queue += [value.args, value.__cause__, value.__context__, value.__traceback__, vars(value)]
            queue.append(getattr(value, "__notes__", None))
        if isinstance(value, types.TracebackType):
            queue += [value.tb_next, value.tb_frame]
            continue
        if isinstance(value, types.FrameType):
            # The frames of the test itself hold the key of course. Those of Python's own library are looked at.
            if Path(value.f_code.co_filename).parent != TESTS:
                queue.append(dict(value.f_locals))
            continue
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            queue += [value.__dict__ if hasattr(value, "__dict__") else None]
            if isinstance(value, types.FunctionType):
                queue += [value.__defaults__, value.__kwdefaults__]
            continue
        if isinstance(value, types.MethodType):
            queue.append(value.__self__)
            continue
        if isinstance(value, types.GeneratorType):
            if value.gi_frame is not None:
                queue.append(dict(value.gi_frame.f_locals))
            continue
        if isinstance(value, dict):
            queue += [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            queue += list(value)
        if type(value) in _HOLDERS:
            continue
        # Properties of web3.py ask the node.
        may_ask = type(value).__module__.startswith("web3.")
        for name in dir(value):
            if name.startswith("__") and name not in ("__dict__", "__notes__"):
                continue
            if may_ask and isinstance(inspect.getattr_static(type(value), name, None), property):
                continue
            read(lambda held=value, name=name: getattr(held, name))
    return texts


def leaks_of(root: Any, secret: str) -> list[str]:
    """Give the texts in which a run of 8 characters of the secret stands."""
    runs = [secret[at : at + 8] for at in range(len(secret) - 7)]
    texts = set(reachable_texts(root))
    texts |= {urllib.parse.unquote(text) for text in texts if "%" in text}
    # A client reaches some ten thousand texts, in nearly all cases without a leak: one look at all of them is enough then.
    together = "\0".join(texts)
    found = [run for run in runs if run in together]
    return [text for text in texts if any(run in text for run in found)]
