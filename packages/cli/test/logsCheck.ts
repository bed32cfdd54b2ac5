import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { LogPlace } from './logsChain.ts'

/** The result of checking that an export contains every log once, in order, and nothing else. */
export interface LogsCheck {
  readonly lines: number
  /** Descriptions of the first few wrong lines. */
  readonly wrong: readonly string[]
}

const describe = ({ block, index }: LogPlace): string => `block ${block} log ${index}`

/** Parses the place of a log from a line of either format. */
function parsePlace(line: string): LogPlace {
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
 * Compares an export with the expected logs, line by line.
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
    const found = parsePlace(line)
    const wantedLog = next.done ? undefined : next.value
    const same =
      wantedLog !== undefined &&
      found.block === wantedLog.block &&
      found.index === wantedLog.index &&
      found.blockHash === wantedLog.blockHash &&
      found.transactionHash === wantedLog.transactionHash
    if (!same)
      wrong.push(`line ${lines} is ${describe(found)}, expected ${wantedLog ? describe(wantedLog) : 'the end'}`)
    if (wrong.length === 5) return { lines, wrong }
  }
  const missing = expected.next()
  if (!missing.done) wrong.push(`after line ${lines}, ${describe(missing.value)} is missing`)
  return { lines, wrong }
}
