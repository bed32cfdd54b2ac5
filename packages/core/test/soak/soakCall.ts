import type { Priority, RequestArguments } from '@keyrail/core'
import { seededRandom } from '../faults/seededRandom.ts'

/** One call of the soak. */
export interface SoakCall {
  readonly args: RequestArguments
  readonly timeoutMs: number
  readonly priority: Priority | undefined
  /** After how many milliseconds it is aborted; undefined for never. */
  readonly abortMs: number | undefined
}

/** How long most calls may take, in milliseconds. */
export const TIMEOUT_MS = 3_000

const pad = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')

/** Reads that several callers make at once, so that they share requests; and blocks, which are kept. */
const HOT_ACCOUNTS = 50
const BLOCKS = 400

/**
 * The call of a given number. Of a hundred there are about 55 reads that nobody else makes, 15 that others make at the same time, 10 of what can be
 * cached, 5 heavy ones, and 15 transactions, of which a third are of a type that cannot be looked up. Some are aborted, some have little
 * time, and some are polls.
 *
 * @param index - Which one, from 0.
 * @param seed - Of the run.
 */
export function soakCall(index: number, seed: number): SoakCall {
  const random = seededRandom(seed * 1_000_003 + index)
  const dice = random()
  const fate = random()
  return {
    args: argsOf(index, dice, random),
    timeoutMs: fate < 0.03 ? 20 + Math.floor(random() * 300) : TIMEOUT_MS,
    priority: fate > 0.9 && dice < 0.7 ? 'poll' : undefined,
    abortMs: fate >= 0.03 && fate < 0.06 ? Math.floor(random() * 40) : undefined,
  }
}

function argsOf(index: number, dice: number, random: () => number): RequestArguments {
  const pick = (of: number): number => Math.floor(random() * of)
  if (dice < 0.55) return { method: 'eth_call', params: [{ to: `0x${pad(index, 40)}` }, 'latest'] }
  if (dice < 0.7) return { method: 'eth_getBalance', params: [`0x${pad(pick(HOT_ACCOUNTS), 40)}`, 'latest'] }
  if (dice < 0.8) return { method: 'eth_getBlockByHash', params: [`0x${pad(pick(BLOCKS), 64)}`, false] }
  if (dice < 0.85) return { method: 'eth_getLogs', params: [{ fromBlock: `0x${index.toString(16)}` }] }
  return { method: 'eth_sendRawTransaction', params: [`0x${dice < 0.95 ? '02' : '7f'}c0${pad(index, 12)}`] }
}
