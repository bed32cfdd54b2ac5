import { decodeNumber, getBlockNumber } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import type { LogsRequest, RangeEnd } from './logsRequest.ts'

/**
 * Finds the numbers of the first and the last block, once for the whole export.
 *
 * @param client - A client.
 * @param request - The ends as they were given.
 * @throws {CliError} where a block is not there yet, or the first lies above the last.
 * @throws {KeyrailError} as the calls.
 */
export async function resolveRange(
  client: Client,
  { from, to }: Pick<LogsRequest, 'from' | 'to'>,
): Promise<{ readonly fromBlock: number; readonly toBlock: number }> {
  const head = Number(await getBlockNumber(client))
  const find = async (end: RangeEnd): Promise<number> => {
    if (typeof end === 'number') return end
    if (end === 'latest') return head
    const block = await client.eth_getBlockByNumber(end, false)
    if (block === null) throw new CliError(`the node has no block ${end}`, { hint: 'give a number in its place' })
    return decodeNumber(block.number, 'block.number')
  }
  const [fromBlock, toBlock] = [await find(from), await find(to)]
  if (toBlock > head || fromBlock > head) {
    throw new CliError(`block ${Math.max(fromBlock, toBlock)} is not there yet: the newest is ${head}`, {
      hint: '--to latest ends at the newest block',
    })
  }
  if (fromBlock <= toBlock) return { fromBlock, toBlock }
  throw new CliError(`the first block, ${fromBlock}, lies above the last, ${toBlock}`, {
    hint: 'give a lower --from or a higher --to',
  })
}
