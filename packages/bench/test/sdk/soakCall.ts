import type { Priority, RequestArguments } from '@keyrail/core'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'

/** One call of the soak test. */
export interface SoakCall {
  readonly args: RequestArguments
  readonly timeoutMs: number
  readonly priority: Priority | undefined
  /** When it is aborted, in milliseconds after its start; undefined for never. */
  readonly abortMs: number | undefined
}

/** The timeout of most calls, in milliseconds. */
export const TIMEOUT_MS = 3_000

const pad = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')

/** The number of accounts that several callers read at once, to share requests, and of blocks, which are cached. */
const HOT_ACCOUNTS = 50
const BLOCKS = 400

/**
 * Creates a call of the soak test. Of a hundred calls, about 55 are unique reads, 15 are reads that other callers make at the same time, 10 are
 * cacheable, 5 are expensive, and 15 are transactions, a third of which have a type that cannot be looked up. Some are aborted, some have a
 * short timeout, and some are polls.
 *
 * @param index - The number of the call, from 0.
 * @param seed - The seed of the run.
 */
export function soakCall(index: number, seed: number): SoakCall {
  const random = seededRandom(seed * 1_000_003 + index)
  const dice = random()
  const fate = random()
  return {
    args: createArgs(index, dice, random),
    timeoutMs: fate < 0.03 ? 20 + Math.floor(random() * 300) : TIMEOUT_MS,
    priority: fate > 0.9 && dice < 0.7 ? 'poll' : undefined,
    abortMs: fate >= 0.03 && fate < 0.06 ? Math.floor(random() * 40) : undefined,
  }
}

function createArgs(index: number, dice: number, random: () => number): RequestArguments {
  const pick = (of: number): number => Math.floor(random() * of)
  if (dice < 0.55) return { method: 'eth_call', params: [{ to: `0x${pad(index, 40)}` }, 'latest'] }
  if (dice < 0.7) return { method: 'eth_getBalance', params: [`0x${pad(pick(HOT_ACCOUNTS), 40)}`, 'latest'] }
  if (dice < 0.8) return { method: 'eth_getBlockByHash', params: [`0x${pad(pick(BLOCKS), 64)}`, false] }
  if (dice < 0.85) return { method: 'eth_getLogs', params: [{ fromBlock: `0x${index.toString(16)}` }] }
  return { method: 'eth_sendRawTransaction', params: [`0x${dice < 0.95 ? '02' : '7f'}c0${pad(index, 12)}`] }
}
