import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRaw } from './rawConnection.ts'
import { unreachableUrl, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let started: StartedGateway

beforeAll(async () => {
  started = await startGateway({ testnet: [unreachableUrl] }, { bounds: { maxBodyBytes: 1_000 } })
  const revoked = { id: 'both', kind: 'apiKey', networks: ['mainnet'], status: 'revoked' } as const
  started.keys.add(started.revokedKey, revoked)
})
afterAll(() => started.gateway.close({ graceMs: 0 }))

interface Request {
  path: string
  method: string
  type: string
  expect: string
  body: string
}

/** The faults in the order of the checks. Each changes a request that is valid, except that there is no node. */
const faults: readonly [reason: string, make: (request: Request) => void][] = [
  ['expectation_failed', (request) => (request.expect = 'Expect: cake\r\n')],
  ['not_found', (request) => (request.path = '/nothing')],
  ['http_method', (request) => (request.method = 'PUT')],
  ['content_type', (request) => (request.type = 'text/plain')],
  ['body_too_large', (request) => (request.body = 'x'.repeat(3_000))],
  ['key_unknown', (request) => (request.path = '/testnet/none')],
  ['parse_error', (request) => (request.body = '{')],
  ['no_upstream', () => {}],
]
/** These change the same part of a request, so they cannot be combined. */
const excluded = new Set(['not_found key_unknown', 'body_too_large parse_error'])
const pairs = faults.flatMap(([first, makeFirst], index) =>
  faults
    .slice(index + 1)
    .filter(([second]) => !excluded.has(`${first} ${second}`))
    .map(([second, makeSecond]) => ({ first, second, makeFirst, makeSecond })),
)

const toBytes = ({ path, method, type, expect: expectation, body }: Request, chunked: boolean): string => {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${expectation}`
  return chunked
    ? `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    : `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

const createRequest = (): Request => ({
  path: `/testnet/${started.testnetKey}`,
  method: 'POST',
  type: 'application/json',
  expect: '',
  body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
})

const getReason = async (bytes: string): Promise<string> => {
  const connection = await openRaw(started.port)
  connection.send(bytes)
  const response = await connection.next()
  connection.destroy()
  return (JSON.parse(response.body) as { error: { data: { reason: string } } }).error.data.reason
}

describe('a request with two faults is rejected for the first', () => {
  test.each(pairs)(
    '$first before $second, with and without a Content-Length',
    async ({ first, makeFirst, makeSecond }) => {
      const request = createRequest()
      makeSecond(request)
      makeFirst(request)
      expect([await getReason(toBytes(request, false)), await getReason(toBytes(request, true))]).toEqual([
        first,
        first,
      ])
    },
  )

  test('a revoked key before a wrong network, and that before a wrong kind of path', async () => {
    const revoked = { ...createRequest(), path: `/testnet/v2/${started.revokedKey}` }
    expect(await getReason(toBytes(revoked, false))).toBe('key_revoked')
    const other = { ...createRequest(), path: `/testnet/v2/${started.mainnetKey}` }
    expect(await getReason(toBytes(other, false))).toBe('wrong_network')
  })

  test('a body that is far too large for an unknown path: 404, and the connection is closed', async () => {
    const connection = await openRaw(started.port)
    connection.send(`POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`)
    const response = await connection.next()
    expect([response.status, response.headers['connection']]).toEqual([404, 'close'])
    await connection.ended
  })

  test('a caller that waits for 100 Continue is rejected at once if a header is wrong, and sends no body', async () => {
    const connection = await openRaw(started.port)
    connection.send('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n')
    const response = await connection.next()
    expect([response.status, response.headers['connection']]).toEqual([404, 'close'])
    await connection.ended
  })

  test('draining comes before an unknown path and before a size', async () => {
    const own = await startGateway({ testnet: [unreachableUrl] }, { bounds: { maxBodyBytes: 1_000 } })
    const connections = [await openRaw(own.port), await openRaw(own.port)]
    for (const connection of connections) {
      connection.send('GET /healthz HTTP/1.1\r\n\r\n')
      await connection.next()
    }
    const closed = own.gateway.close()
    const wrong = [{ path: '/nothing' }, { body: 'x'.repeat(3_000) }]
    for (const [index, connection] of connections.entries())
      connection.send(toBytes({ ...createRequest(), ...wrong[index] }, false))
    for (const connection of connections) expect((await connection.next()).status).toBe(503)
    await closed
  })
})
