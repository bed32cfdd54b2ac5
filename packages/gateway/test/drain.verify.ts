import { afterEach, describe, expect, test, vi } from 'vitest'
import { createTestGateway } from './createTestGateway.ts'
import type { TestGateway } from './createTestGateway.ts'
import { createMemoryKeyStore } from './createMemoryKeyStore.ts'
import { result } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { unreachableUrl, post } from './startGateway.ts'

afterEach(() => {
  vi.useRealTimers()
})

let lastCall = 0
/** Each is different, because identical reads in flight are sent once. */
const read = (): string => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${++lastCall}]}`
const createEmptyGateway = (): TestGateway => {
  const none = { chainId: 1, upstreams: [{ url: unreachableUrl }] }
  return createTestGateway({ networks: { testnet: none, mainnet: none }, keys: createMemoryKeyStore() })
}
/** Holds responses back until the test sends them. */
const hold = (upstream: FakeUpstream): (() => void)[] => {
  const held: (() => void)[] = []
  upstream.behave = (call, response) => void held.push(() => response.end(result(call, '"0x1"')))
  return held
}
/** A gateway that drains closes idle connections every 250 ms. After this call it does so only when the returned function is called. */
const controlSweeps = (): (() => void) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  return () => void vi.advanceTimersByTime(250)
}
const until = (condition: () => boolean) => expect.poll(condition, { interval: 5 }).toBe(true)

describe('close', () => {
  test('responds to every request that was read, and loses none', async () => {
    const { upstream, started, path } = await openGateway()
    const held = hold(upstream)
    const connections = await Promise.all(Array.from({ length: 16 }, () => openRaw(started.port)))
    // Two each, pipelined: the end of the connection must not lose the second response.
    for (const connection of connections)
      connection.send(Buffer.concat([postBytes(path, read()), postBytes(path, read())]))
    await until(() => held.length === 32)
    const closed = started.gateway.close()
    for (const respond of held) respond()
    for (const connection of connections) {
      const [first, second] = [await connection.next(), await connection.next()]
      expect([first.status, second.status]).toEqual([200, 200])
      expect([first.headers['connection'], second.headers['connection']]).toEqual(['keep-alive', 'close'])
      await connection.ended
    }
    await closed
    expect(started.entries.at(-1)).toEqual({ event: 'closed', cutOff: 0 })
  })

  test('completes a large response to a slow reader', async () => {
    const { upstream, started, path } = await openGateway()
    const large = 'x'.repeat(12 * 1024 * 1024)
    upstream.behave = (call) => result(call, `"${large}"`)
    const response = await fetch(started.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: read(),
    })
    const sweep = controlSweeps()
    const closed = started.gateway.close()
    sweep()
    expect((await response.text()).length).toBe(`{"jsonrpc":"2.0","id":1,"result":"${large}"}`.length)
    await until(() => {
      sweep()
      return started.entries.at(-1)?.event === 'closed'
    })
    expect(started.entries.at(-1)).toEqual({ event: 'closed', cutOff: 0 })
    await closed
  })

  test('responds to a request whose body is still arriving', async () => {
    const { started, path } = await openGateway()
    const connection = await openRaw(started.port)
    const bytes = postBytes(path, read(), { Expect: '100-continue' })
    connection.send(bytes.subarray(0, -10))
    // The gateway has read the headers.
    expect((await connection.next()).status).toBe(100)
    const sweep = controlSweeps()
    const closed = started.gateway.close()
    sweep()
    connection.send(bytes.subarray(-10))
    expect((await connection.next()).status).toBe(200)
    await connection.ended
    await closed
  })

  test('rejects a later request on an open connection with its reason, and closes it', async () => {
    const { started, path } = await openGateway()
    const connection = await openRaw(started.port)
    connection.send(postBytes(path, read()))
    expect((await connection.next()).status).toBe(200)
    controlSweeps()
    const closed = started.gateway.close()
    connection.send(postBytes(path, read()))
    const late = await connection.next()
    expect([late.status, late.headers['connection'], late.headers['access-control-allow-origin']]).toEqual([
      503,
      'close',
      '*',
    ])
    expect(JSON.parse(late.body)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32603,
        message: 'Server is shutting down',
        data: { reason: 'draining', requestId: late.headers['x-request-id'] },
      },
    })
    await connection.ended
    await closed
  })

  test('rejects a later request also after one that is in flight, in order', async () => {
    const { upstream, started, path } = await openGateway()
    const held = hold(upstream)
    const [connection, other] = [await openRaw(started.port), await openRaw(started.port)]
    connection.send(postBytes(path, read()))
    await until(() => held.length === 1)
    controlSweeps()
    const closed = started.gateway.close()
    connection.send(postBytes(path, read()))
    // By the time another connection has its response, the gateway has read the second request.
    other.send('GET /readyz HTTP/1.1\r\n\r\n')
    await other.next()
    held[0]?.()
    expect([(await connection.next()).status, (await connection.next()).status]).toEqual([200, 503])
    await connection.ended
    await closed
  })

  test('responds with 503 at /readyz', async () => {
    const { started } = await openGateway()
    const connection = await openRaw(started.port)
    connection.send('GET /healthz HTTP/1.1\r\n\r\n')
    expect((await connection.next()).status).toBe(200)
    controlSweeps()
    const closed = started.gateway.close()
    connection.send('GET /readyz HTTP/1.1\r\n\r\n')
    expect((await connection.next()).status).toBe(503)
    await closed
  })

  test('closes connections that are idle or were never used, after a moment', async () => {
    const { started, path } = await openGateway()
    const [unused, idle] = [await openRaw(started.port), await openRaw(started.port)]
    idle.send(postBytes(path, read()))
    await idle.next()
    const sweep = controlSweeps()
    const closed = started.gateway.close()
    expect([unused.hasEnded(), idle.hasEnded()]).toEqual([false, false])
    sweep()
    await Promise.all([unused.ended, idle.ended])
    await closed
  })

  test('accepts no new connections', async () => {
    const { started } = await openGateway()
    await started.gateway.close()
    await expect(openRaw(started.port)).rejects.toThrow('ECONNREFUSED')
  })

  test('stops waiting after graceMs, and reports how many requests it cut off', async () => {
    const { upstream, started, path } = await openGateway()
    upstream.behave = () => undefined
    const connection = await openRaw(started.port)
    connection.send(postBytes(path, read()))
    await until(() => upstream.bodies.length === 1)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closed = started.gateway.close({ graceMs: 9_000 })
    vi.advanceTimersByTime(8_999)
    expect(connection.hasEnded()).toBe(false)
    vi.advanceTimersByTime(1)
    await connection.ended
    await closed
    expect(started.entries.at(-1)).toEqual({ event: 'closed', cutOff: 1 })
  })

  test('can be called twice, and before listen', async () => {
    const { started } = await openGateway()
    await Promise.all([started.gateway.close(), started.gateway.close()])
    expect(started.entries.filter(({ event }) => event === 'closed').length).toBe(1)
    await expect(createEmptyGateway().close()).resolves.toBeUndefined()
  })

  test('under load, each of 4 busy callers gets only 200, a rejection, or a connection that is not accepted', async () => {
    const { upstream, started, path } = await openGateway()
    upstream.behave = (call, response) => void setImmediate(() => response.end(result(call, '"0x1"')))
    const statuses = new Map<string, number>()
    const caller = async (): Promise<void> => {
      for (;;) {
        const outcome = await post(started.url + path, read()).then(
          ({ status }) => String(status),
          (error: unknown) => (error as { cause?: { code?: string } }).cause?.code ?? 'unknown',
        )
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
        if (outcome === 'ECONNREFUSED') return
      }
    }
    const callers = Array.from({ length: 4 }, caller)
    await until(() => (statuses.get('200') ?? 0) > 200)
    const sweep = controlSweeps()
    const closed = started.gateway.close()
    await Promise.all(callers)
    sweep()
    await closed
    expect([...statuses.keys()].filter((outcome) => !['200', '503', 'ECONNREFUSED'].includes(outcome))).toEqual([])
  })
})

// 15.29
describe('prepareToClose', () => {
  test('reports 503 at /readyz and still serves calls, on old and on new connections', async () => {
    const { started, path } = await openGateway()
    const [idle, unused] = [await openRaw(started.port), await openRaw(started.port)]
    idle.send(postBytes(path, read()))
    expect((await idle.next()).headers['connection']).toBe('keep-alive')
    started.gateway.prepareToClose()

    // A load balancer that has not noticed yet keeps sending calls, on the connections that it has and on new ones.
    for (const connection of [idle, unused, await openRaw(started.port), await openRaw(started.port)]) {
      connection.send(postBytes(path, read()))
      const { status, headers } = await connection.next()
      expect([status, headers['connection']]).toEqual([200, 'close'])
      await connection.ended
    }
    for (const [health, status] of [
      ['/readyz', 503],
      ['/healthz', 200],
    ] as const) {
      const connection = await openRaw(started.port)
      connection.send(`GET ${health} HTTP/1.1\r\n\r\n`)
      const response = await connection.next()
      expect([health, response.status, response.headers['connection']]).toEqual([health, status, 'close'])
    }
    expect(started.entries.at(-1)).toMatchObject({ event: 'request' })

    await started.gateway.close()
    await expect(openRaw(started.port)).rejects.toThrow('ECONNREFUSED')
  })

  test('sends Connection: close only with the last of several pipelined responses', async () => {
    const { started, path } = await openGateway()
    const connection = await openRaw(started.port)
    started.gateway.prepareToClose()
    connection.send(Buffer.concat([postBytes(path, read()), postBytes(path, read()), postBytes(path, read())]))
    const responses = [await connection.next(), await connection.next(), await connection.next()]
    expect(responses.map(({ status, headers }) => [status, headers['connection']])).toEqual([
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'close'],
    ])
  })

  test('followed by close completes the calls that are in flight, and rejects later ones', async () => {
    const { upstream, started, path } = await openGateway()
    const held = hold(upstream)
    const [connection, other] = [await openRaw(started.port), await openRaw(started.port)]
    started.gateway.prepareToClose()
    connection.send(postBytes(path, read()))
    await until(() => held.length === 1)
    controlSweeps()
    const closed = started.gateway.close()
    other.send(postBytes(path, read()))
    expect((await other.next()).status).toBe(503)
    for (const respond of held) respond()
    expect((await connection.next()).status).toBe(200)
    await closed
    expect(started.entries.at(-1)).toEqual({ event: 'closed', cutOff: 0 })
  })
})

describe('listen', () => {
  test('fails with the reason if the port is in use, and can be retried with another', async () => {
    const { started } = await openGateway()
    const second = createEmptyGateway()
    await expect(second.listen({ port: started.port })).rejects.toThrow('EADDRINUSE')
    const { url } = await second.listen()
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await second.close()
  })
})
