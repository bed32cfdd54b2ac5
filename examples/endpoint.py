"""The endpoint that the Python examples call."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

_LOCAL_ENV = Path(__file__).parents[1] / ".keyrail/local.env"
_OPTIONS = {"base_url": "KEYRAIL_BASE_URL", "rpc_url": "KEYRAIL_RPC_URL", "url": "KEYRAIL_URL"}


def get_endpoint() -> dict[str, Any]:
    """Return the endpoint set by environment variables, or else that of the service that ``npm start`` runs on this machine."""
    values = dict(os.environ)
    if not any(values.get(name) for name in _OPTIONS.values()):
        if not _LOCAL_ENV.exists():
            print("No service is running. Start one with `npm start` at the top of the workspace,", file=sys.stderr)
            print("or set KEYRAIL_BASE_URL and KEYRAIL_API_KEY to use another one.", file=sys.stderr)
            sys.exit(2)
        # Never mix the two sources: a key must be sent only to its own service.
        lines = [line.split("=", 1) for line in _LOCAL_ENV.read_text("utf-8").splitlines() if "=" in line]
        values = {name.strip(): value.strip().strip("\"'") for name, value in lines}
    option, name = next((option, name) for option, name in _OPTIONS.items() if values.get(name))
    key = {} if option == "url" else {"api_key": values.get("KEYRAIL_API_KEY", "")}
    return {option: values[name], **key}
