import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { batch, budget, createTransport } from '@keyrail/core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

interface RpcCall {
  readonly id: number
  readonly method: string
}

const reply = ({ id, method }: RpcCall): object => ({ jsonrpc: '2.0', id, result: method })

let server: Server
let url: string

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume()
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const read = JSON.parse(body) as RpcCall | RpcCall[]
      // A node that accepts the call and never responds.
      if ([read].flat().some(({ method }) => method === 'eth_getLogs')) return
      response.end(JSON.stringify(Array.isArray(read) ? read.map(reply) : reply(read)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => vi.useRealTimers())
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** The functions that timer mocks replace: all, all but `performance`, or only timers and clocks. */
const fakes = [
  ['everything', undefined],
  ['all but performance', ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const],
  ['nothing but performance', ['performance'] as const],
  ['Date and performance', ['Date', 'performance'] as const],
] as const

const install = (toFake: (typeof fakes)[number][1]): void => {
  vi.useFakeTimers(toFake ? { toFake: [...toFake] } : undefined)
}

const call = { method: 'eth_chainId' }
const hang = { method: 'eth_getLogs', params: [{}] }

/** Advances the fake time in small steps, and lets real sockets work in between. */
const advance = async (ms: number): Promise<void> => {
  for (let passed = 0; passed < ms; passed += 100) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe.each(fakes)('fake timers that replace %s', (_, toFake) => {
  test('do not end calls of a transport that was created before', async () => {
    const transport = createTransport({ url })
    expect(await transport.request(call)).toBe('eth_chainId')
    install(toFake)
    expect(await transport.request(call)).toBe('eth_chainId')
    vi.useRealTimers()
    expect(await transport.request(call)).toBe('eth_chainId')
    transport.close()
  })

  test('do not end calls of a transport that was created after', async () => {
    install(toFake)
    const transport = createTransport({ url })
    expect(await transport.request(call)).toBe('eth_chainId')
    vi.useRealTimers()
    expect(await transport.request(call)).toBe('eth_chainId')
    transport.close()
  })
})

test('fake microtasks, as in Jest, delay neither batches nor many concurrent calls', async () => {
  const transport = createTransport({ url, batch: batch(), coalesce: false })
  const single = createTransport({ url, coalesce: false })
  vi.useFakeTimers({ toFake: ['queueMicrotask', 'setTimeout', 'clearTimeout', 'performance', 'Date'] })
  const calls = [transport, single].flatMap(({ request }) => Array.from({ length: 20 }, () => request(call)))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['eth_chainId']))
  transport.close()
  single.close()
})

// `setImmediate` stays real, so that sockets work.
const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const

describe.each([
  ['with performance', [...timers, 'performance'] as const],
  ['without performance', timers],
])('a node that hangs, under fake timers %s', (_, toFake) => {
  test('fails a call at its deadline, measured by the timers', async () => {
    const transport = createTransport({ url, retry: false })
    await transport.request(call)
    vi.useFakeTimers({ toFake: [...toFake] })
    let kind: string | undefined
    transport.request(hang, { timeoutMs: 5_000 }).catch((error: { kind: string }) => (kind = error.kind))
    await advance(4_900)
    expect(kind).toBeUndefined()
    await advance(200)
    expect(kind).toBe('timeout')
    transport.close()
  })

  test('does not affect the deadlines of later calls once the timers are real again', async () => {
    const transport = createTransport({ url, retry: false, timeoutMs: 200 })
    vi.useFakeTimers({ toFake: [...toFake] })
    // Its timer is lost with the fake timers.
    const forgotten = transport.request(hang).catch((error: { kind: string }) => error.kind)
    vi.useRealTimers()
    await expect(transport.request(hang)).rejects.toMatchObject({ kind: 'timeout' })
    expect(await forgotten).toBe('timeout')
    transport.close()
  })

  test('makes queued calls wait no longer than maxWaitMs', async () => {
    const transport = createTransport({ url, retry: false, maxInFlight: 1, maxWaitMs: 300, timeoutMs: 1_000 })
    await transport.request(call)
    vi.useFakeTimers({ toFake: [...toFake] })
    const kinds: string[] = []
    for (const args of [hang, call]) transport.request(args).catch(({ kind }: { kind: string }) => kinds.push(kind))
    await advance(400)
    expect(kinds).toEqual(['throttled'])
    await advance(700)
    expect(kinds).toEqual(['throttled', 'timeout'])
    transport.close()
  })

  test('does not change the rate of a budget', async () => {
    const transport = createTransport({ url, budget: budget({ requestsPerSecond: 10, burst: 1 }), coalesce: false })
    await transport.request(call)
    vi.useFakeTimers({ toFake: [...toFake] })
    let responses = 0
    for (let i = 0; i < 5; i++) void transport.request(call).then(() => responses++)
    await advance(1_000)
    expect(responses).toBe(5)
    vi.useRealTimers()
    expect(await transport.request(call)).toBe('eth_chainId')
    transport.close()
  })
})
