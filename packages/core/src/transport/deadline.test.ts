import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../clock/now.ts'
import { endWait, follow, startWait } from './call/callProgress.ts'
import { createCall } from './call/createCall.ts'
import type { Endpoint } from './endpoint/http.ts'
import { compose, deadline } from '../../test/layers.ts'

/** An endpoint that never responds, and counts how often it was cancelled. */
const silent = (): Endpoint & { stopped: number } => {
  const endpoint = {
    redactedUrl: 'https://node.example/…',
    stopped: 0,
    close: () => {},
    send: ((call, complete) => {
      call.cancel = (reason) => {
        endpoint.stopped++
        complete(false, reason)
      }
    }) as Endpoint['send'],
  }
  return endpoint
}

describe('deadline', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  const measureTimeoutMs = async (method: string, ownMs?: number, callMs?: number): Promise<number> => {
    const endpoint = silent()
    const start = Date.now()
    const call = compose(endpoint, deadline({ timeoutMs: ownMs })).request({ method }, { timeoutMs: callMs })
    const outcome = call.catch((error: unknown) => error)
    await vi.runAllTimersAsync()
    expect(await outcome).toMatchObject({
      kind: 'timeout',
      source: 'client',
      method,
      redactedUrl: endpoint.redactedUrl,
    })
    expect(endpoint.stopped).toBe(1)
    return Date.now() - start
  }

  test('ends a call after 10 s, and an expensive one after 60 s', async () => {
    expect(await measureTimeoutMs('eth_chainId')).toBe(10_000)
    for (const method of ['eth_getLogs', 'eth_simulateV1', 'debug_traceTransaction', 'trace_block'])
      expect(await measureTimeoutMs(method)).toBe(60_000)
    expect(await measureTimeoutMs('eth_getLogsBySomething')).toBe(10_000)
  })

  test('ends one call although the options of another are changed while it is in flight', async () => {
    const ends: ((ok: boolean, value: unknown) => void)[] = []
    const endpoint = silent()
    const send: Endpoint['send'] = (call, complete) => {
      endpoint.send(call, complete)
      ends.push(complete)
    }
    const transport = compose({ ...endpoint, send }, deadline())
    const start = Date.now()
    const first = transport.request({ method: 'eth_blockNumber' }, { timeoutMs: 500 }).catch(() => Date.now() - start)
    const options = { timeoutMs: 1_000 }
    const second = transport.request({ method: 'eth_gasPrice' }, options)
    options.timeoutMs = 500
    ends[1]?.(true, '0x1')
    expect(await second).toBe('0x1')
    await vi.runAllTimersAsync()
    expect(await first).toBe(500)
  })

  test('uses the call\u2019s own time before the transport\u2019s', async () => {
    expect(await measureTimeoutMs('eth_getLogs', 500)).toBe(500)
    expect(await measureTimeoutMs('eth_getLogs', 500, 200)).toBe(200)
  })

  test('does not count the time that a call waits in a queue of ours', async () => {
    const endpoint = silent()
    const send: Endpoint['send'] = (call, complete) => {
      const entry = { since: now() }
      startWait(call, entry)
      setTimeout(() => {
        endWait(call, entry, now())
        endpoint.send(call, complete)
      }, 5_000)
    }
    const start = Date.now()
    const call = compose({ ...endpoint, send }, deadline({ timeoutMs: 1_000 })).request({ method: 'eth_chainId' })
    const outcome = call.catch((error: unknown) => error)
    await vi.runAllTimersAsync()
    expect(await outcome).toMatchObject({ kind: 'timeout' })
    expect(Date.now() - start).toBe(6_000)
  })

  test('does not count the time that a shared request waits in a queue', async () => {
    const endpoint = silent()
    const send: Endpoint['send'] = (call, complete) => {
      const shared = createCall(call.method, '[]', {})
      const entry = { since: now() }
      startWait(shared, entry)
      follow(call, shared)
      setTimeout(() => endWait(shared, entry, now()), 3_000)
      endpoint.send(call, complete)
    }
    const start = Date.now()
    const call = compose({ ...endpoint, send }, deadline({ timeoutMs: 1_000 })).request({ method: 'eth_chainId' })
    const outcome = call.catch((error: unknown) => error)
    await vi.runAllTimersAsync()
    expect(await outcome).toMatchObject({ kind: 'timeout' })
    expect(Date.now() - start).toBe(4_000)
  })

  test('rejects unknown names, of its own options and of a call\u2019s', async () => {
    expect(() => deadline({ timeout: 5 } as never)).toThrow('Unknown option "timeout". Did you mean "timeoutMs"?')
    const call = compose(silent()).request({ method: 'eth_chainId' }, { timeout: 5 } as never)
    await expect(call).rejects.toThrow('Unknown option "timeout". Did you mean "timeoutMs"?')
  })

  test('rejects a time that a timer does not support', async () => {
    for (const timeoutMs of [0, -1, Number.NaN, Infinity, 2 ** 31])
      expect(() => deadline({ timeoutMs })).toThrow('timeoutMs must be a number from 1 to 2147483647')
    const call = compose(silent(), deadline()).request({ method: 'eth_chainId' }, { timeoutMs: 0 })
    await expect(call).rejects.toMatchObject({ kind: 'invalidRequest' })
  })
})
