import { iterateLogs } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'

/** The hash of `Transfer(address,address,uint256)`. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Counts the transfers of an ERC-20 token, and sums their amounts. */
export async function sumTransfers(
  client: Client,
  token: `0x${string}`,
): Promise<{ readonly transfers: number; readonly amount: bigint }> {
  let transfers = 0
  let amount = 0n
  for await (const { data } of iterateLogs(client, { address: token, topics: [transferTopic], fromBlock: 0 })) {
    transfers++
    amount += BigInt(data)
  }
  return { transfers, amount }
}
