import { raw } from '@keyrail/core/test/faultServer.ts'
import type { Script } from '@keyrail/core/test/faultServer.ts'
import { getCalls } from '@keyrail/core/test/faults/getCalls.ts'
import type { GetItem } from '@keyrail/core/test/faults/respondWith.ts'
import { mixed } from '@keyrail/core/test/faults/mixed.ts'
import { rangeCap } from '@keyrail/core/test/faults/rangeCap.ts'
import { rateLimit } from '@keyrail/core/test/faults/rateLimit.ts'
import { resetAt } from '@keyrail/core/test/faults/resetAt.ts'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'
import { slowResponse } from '@keyrail/core/test/faults/slowResponse.ts'
import type { LogsChain } from './logsChain.ts'

/** How a node fails. */
export interface LogsFaultOptions {
  readonly seed: number
  /** The maximum range of a call, in blocks. */
  readonly cap: number
  /** The rate limit, in calls a second. */
  readonly callsPerSecond: number
  /** The share of calls that fail. */
  readonly share: number
}

/** The failing node and its counters. */
export interface LogsFaults {
  readonly script: Script
  /** How many logs it has sent, including truncated responses. */
  readonly sent: () => number
  /** How often each fault occurred. */
  readonly counts: Readonly<Record<string, number>>
}

/** Creates a node that limits ranges without reporting the limit, throttles, and breaks connections and responses. */
export function createLogsFaults(chain: LogsChain, { seed, cap, callsPerSecond, share }: LogsFaultOptions): LogsFaults {
  const counts: Record<string, number> = {}
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  let sent = 0
  const getItem: GetItem = (call) => {
    const item = chain.getItem(call) as { readonly result?: unknown }
    if (call.method === 'eth_getLogs') sent += (item.result as unknown[]).length
    return item
  }
  const tooWide = { status: 200, error: { code: -32_005, message: 'block range is too wide' } }
  const normal: Script = (seen, response, socket) => {
    const [call] = getCalls(seen)
    const { fromBlock, toBlock } = Object(call?.params[0]) as { fromBlock?: string; toBlock?: string }
    const isWide = call?.method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) + 1 > cap
    count(isWide ? 'range rejected' : 'success')
    rangeCap(cap, tooWide, getItem)(seen, response, socket)
  }
  const rejection = raw(429, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32005,"message":"slow down"}}', {
    'retry-after': '1',
  })
  const faulty = mixed({
    random: seededRandom(seed),
    share,
    normal,
    onFault: ({ name }) => count(name),
    faults: [
      { name: 'reset before any byte', weight: 2, script: resetAt(0, { hard: true }) },
      { name: 'closed before any byte', weight: 2, script: resetAt(0) },
      { name: 'reset in the head', script: resetAt(30) },
      { name: 'reset in the middle', weight: 3, script: resetAt(0.6, { getItem: chain.getItem, hard: true }) },
      { name: 'cut, chunked', weight: 2, script: resetAt(0.9, { getItem: chain.getItem, framing: 'chunked' }) },
      { name: 'slow', weight: 1, script: slowResponse('body', 200, { getItem: chain.getItem }) },
      { name: 'unavailable', weight: 2, script: raw(503, '<html>down for a moment</html>') },
      { name: 'throttled', weight: 1, script: rejection },
      { name: 'truncated JSON', weight: 1, script: raw(200, '{"jsonrpc":"2.0","id":$ID,"resu') },
    ],
  })
  const limited: Script = (...args) => {
    count('rate limited')
    rejection(...args)
  }
  return { script: rateLimit({ calls: callsPerSecond, rejection: limited, normal: faulty }), sent: () => sent, counts }
}
