import { decodeNumber, getBlockNumber } from '@keyrail/fetch'
import type { Client } from '@keyrail/fetch'
import { CliError } from '../cliError.ts'
import type { LogsRequest } from './logsRequest.ts'
import type { BlockOrTag } from './readLogFilter.ts'

/**
 * Resolves the first and the last block to numbers, once for the whole export.
 *
 * @param client - A client.
 * @param request - The blocks as given.
 * @throws {CliError} if a block does not exist yet, or the first is above the last.
 * @throws {KeyrailError} if a call fails.
 */
export async function resolveRange(
  client: Client,
  { from, to }: Pick<LogsRequest, 'from' | 'to'>,
): Promise<{ readonly fromBlock: number; readonly toBlock: number }> {
  const head = Number(await getBlockNumber(client))
  const resolve = async (block: BlockOrTag): Promise<number> => {
    if (typeof block === 'number') return block
    if (block === 'latest') return head
    const found = await client.eth_getBlockByNumber(block, false)
    if (found === null) {
      throw new CliError(`the node has no ${block} block`, { hint: 'use a block number' })
    }
    return decodeNumber(found.number, 'block.number')
  }
  const [fromBlock, toBlock] = [await resolve(from), await resolve(to)]
  if (toBlock > head || fromBlock > head) {
    throw new CliError(`block ${Math.max(fromBlock, toBlock)} does not exist yet: the latest is ${head}`, {
      hint: 'use --to latest to stop at the latest block',
    })
  }
  if (fromBlock <= toBlock) return { fromBlock, toBlock }
  throw new CliError(`the first block (${fromBlock}) is above the last (${toBlock})`, {
    hint: 'use a lower --from or a higher --to',
  })
}
