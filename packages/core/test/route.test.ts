import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { breaker } from '../src/transport/breaker.ts'
import type { BreakerOptions } from '../src/transport/breaker.ts'
import { budget } from '../src/transport/budget.ts'
import type { Call, Send } from '../src/transport/call/call.ts'
import { http } from '../src/transport/endpoint/http.ts'
import { retry } from '../src/transport/retry.ts'
import { route } from '../src/transport/route/route.ts'
import type { RouteOptions } from '../src/transport/route/routeOptions.ts'
import type { Transport } from '../src/transport/transport.ts'
import { reply, raw, startFaultServer } from './faultServer.ts'
import type { FaultServer, Script } from './faultServer.ts'
import { until, useFakeClock } from './useFakeClock.ts'
import { compose, deadline } from './layers.ts'

let one: FaultServer
let two: FaultServer
let three: FaultServer
const open: Transport[] = []
beforeEach(async () => {
  ;[one, two, three] = await Promise.all([
    startFaultServer(reply('0x1')),
    startFaultServer(reply('0x2')),
    startFaultServer(reply('0x3')),
  ])
})
afterEach(async () => {
  vi.useRealTimers()
  for (const transport of open.splice(0)) transport.close()
  await Promise.all([one.close(), two.close(), three.close()])
})

interface Setup extends RouteOptions {
  readonly servers?: readonly { readonly url: string }[]
  readonly chainId?: number
  readonly breaker?: BreakerOptions
  readonly retries?: number
  readonly timeoutMs?: number
  /** Set on each call, as `transport.group()` does. */
  readonly group?: object
}

/** The same stack as in createTransport, over real connections. */
const make = (setup: Setup = {}): Transport & { routed: ReturnType<typeof route> } => {
  const { servers = [one, two], chainId, group, retries = 0, timeoutMs = 10_000, breaker: guard, ...options } = setup
  const routed = route(
    servers.map(({ url }) => budget()(breaker(guard)(http({ url, ...(chainId && { chainId }) })))),
    options,
  )
  const grouped =
    (next: Send): Send =>
    (call: Call, complete) =>
      next(Object.assign(call, { group }), complete)
  const transport = compose(routed, grouped, retry({ retries, baseMs: 50 }), deadline({ timeoutMs }))
  open.push(transport)
  return { ...transport, routed }
}
const sendRequest = (
  transport: Transport,
  method = 'eth_gasPrice',
  params: unknown[] = [],
  options: object = {},
): Promise<unknown> => transport.request({ method, params }, options)
const getFailure = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
const counts = (): number[] => [one, two, three].map(({ seen }) => seen.length)

const breaks: Script = (_, __, socket) => socket.destroy()
const hangs: Script = () => {}
/** A node at a given head. It knows no later block. */
const node =
  (getHead: () => number): Script =>
  (seen, ...rest) => {
    const { method, params } = seen.json
    const named = params.map((param) => (/^0x[\da-f]{1,4}$/.test(String(param)) ? Number(param) : 0)).find(Boolean)
    if (method === 'eth_blockNumber') return reply(`0x${getHead().toString(16)}`)(seen, ...rest)
    return (named ?? 0) > getHead()
      ? raw(200, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"header not found"}}')(seen, ...rest)
      : reply(`at ${named ?? getHead()}`)(seen, ...rest)
  }

describe('failover', () => {
  test('skips a server that does not exist', async () => {
    const { url } = three
    await three.close()
    const transport = make({ servers: [{ url }, two] })
    expect(await sendRequest(transport)).toBe('0x2')
    expect(await sendRequest(transport, 'eth_sendRawTransaction', ['0x02'])).toBe('0x2')
    three = await startFaultServer()
  })

  test.each<[string, Script]>([
    ['breaks the connection', breaks],
    ['responds with 503', raw(503, 'Service Unavailable')],
    ['responds with 429', raw(429, 'Too Many Requests', { 'retry-after': '5' })],
    ['responds with 401', raw(401, 'Unauthorized')],
    ['responds with a page', raw(200, '<html>Welcome</html>')],
    ['responds to another call', raw(200, '{"jsonrpc":"2.0","id":999999,"result":"0x1"}')],
    ['sends an empty response', raw(200, '')],
    ['breaks off in the middle', (_, response, socket) => response.write('{"jsonrpc":', () => socket.destroy())],
  ])('skips a server that %s', async (_, script) => {
    one.script = script
    const transport = make()
    expect(await sendRequest(transport)).toBe('0x2')
    expect(two.seen).toHaveLength(1)
  })

  test('skips a server that hangs, after a third of the timeout', async () => {
    one.script = hangs
    useFakeClock()
    const call = sendRequest(make({ timeoutMs: 1_500 }))
    await until(() => one.seen.length === 1)
    await vi.advanceTimersByTimeAsync(499)
    expect(two.seen).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toBe('0x2')
  })

  test('uses the third server if two fail, and names all servers if all fail', async () => {
    one.script = breaks
    two.script = raw(429, 'slow down')
    const servers = [one, two, three]
    expect(await sendRequest(make({ servers }))).toBe('0x3')
    three.script = raw(401, 'Unauthorized')
    const failure = await getFailure(sendRequest(make({ servers })))
    expect(failure).toMatchObject({ kind: 'throttled' })
    expect(String(failure)).toMatch(/3 endpoints were tried: \S+ \(network\), \S+ \(throttled\), \S+ \(auth\)\.$/)
  })

  test('avoids a broken server until it works again', async () => {
    one.script = raw(502, 'Bad Gateway')
    useFakeClock()
    const transport = make({ breaker: { openMs: 200 } })
    for (let i = 0; i < 20; i++) expect(await sendRequest(transport)).toBe('0x2')
    expect(one.seen).toHaveLength(5)
    expect(transport.routed.stats()[0]?.health).toMatchObject({ state: 'open' })
    one.script = reply('0x1')
    await vi.advanceTimersByTimeAsync(199)
    expect(await sendRequest(transport)).toBe('0x2')
    await vi.advanceTimersByTimeAsync(1)
    expect(await sendRequest(transport)).toBe('0x1')
    expect(transport.routed.stats()[0]?.health).toMatchObject({ state: 'closed', successRate: 1 })
  })

  test('does not use a throttled server before its retry-after has passed', async () => {
    one.script = raw(429, 'slow down', { 'retry-after': '1' })
    useFakeClock()
    const transport = make()
    for (let i = 0; i < 20; i++) expect(await sendRequest(transport)).toBe('0x2')
    expect(one.seen).toHaveLength(1)
    one.script = reply('0x1')
    await vi.advanceTimersByTimeAsync(500)
    expect(await sendRequest(transport)).toBe('0x2')
    await vi.advanceTimersByTimeAsync(500)
    expect(await sendRequest(transport)).toBe('0x1')
  })

  test('an invalid key at one server does not affect the other', async () => {
    one.script = raw(401, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"invalid key"}}')
    const transport = make()
    for (let i = 0; i < 10; i++) expect(await sendRequest(transport)).toBe('0x2')
    expect(counts()).toEqual([1, 10, 0])
  })
})

describe('a server on the wrong chain', () => {
  test('is detected from the header, and gets no more calls', async () => {
    one.script = ({ json }, response) =>
      response.setHeader('x-chain-id', '5').end(JSON.stringify({ jsonrpc: '2.0', id: json.id, result: '0x1' }))
    const transport = make({ chainId: 1 })
    for (let i = 0; i < 3; i++) expect(await sendRequest(transport)).toBe('0x2')
    expect(counts()).toEqual([1, 3, 0])
    expect(transport.routed.stats()[0]?.out).toContain('chain 5')
  })
})

describe('a transaction', () => {
  const send = (transport: Transport): Promise<unknown> =>
    getFailure(sendRequest(transport, 'eth_sendRawTransaction', ['0x02']))

  test.each<[string, Script, boolean]>([
    ['responds with 401', raw(401, 'Unauthorized'), true],
    ['responds with 429', raw(429, 'slow down'), true],
    ['breaks the connection', breaks, false],
    ['responds with 502', raw(502, 'Bad Gateway'), false],
    ['responds with a page', raw(200, '<html>'), false],
  ])('to a server that %s is sent to another only if it cannot have arrived', async (_, script, moves) => {
    one.script = script
    const outcome = await send(make({ retries: 3 }))
    expect(outcome === '0x2').toBe(moves)
    expect(one.seen).toHaveLength(1)
    expect(two.seen).toHaveLength(moves ? 1 : 0)
  })
})

describe('a group', () => {
  test('stays at its first server until that fails', async () => {
    const servers = [one, two]
    one.script = breaks
    const transport = make({ servers, group: {} })
    expect(await sendRequest(transport)).toBe('0x2')
    one.script = reply('0x1')
    for (let i = 0; i < 3; i++) expect(await sendRequest(transport)).toBe('0x2')
    two.script = raw(503, 'down')
    expect(await sendRequest(transport)).toBe('0x1')
    two.script = reply('0x2')
    expect(await sendRequest(transport)).toBe('0x1')
    expect(await sendRequest(make({ servers }))).toBe('0x1')
  })
})

describe('hedging', () => {
  const hedge = { minMs: 50, maxRatio: 1 }
  beforeEach(useFakeClock)
  const warm = async (transport: Transport): Promise<void> => {
    for (let i = 0; i < 25; i++) await sendRequest(transport)
  }

  test('uses the result of the second server if the first is slow, and aborts the request to the first', async () => {
    const transport = make({ hedge })
    await warm(transport)
    let ended = false
    one.script = (_, __, socket) => void socket.on('close', () => (ended = true))
    const call = sendRequest(transport)
    await until(() => one.seen.length === 26)
    await vi.advanceTimersByTimeAsync(49)
    expect(two.seen).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toBe('0x2')
    await until(() => ended)
  })

  test('uses the result of the first server if that is faster after all', async () => {
    const transport = make({ hedge })
    await warm(transport)
    let respond = (): void => {}
    one.script = (...args) => (respond = () => reply('0x1')(...args))
    two.script = hangs
    const call = sendRequest(transport)
    await until(() => one.seen.length === 26)
    await vi.advanceTimersByTimeAsync(50)
    await until(() => two.seen.length === 1)
    respond()
    expect(await call).toBe('0x1')
  })
})

describe('minBlock', () => {
  const balance = (transport: Transport, minBlock: number | boolean): Promise<unknown> =>
    sendRequest(transport, 'eth_getBalance', ['0x00000000000000000000000000000000000000aa', 'latest'], { minBlock })

  test('uses the server that has the block', async () => {
    one.script = node(() => 98)
    two.script = node(() => 101)
    const transport = make()
    expect(await balance(transport, 100)).toBe('at 101')
    expect(await balance(transport, false)).toBe('at 98')
  })

  test('waits for a server that lags', async () => {
    let head = 99
    one.script = (...args) => {
      if (one.seen.length === 5) head = 100
      node(() => head)(...args)
    }
    const transport = make({ servers: [one], retries: 20, timeoutMs: 60_000 })
    expect(await balance(transport, 100)).toBe('at 100')
    expect(one.seen.length).toBeGreaterThanOrEqual(5)
  })

  test('reads from a node that has the block, even if another node behind the same URL lags', async () => {
    // One URL, two nodes: requests alternate between them.
    let turn = 0
    one.script = (...args) => node(() => (turn++ % 2 ? 97 : 100))(...args)
    const transport = make({ servers: [one], retries: 20 })
    for (let i = 0; i < 10; i++) expect(await balance(transport, 100)).toBe('at 100')
  })

  test('true requires the highest block that any server has reported', async () => {
    one.script = node(() => 98)
    two.script = node(() => 105)
    const transport = make({ minBlock: true })
    expect(await sendRequest(transport, 'eth_blockNumber', [], { minBlock: false })).toBe('0x62')
    expect(await balance(transport, true)).toBe('at 98')
    one.script = raw(503, 'down')
    expect(await sendRequest(transport, 'eth_blockNumber')).toBe('0x69')
    one.script = node(() => 98)
    expect(await balance(transport, true)).toBe('at 105')
  })
})
