import { KeyrailError } from '@keyrail/core'
import type { LogFilter } from '@keyrail/core'
import type { LogsClient } from '@keyrail/fetch'

/** What an answer may hold, in characters: several answers are in memory at a time, each in more than one form. */
const mostChars = 1_500_000
/** What a log has beside its data, in characters. */
const charsOfLog = 550

/** What a request for a range of blocks spans. */
function spanOf(filter: LogFilter): { readonly from: number; readonly blocks: number } {
  const from = Number(filter.fromBlock)
  return { from, blocks: Number(filter.toBlock) - from + 1 }
}

/**
 * Keeps answers small enough for little memory: a request that would bring too much, by what the blocks before it held, is rejected here, before it is
 * sent, in the words of a provider, from which `iterateLogs` learns a better size. Nothing is asked twice for that.
 *
 * @param client - A client.
 */
export function limitResponseSize(client: LogsClient): LogsClient {
  /** Follows what comes: up at once, down by and by. */
  let charsPerBlock = 0
  return {
    with: (options) => {
      const bound = client.with(options)
      return {
        eth_blockNumber: bound.eth_blockNumber,
        eth_getBlockByNumber: bound.eth_getBlockByNumber,
        eth_getLogs: async (filter) => {
          const { from, blocks } = spanOf(filter)
          const fitting = Math.max(1, Math.floor(mostChars / charsPerBlock))
          if (blocks > fitting) throw tooMuch(from, from + fitting - 1)
          const logs = await bound.eth_getLogs(filter)
          let chars = 0
          for (const { data } of logs) chars += charsOfLog + data.length
          const seen = chars / blocks
          charsPerBlock = Math.max(seen, (charsPerBlock * 3 + seen) / 4)
          return logs
        },
      }
    },
  }
}

const tooMuch = (from: number, to: number): KeyrailError =>
  new KeyrailError(`that is too much for one answer; this block range should work: [${from}, ${to}]`, {
    kind: 'range',
    source: 'client',
    retryable: false,
    method: 'eth_getLogs',
  })
