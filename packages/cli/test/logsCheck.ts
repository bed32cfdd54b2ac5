import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { LogPlace } from './logsChain.ts'

/** What is wrong with an export: nothing, where every log is there once, in order, and nothing else. */
export interface LogsCheck {
  readonly lines: number
  /** Lines that are not what should stand there, the first few in words. */
  readonly wrong: readonly string[]
}

const told = ({ block, index }: LogPlace): string => `block ${block} log ${index}`

/** Where a line of either format says that its log is. */
function placeOf(line: string): LogPlace {
  if (line.startsWith('{')) {
    const log = JSON.parse(line) as {
      blockNumber: number
      blockHash: string
      transactionHash: string
      logIndex: number
    }
    return {
      block: log.blockNumber,
      index: log.logIndex,
      blockHash: log.blockHash,
      transactionHash: log.transactionHash,
    }
  }
  const [block, blockHash = '', , transactionHash = '', , index] = line.split(',')
  return { block: Number(block), index: Number(index), blockHash, transactionHash }
}

/**
 * Compares an export with the logs that it should hold, line by line, in little memory.
 *
 * @param file - The export.
 * @param expected - Every log, in order.
 */
export async function checkLogs(file: string, expected: Iterator<LogPlace, void, undefined>): Promise<LogsCheck> {
  const wrong: string[] = []
  let lines = 0
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (line.startsWith('blockNumber,') && lines === 0) continue
    lines++
    const next = expected.next()
    const found = placeOf(line)
    const wanted = next.done ? undefined : next.value
    const same =
      wanted !== undefined &&
      found.block === wanted.block &&
      found.index === wanted.index &&
      found.blockHash === wanted.blockHash &&
      found.transactionHash === wanted.transactionHash
    if (!same) wrong.push(`line ${lines} is ${told(found)}, and not ${wanted ? told(wanted) : 'the end'}`)
    if (wrong.length === 5) return { lines, wrong }
  }
  const missing = expected.next()
  if (!missing.done) wrong.push(`after line ${lines}, ${told(missing.value)} is missing`)
  return { lines, wrong }
}
