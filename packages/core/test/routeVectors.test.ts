import { routes } from '@keyrail/vectors'
import type { RouteCase, VectorResponse } from '@keyrail/vectors'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../src/clock/now.ts'
import type { FailureFacts } from '../src/failure/failureFacts.ts'
import { failover } from '../src/transport/failover.ts'
import type { Call } from '../src/transport/call/call.ts'
import { retry } from '../src/transport/retry.ts'
import { scriptedEndpoint, sendDown } from './scriptedEndpoint.ts'
import type { Outcome } from './scriptedEndpoint.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const toOutcome = (
  { result = '0x1', facts, never, head, afterMs }: VectorResponse,
  call: Call,
  currentMethod: string,
): Outcome => {
  if (head !== undefined && call.method === 'eth_blockNumber' && currentMethod !== call.method) return { result: head }
  if (never) return { never }
  return facts ? { facts: facts as FailureFacts, ...(afterMs && { afterMs }) } : { result, ...(afterMs && { afterMs }) }
}

const run = async ({ endpoints, options, retries = 0, calls }: RouteCase): Promise<void> => {
  const startedAt = now()
  const sent: [at: number, method: string, params: unknown][] = []
  let currentMethod = ''
  let nodes: readonly VectorResponse[] = []
  const route = failover(
    endpoints.map(({ weight }, at) => ({ url: `https://node-${at}.example`, weight })),
    options,
  ).open(({ url }, own) => {
    const at = Number(/\d+/.exec(String(url)))
    const node = scriptedEndpoint((call) => {
      sent.push([at, call.method, JSON.parse(call.params)])
      return toOutcome(nodes[at] ?? {}, call, currentMethod)
    }, `https://node-${at}.example/…`)
    return { ...(own?.breaker?.(node) ?? node), chainId: undefined }
  })
  const send = retry({ retries, baseMs: 0 })(route.send, route)
  for (const {
    atMs = 0,
    method,
    params = [],
    timeoutMs = 10_000,
    nodes: given = [],
    sent: wanted,
    expect: expected,
  } of calls) {
    await vi.advanceTimersByTimeAsync(Math.max(0, startedAt + atMs - now()))
    sent.length = 0
    currentMethod = method
    nodes = given
    const before = now()
    const call = sendDown(send, method, { params: JSON.stringify(params), deadlineAt: before + timeoutMs })
    while (call.completions === 0) await vi.advanceTimersByTimeAsync(1)
    expect(sent.map((one, i) => one.slice(0, wanted[i]?.length))).toEqual(wanted)
    const { messageHolds = [], afterMs, result, ...failure } = expected
    if (result === undefined) expect(call.value).toMatchObject(failure)
    else expect(call).toMatchObject({ ok: true, value: result })
    for (const text of messageHolds) expect(String(call.value)).toContain(text)
    if (afterMs !== undefined) expect(Math.abs(now() - before - afterMs)).toBeLessThanOrEqual(1)
  }
}

describe('routes.json', () => {
  test.each(routes.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', async (one) => {
    await expect(run(one)).resolves.toBeUndefined()
  })
})
