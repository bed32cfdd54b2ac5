import { KeyrailError } from '@keyrail/core'
import type { LogFilter } from '@keyrail/core'
import type { LogsClient } from '@keyrail/fetch'

/** The target size of a response, in characters. Several responses are in memory at once, each in more than one form. */
const maxChars = 1_500_000
/** The size of a log without its data, in characters. */
const charsPerLog = 550

/** Gets the range of a filter. */
function getRange(filter: LogFilter): { readonly from: number; readonly blocks: number } {
  const from = Number(filter.fromBlock)
  return { from, blocks: Number(filter.toBlock) - from + 1 }
}

/**
 * Limits the size of `eth_getLogs` responses to save memory. It estimates the size from recent blocks, and rejects a request that is too large
 * before it is sent, with an error like a provider's, from which `iterateLogs` learns a better range. This costs no extra requests.
 *
 * @param client - A client.
 */
export function limitResponseSize(client: LogsClient): LogsClient {
  /** Rises at once and falls slowly. */
  let charsPerBlock = 0
  return {
    with: (options) => {
      const bound = client.with(options)
      return {
        eth_blockNumber: bound.eth_blockNumber,
        eth_getBlockByNumber: bound.eth_getBlockByNumber,
        eth_getLogs: async (filter) => {
          const { from, blocks } = getRange(filter)
          const maxBlocks = Math.max(1, Math.floor(maxChars / charsPerBlock))
          if (blocks > maxBlocks) throw createRangeError(from, from + maxBlocks - 1)
          const logs = await bound.eth_getLogs(filter)
          let chars = 0
          for (const { data } of logs) chars += charsPerLog + data.length
          const measured = chars / blocks
          charsPerBlock = Math.max(measured, (charsPerBlock * 3 + measured) / 4)
          return logs
        },
      }
    },
  }
}

const createRangeError = (from: number, to: number): KeyrailError =>
  new KeyrailError(`response too large; this block range should work: [${from}, ${to}]`, {
    kind: 'range',
    source: 'client',
    retryable: false,
    method: 'eth_getLogs',
  })
