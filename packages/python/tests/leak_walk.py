"""Searches for a secret in everything that is reachable from an object.

That is: attributes, items, slots, causes and contexts, the variables of frames of tracebacks, and the text of each object.
Variables in closures are not searched, because no logger, debugger page or error reporter shows them.
"""

from __future__ import annotations

import inspect
import types
import urllib.parse
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
# Types whose objects have items only. Their subclasses may have attributes.
_CONTAINERS = (dict, list, tuple, set, frozenset)
_PLAIN = (int, float, complex, bool, type(None), types.ModuleType, types.CodeType)


def reachable_texts(root: Any) -> list[str]:
    texts: list[str] = []
    visited: dict[int, Any] = {}
    queue: list[Any] = [root]

    def read(get: Any) -> None:
        try:
            queue.append(get())
        except Exception:  # A property that raises shows nothing but its error.
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
        for get in (lambda one=value: repr(one), lambda one=value: str(one)):
            read(get)
        if isinstance(value, BaseException):
            queue += [value.args, value.__cause__, value.__context__, value.__traceback__, vars(value)]
            queue.append(getattr(value, "__notes__", None))
        if isinstance(value, types.TracebackType):
            queue += [value.tb_next, value.tb_frame]
            continue
        if isinstance(value, types.FrameType):
            # The frames of the test contain the key on purpose.
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
        if type(value) in _CONTAINERS:
            continue
        # Properties of web3.py send requests to the node.
        is_web3 = type(value).__module__.startswith("web3.")
        for name in dir(value):
            if name.startswith("__") and name not in ("__dict__", "__notes__"):
                continue
            if is_web3 and isinstance(inspect.getattr_static(type(value), name, None), property):
                continue
            read(lambda one=value, name=name: getattr(one, name))
    return texts


def find_leaks(root: Any, secret: str) -> list[str]:
    """Return the texts that contain 8 consecutive characters of the secret."""
    runs = [secret[at : at + 8] for at in range(len(secret) - 7)]
    texts = set(reachable_texts(root))
    texts |= {urllib.parse.unquote(text) for text in texts if "%" in text}
    # A client has about ten thousand texts, nearly always without a leak: one search in all of them is enough then.
    together = "\0".join(texts)
    found = [run for run in runs if run in together]
    return [text for text in texts if any(run in text for run in found)]
