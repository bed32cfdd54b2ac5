import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { TestOptions } from '../createTestGateway.ts'
import type { UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { allBufferedBytes } from '../../src/lib/memoryBudget.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import type { RawConnection } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { createFakeLimits } from './fakes.ts'
import { batch, call, noLimits, noon, summarize, startTenants, openTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const MiB = 1024 * 1024
const read = call('eth_gasPrice')
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
/** A call with nested params. The call and its params count as two levels. */
const callOfDepth = (depth: number): string => call('eth_call', `[${nested(depth - 2)}]`)

/** Bodies without calls, and the reason of the rejection. */
const bodies: readonly [name: string, body: string | Uint8Array<ArrayBuffer>, reason: string][] = [
  ['nothing', '', 'parse_error'],
  ['white space', ' \n ', 'parse_error'],
  ['three open brackets', '[[[', 'parse_error'],
  ['half a call', read.slice(0, -5), 'parse_error'],
  ['a call and a half', `${read}{`, 'parse_error'],
  ['two calls', read + read, 'parse_error'],
  ['a trailing comma', `[${read},]`, 'parse_error'],
  ['words that JSON does not have', call('eth_call', '[NaN]'), 'parse_error'],
  ['a byte order mark', `\u{feff}${read}`, 'parse_error'],
  ['bytes that are not UTF-8', Uint8Array.of(...Buffer.from('["'), 0xff, ...Buffer.from('"]')), 'parse_error'],
  ['UTF-16', new Uint8Array(Buffer.from(read, 'utf16le')), 'parse_error'],
  ['65 levels', nested(65), 'parse_error'],
  ['65 levels in a call', callOfDepth(65), 'parse_error'],
  ['65 levels in a call of a batch', `[${read},${callOfDepth(64)}]`, 'parse_error'],
  ['65 levels of objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), 'parse_error'],
  ['an empty batch', '[]', 'batch_empty'],
  ['a batch of 10,000 numbers', `[${Array(10_000).fill(1).join(',')}]`, 'batch_too_large'],
  ['a batch of 1,001 calls', `[${Array(1_001).fill(read).join(',')}]`, 'batch_too_large'],
  ['2 MB of open brackets', '['.repeat(2 * MiB), 'parse_error'],
  ['2 MB of nested brackets', nested(MiB), 'parse_error'],
  ['150 kB of empty arrays', `[${Array(50_000).fill('[]').join(',')}]`, 'batch_too_large'],
  ['2 MB of a text that does not end', `{"jsonrpc":"${'x'.repeat(2 * MiB - 20)}`, 'parse_error'],
  ['2 MB of white space', ' '.repeat(2 * MiB), 'parse_error'],
  ['a number', '1', 'invalid_request'],
  ['another envelope', '{"jsonrpc":"1.0","id":1,"method":"eth_gasPrice"}', 'invalid_request'],
  ['a member that is there twice', '{"jsonrpc":"2.0","jsonrpc":"2.0","method":"eth_gasPrice"}', 'invalid_request'],
  [
    'members without end',
    `{${Array.from({ length: 100_000 }, (_, index) => `"m${index}":1`).join(',')}}`,
    'invalid_request',
  ],
]
const limits = { perSecond: 10, burst: 4, perDay: 100, perMonth: null }
const remaining = ({ headers }: { headers: Headers }): string | null => headers.get('x-ratelimit-remaining')
const limitHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => /^(?:x-ratelimit|retry-after)/.test(name)))

describe.each([
  ['decided here', false],
  ['decided elsewhere, as by Redis', true],
])('a body without calls, with a rate %s', (_, later) => {
  let started: StartedTenants
  beforeAll(async () => {
    started = await startTenants({}, { later })
  })
  afterAll(() => started.stop())

  test.each(bodies)('costs one call of the rate and none of the quota: %s', async (name, body, reason) => {
    const { addApp, usageLimits } = started
    const { path } = addApp({ appId: `app_${name}`, limits })
    expect(remaining(await post(path, read))).toBe('3')
    const rejected = await post(path, body)
    expect([summarize(rejected), remaining(rejected)]).toEqual([[rejected.status, reason], '2'])
    expect(rejected.status).toBe(reason === 'batch_too_large' ? 413 : 400)
    expect(remaining(await post(path, read))).toBe('1')
    expect(usageLimits.used(`app:app_${name}`)).toBe(2)
  })

  test.each(bodies)('is 429 as any other request once the rate is used up: %s', async (name, body) => {
    const { addApp, clock, meter } = started
    clock.now = noon
    const { path } = addApp({ id: `key ${name}`, limits })
    for (let count = 0; count < limits.burst; count += 1) await post(path, '{')
    const rejected = await post(path, body)
    expect([summarize(rejected), JSON.parse(rejected.text)]).toMatchObject([
      [429, 'rate_limited'],
      { error: { code: -32005, data: { limit: 10, window: 'second', retryAfterMs: 100, backoff_seconds: 1 } } },
    ])
    expect(limitHeaders(rejected.headers)).toEqual({
      'retry-after': 'Sat, 21 Nov 2026 12:00:01 GMT',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(noon / 1000 + 1),
    })
    expect(meter.counted.at(-1)).toBe(`key ${name} testnet other rate_limited`)
    clock.now += 100
    expect((await post(path, '{')).status).toBe(400)
  })
})

describe('with a rate limit that is used up', () => {
  const startUsedUp = async (options: Partial<TestOptions> = {}) => {
    const started = await openTenants(options)
    const { path } = started.addApp({ limits: { ...noLimits, perSecond: 1, burst: 1 } })
    await post(path, read)
    return { ...started, path, pathname: new URL(path).pathname }
  }

  test('a call gets a response with its id, a batch of which nothing was granted gets one error', async () => {
    const { path } = await startUsedUp()
    const single = await post(path, call('eth_gasPrice', '[]', 7))
    expect([single.status, JSON.parse(single.text)]).toMatchObject([429, { id: 7 }])
    const several = await post(path, batch('eth_gasPrice', 'nope'))
    expect([several.status, JSON.parse(several.text)]).toMatchObject([429, { id: null }])
    expect((await post(path, '{"jsonrpc":"2.0","method":"eth_gasPrice"}')).status).toBe(204)
  })

  test.each([
    ['announced', false],
    ['in chunks', true],
  ])('a large body, %s, is not stored and gets 429, and its connection stays usable', async (_, chunked) => {
    const { port, pathname, upstream } = await startUsedUp()
    const body = call('eth_call', `["${'x'.repeat(2 * MiB - 1_000)}"]`)
    const half = Math.floor(body.length / 2)
    const connection = await openRaw(port)
    const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
    const chunk = (text: string): string => (chunked ? `${text.length.toString(16)}\r\n${text}\r\n` : text)
    connection.send(head + (chunked ? 'Transfer-Encoding: chunked\r\n\r\n' : `Content-Length: ${body.length}\r\n\r\n`))
    connection.send(chunk(body.slice(0, half)))
    // Requests on other connections, so that the first half of the body has arrived.
    for (let count = 0; count < 5; count += 1) await fetch(`http://127.0.0.1:${port}/healthz`)
    expect(allBufferedBytes()).toBe(0)
    connection.send(chunk(body.slice(half)) + (chunked ? '0\r\n\r\n' : ''))
    const rejected = await connection.next()
    expect([rejected.status, rejected.headers['retry-after'] === undefined]).toEqual([429, false])
    expect(JSON.parse(rejected.body)).toMatchObject({ id: null, error: { data: { reason: 'rate_limited' } } })
    connection.send(postBytes(pathname, read))
    expect((await connection.next()).status).toBe(429)
    expect(upstream.bodies.length).toBe(1)
    connection.destroy()
  })

  test('a body over the size limit gets 429, and its connection is closed', async () => {
    const { port, pathname } = await startUsedUp({ bounds: { maxBodyBytes: 300 } })
    const connection = await openRaw(port)
    const chunk = `100\r\n${'x'.repeat(256)}\r\n`
    connection.send(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`)
    const rejected = await connection.next()
    expect([rejected.status, rejected.headers['connection']]).toEqual([429, 'close'])
    await connection.ended
  })

  test('a body over the size limit counts as one call if the rate is not used up', async () => {
    const { addApp, port } = await openTenants({ bounds: { maxBodyBytes: 300 } })
    const { path } = addApp({ limits })
    const connection = await openRaw(port)
    const chunk = `100\r\n${'x'.repeat(256)}\r\n`
    const { pathname } = new URL(path)
    connection.send(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`)
    const rejected = await connection.next()
    expect([rejected.status, rejected.headers['connection']]).toEqual([413, 'close'])
    expect(remaining(await post(path, read))).toBe('2')
  })

  test('large bodies that were read before the rate was used up are not parsed', async () => {
    const { addApp, port, meter } = await openTenants()
    const { path } = addApp({ id: 'key_c', limits: { ...noLimits, perSecond: 1, burst: 3 } })
    const { pathname } = new URL(path)
    const body = `[${Array(50_000).fill('[]').join(',')}]`
    const connections = await Promise.all(Array.from({ length: 8 }, () => openRaw(port)))
    for (const connection of connections) connection.send(postBytes(pathname, body))
    const responses = await Promise.all(connections.map((connection) => connection.next()))
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array(3).fill(413),
      ...Array(5).fill(429),
    ])
    // Parsed bodies are metered per call, the others as one call each.
    expect(meter.counted.filter((line) => line.endsWith('rate_limited')).length).toBe(5)
    for (const connection of connections) connection.destroy()
  })
})

describe('nesting', () => {
  test('accepts 64 levels and rejects 65 with an error that names the limit', async () => {
    const { addApp, upstream } = await openTenants()
    const { path } = addApp()
    expect(summarize(await post(path, callOfDepth(64)))).toEqual([200, '0x1'])
    expect(summarize(await post(path, `[${callOfDepth(63)}]`))).toEqual([200, '0x1'])
    expect(upstream.bodies.length).toBe(2)
    const rejected = await post(path, callOfDepth(65))
    expect([rejected.status, JSON.parse(rejected.text)]).toMatchObject([
      400,
      {
        id: null,
        error: {
          code: -32700,
          message: 'Parse error: arrays and objects are nested more than 64 levels deep',
          data: { reason: 'parse_error', maxJsonDepth: 64 },
        },
      },
    ])
    expect(upstream.bodies.length).toBe(2)
  })

  test('uses the limit of the operator', async () => {
    const { addApp } = await openTenants({ bounds: { maxJsonDepth: 8 } })
    const { path } = addApp()
    expect(summarize(await post(path, callOfDepth(8)))).toEqual([200, '0x1'])
    expect(summarize(await post(path, callOfDepth(9)))).toEqual([400, 'parse_error'])
  })

  test('ignores brackets in strings', async () => {
    const { addApp } = await openTenants()
    const text = `"${'[{'.repeat(500)}\\"${'[{'.repeat(500)}"`
    expect(summarize(await post(addApp().path, call('eth_call', `[${text}]`)))).toEqual([200, '0x1'])
  })
})

/** Counts iterations of the event loop. */
const countTurns = (): (() => number) => {
  let turn = 0
  let next: NodeJS.Immediate
  const count = (): void => {
    turn += 1
    next = setImmediate(count)
  }
  next = setImmediate(count)
  onTestFinished(() => clearImmediate(next))
  return () => turn
}

/** Posts on open connections, all but the last bytes first, so that all bodies are complete at the same moment. */
const postTogether = async (
  port: number,
  pathname: string,
  all: readonly string[],
): Promise<readonly RawConnection[]> => {
  const connections = await Promise.all(all.map(() => openRaw(port)))
  for (const [index, connection] of connections.entries())
    connection.send(postBytes(pathname, all[index] ?? '').slice(0, -1))
  return connections
}

test("large bodies of one key are parsed one per event loop iteration and do not delay another key's calls", async () => {
  const turnNow = countTurns()
  const taken: { id: string; turn: number }[] = []
  const inner = createFakeLimits({ now: () => noon })
  const noted: UsageLimits = {
    ...inner,
    take: (request) => {
      // Each body is charged once, right after it was parsed.
      taken.push({ id: request.id, turn: turnNow() })
      return inner.take(request)
    },
  }
  const { addApp, port } = await openTenants({ usageLimits: noted })
  const own = { limits: { ...noLimits, perSecond: 100_000 } }
  const greedy = new URL(addApp({ ...own, id: 'greedy' }).path).pathname
  const other = new URL(addApp({ ...own, id: 'other' }).path).pathname
  const brackets = call('eth_nope', `[${Array(200_000).fill('[]').join(',')}]`)
  const connections = await postTogether(port, greedy, Array(20).fill(brackets))
  const [quick] = await postTogether(port, other, [read])
  // All but the last bytes of those bodies have arrived.
  await expect.poll(() => allBufferedBytes()).toBeGreaterThan(20 * brackets.length - 1_000)
  for (const connection of connections) connection.send('}')
  quick?.send('}')
  expect((await quick?.next())?.status).toBe(200)
  const before = taken.filter(({ id }) => id === 'greedy').length
  for (const connection of connections) expect((await connection.next()).status).toBe(200)
  const turns = taken.filter(({ id }) => id === 'greedy').map(({ turn }) => turn)
  expect(turns.length).toBe(20)
  expect(new Set(turns).size).toBe(20)
  expect(before).toBeLessThan(20)
  for (const connection of [...connections, quick]) connection?.destroy()
})

test('bodies with an unknown key are neither buffered nor parsed', async () => {
  const { url, port } = await openTenants()
  const connection = await openRaw(port)
  connection.send(`POST /testnet/none HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * MiB}\r\n\r\n${'['.repeat(MiB)}`)
  for (let count = 0; count < 5; count += 1) await fetch(`${url}/healthz`)
  expect(allBufferedBytes()).toBe(0)
  connection.send('['.repeat(MiB))
  const rejected = await connection.next()
  expect([rejected.status, JSON.parse(rejected.body)]).toMatchObject([
    401,
    { error: { data: { reason: 'key_unknown' } } },
  ])
  connection.destroy()
})
