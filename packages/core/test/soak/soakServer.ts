import { startFaultServer } from '../faultServer.ts'
import type { FaultServer, Script, Seen } from '../faultServer.ts'
import { answering } from '../faults/answering.ts'
import type { ItemOf } from '../faults/answering.ts'
import { batchCap } from '../faults/batchCap.ts'
import { callsOf } from '../faults/callsOf.ts'
import { mixed } from '../faults/mixed.ts'
import { seededRandom } from '../faults/seededRandom.ts'
import { soakAnswer } from './soakAnswer.ts'
import { allFaults, passingFaults } from './soakFaults.ts'
import type { SoakFault } from './soakFaults.ts'
import { soakHash } from './soakHash.ts'

/** What the servers of a soak have seen. */
export interface ServerReport {
  readonly requests: number
  readonly calls: number
  readonly largestBatch: number
  /** How often each fault was met. */
  readonly faults: Readonly<Record<string, number>>
  /** Each transaction that was taken, and what each time was met. */
  readonly taken: readonly (readonly [raw: string, met: readonly string[]])[]
}

/** What the parent process sends. */
export type Order = 'report'

/** The words in which the second endpoint refuses batches of more than its cap. */
const CAP = 6
const capRefusal = {
  status: 200,
  body: { jsonrpc: '2.0', id: null, error: { code: -32600, message: `batch limit of ${CAP} exceeded` } },
}

const [seed = 1, share = 0.2] = process.argv.slice(2).map(Number)
const taken = new Map<string, string[]>()
const hashes = new Set<string>()
const faults: Record<string, number> = {}
let requests = 0
let calls = 0
let largestBatch = 0

const itemOf: ItemOf = (call) => {
  if (call.method !== 'eth_getTransactionByHash') return { result: soakAnswer(call) }
  const [hash] = call.params as [string]
  return { result: hashes.has(hash) ? { hash, blockHash: null, blockNumber: null } : null }
}

/** A transaction is taken by whoever read it and did not turn it away, whatever becomes of the answer. */
const take = (seen: Seen, met: string): void => {
  for (const { method, params } of callsOf(seen)) {
    if (method !== 'eth_sendRawTransaction') continue
    const raw = params[0] as `0x${string}`
    taken.set(raw, [...(taken.get(raw) ?? []), met])
    hashes.add(soakHash(raw))
  }
}

const start = async (number: number, from: readonly SoakFault[], good: Script): Promise<FaultServer> => {
  const script = mixed({
    random: seededRandom(seed + number),
    share,
    faults: from,
    good: (seen, ...rest) => {
      take(seen, 'a good answer')
      good(seen, ...rest)
    },
    onFault: (fault, seen) => {
      faults[fault.name] = (faults[fault.name] ?? 0) + 1
      if (!(fault as SoakFault).refuses) take(seen, fault.name)
    },
  })
  const server = await startFaultServer((seen, ...rest) => {
    const size = callsOf(seen).length
    requests++
    calls += size
    largestBatch = Math.max(largestBatch, size)
    // A long run would fill the memory with what it has seen.
    server.seen.length = 0
    script(seen, ...rest)
  })
  return server
}

const good = answering(itemOf)
const servers = await Promise.all([
  start(1, passingFaults(itemOf), good),
  start(2, passingFaults(itemOf), batchCap(CAP, capRefusal, itemOf)),
  start(3, allFaults(itemOf), good),
])
process.on('disconnect', () => process.exit())
process.on('message', () => {
  const report: ServerReport = { requests, calls, largestBatch, faults, taken: [...taken] }
  process.send?.(report)
})
process.send?.(servers.map(({ url }) => url))
