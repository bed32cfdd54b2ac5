import { raw } from '@keyrail/core/test/faultServer.ts'
import type { Script } from '@keyrail/core/test/faultServer.ts'
import { getCalls } from '@keyrail/core/test/faults/getCalls.ts'
import type { ItemOf } from '@keyrail/core/test/faults/respondWith.ts'
import { mixed } from '@keyrail/core/test/faults/mixed.ts'
import { rangeCap } from '@keyrail/core/test/faults/rangeCap.ts'
import { rateLimit } from '@keyrail/core/test/faults/rateLimit.ts'
import { resetAt } from '@keyrail/core/test/faults/resetAt.ts'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'
import { slowResponse } from '@keyrail/core/test/faults/slowResponse.ts'
import type { LogsChain } from './logsChain.ts'

/** How a node that gives logs misbehaves. */
export interface LogsFaultOptions {
  readonly seed: number
  /** No call may span more blocks. */
  readonly cap: number
  /** So many calls a second. */
  readonly callsPerSecond: number
  /** The part of the calls that meets a fault. */
  readonly share: number
}

/** What the faulty node has done so far. */
export interface LogsFaults {
  readonly script: Script
  /** How many logs were sent, those that were cut off included. */
  readonly sent: () => number
  /** How often each fault came. */
  readonly counts: Readonly<Record<string, number>>
}

/** Makes a node that caps ranges without naming the cap, throttles, and breaks connections and answers. */
export function createLogsFaults(chain: LogsChain, { seed, cap, callsPerSecond, share }: LogsFaultOptions): LogsFaults {
  const counts: Record<string, number> = {}
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  let sent = 0
  const itemOf: ItemOf = (call) => {
    const item = chain.itemOf(call) as { readonly result?: unknown }
    if (call.method === 'eth_getLogs') sent += (item.result as unknown[]).length
    return item
  }
  const tooWide = { status: 200, error: { code: -32_005, message: 'block range is too wide' } }
  const good: Script = (seen, response, socket) => {
    const [call] = getCalls(seen)
    const { fromBlock, toBlock } = Object(call?.params[0]) as { fromBlock?: string; toBlock?: string }
    const wide = call?.method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) + 1 > cap
    count(wide ? 'range rejected' : 'answered')
    rangeCap(cap, tooWide, itemOf)(seen, response, socket)
  }
  const rejection = raw(429, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32005,"message":"slow down"}}', {
    'retry-after': '1',
  })
  const faulty = mixed({
    random: seededRandom(seed),
    share,
    good,
    onFault: ({ name }) => count(name),
    faults: [
      { name: 'reset before any byte', weight: 2, script: resetAt(0, { hard: true }) },
      { name: 'closed before any byte', weight: 2, script: resetAt(0) },
      { name: 'reset in the head', script: resetAt(30) },
      { name: 'reset in the middle', weight: 3, script: resetAt(0.6, { itemOf: chain.itemOf, hard: true }) },
      { name: 'cut, chunked', weight: 2, script: resetAt(0.9, { itemOf: chain.itemOf, framing: 'chunked' }) },
      { name: 'slow', weight: 1, script: slowResponse('body', 200, { itemOf: chain.itemOf }) },
      { name: 'unavailable', weight: 2, script: raw(503, '<html>down for a moment</html>') },
      { name: 'throttled', weight: 1, script: rejection },
      { name: 'not the answer', weight: 1, script: raw(200, '{"jsonrpc":"2.0","id":$ID,"resu') },
    ],
  })
  const limited: Script = (...met) => {
    count('over the rate')
    rejection(...met)
  }
  return { script: rateLimit({ calls: callsPerSecond, rejection: limited, good: faulty }), sent: () => sent, counts }
}
