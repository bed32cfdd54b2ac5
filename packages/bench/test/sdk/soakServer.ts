import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script, Seen } from '@keyrail/core/test/faultServer.ts'
import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import type { GetItem } from '@keyrail/core/test/faults/respondWith.ts'
import { batchCap } from '@keyrail/core/test/faults/batchCap.ts'
import { getCalls } from '@keyrail/core/test/faults/getCalls.ts'
import { mixed } from '@keyrail/core/test/faults/mixed.ts'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'
import { getSoakResult } from './soakResult.ts'
import { allFaults, passingFaults } from './soakFaults.ts'
import type { SoakFault } from './soakFaults.ts'
import { soakHash } from './soakHash.ts'

/** What the servers of a soak test received. */
export interface ServerReport {
  readonly requests: number
  readonly calls: number
  readonly largestBatch: number
  /** How often each fault occurred. */
  readonly faults: Readonly<Record<string, number>>
  /** Each accepted transaction, with the response or fault of each time it arrived. */
  readonly taken: readonly (readonly [raw: string, met: readonly string[]])[]
}

/** The messages of the parent process. */
export type Order = 'report'

/** The error of the second endpoint for batches above its cap. */
const CAP = 6
const capRejection = {
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

const getItem: GetItem = (call) => {
  if (call.method !== 'eth_getTransactionByHash') return { result: getSoakResult(call) }
  const [hash] = call.params as [string]
  return { result: hashes.has(hash) ? { hash, blockHash: null, blockNumber: null } : null }
}

/** Records a transaction as accepted: the server read it and did not reject it, even if the response is lost. */
const take = (seen: Seen, met: string): void => {
  for (const { method, params } of getCalls(seen)) {
    if (method !== 'eth_sendRawTransaction') continue
    const raw = params[0] as `0x${string}`
    taken.set(raw, [...(taken.get(raw) ?? []), met])
    hashes.add(soakHash(raw))
  }
}

const start = async (number: number, from: readonly SoakFault[], normal: Script): Promise<FaultServer> => {
  const script = mixed({
    random: seededRandom(seed + number),
    share,
    faults: from,
    normal: (seen, ...rest) => {
      take(seen, 'a correct response')
      normal(seen, ...rest)
    },
    onFault: (fault, seen) => {
      faults[fault.name] = (faults[fault.name] ?? 0) + 1
      if (!(fault as SoakFault).rejects) take(seen, fault.name)
    },
  })
  const server = await startFaultServer((seen, ...rest) => {
    const size = getCalls(seen).length
    requests++
    calls += size
    largestBatch = Math.max(largestBatch, size)
    // In a long run, the list of requests would fill the memory.
    server.seen.length = 0
    script(seen, ...rest)
  })
  return server
}

const normal = respondWith(getItem)
const servers = await Promise.all([
  start(1, passingFaults(getItem), normal),
  start(2, passingFaults(getItem), batchCap(CAP, capRejection, getItem)),
  start(3, allFaults(getItem), normal),
])
process.on('disconnect', () => process.exit())
process.on('message', () => {
  const report: ServerReport = { requests, calls, largestBatch, faults, taken: [...taken] }
  process.send?.(report)
})
process.send?.(servers.map(({ url }) => url))
