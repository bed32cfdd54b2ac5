"""Writes all transfers of a token to a Parquet file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keyrail import KeyrailError, KeyrailProvider, LogsProgress, logs
from pyarrow import parquet
from web3 import Web3

sys.path.append(str(Path(__file__).parents[1]))
from endpoint import get_endpoint

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"

parser = argparse.ArgumentParser(description=__doc__)
# The token that `npm start` deploys on its chains.
parser.add_argument("--token", default="0xe7f1725e7734ce288f8367e1bb143e90bb3f0512")
parser.add_argument("--from", dest="from_block", type=int, default=0)
parser.add_argument("--latest", action="store_true", help="read blocks that can still be replaced, too")
parser.add_argument("--out", default="transfers.parquet")
arguments = parser.parse_args()


def show(progress: LogsProgress) -> None:
    """Print the progress."""
    print(f"{progress.blocks_done} of {progress.blocks_total} blocks, {progress.logs} transfers", file=sys.stderr)


with KeyrailProvider(**get_endpoint()) as provider:
    transfers = logs(
        Web3(provider),
        address=arguments.token,
        event=TRANSFER,
        from_block=arguments.from_block,
        to_block="latest" if arguments.latest else "finalized",
        on_progress=show,
    )
    try:
        result = transfers.to_parquet(arguments.out)
    except KeyrailError as failure:
        sys.exit(f"{failure}\nRun the same command again to resume." if failure.retryable else str(failure))

print(f"{result.logs} transfers in blocks {result.from_block} to {result.to_block}")
# A uint256 is a decimal string, because no decimal type holds it.
values = parquet.read_table(arguments.out, columns=["value"]).column("value").to_pylist()
print(f"The largest is {max(map(int, values), default=0)}")
