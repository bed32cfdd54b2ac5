import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRaw } from './rawConnection.ts'
import { nothingThere, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let started: StartedGateway

beforeAll(async () => {
  started = await startGateway({ testnet: [nothingThere] }, { limits: { maxBodyBytes: 1_000 } })
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

/** The faults in the order of the checks; each makes its own of a request that is good but for the node, which is not there. */
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
/** These are made of one part of a request, so they cannot be in one together. */
const exclude = new Set(['not_found key_unknown', 'body_too_large parse_error'])
const pairs = faults.flatMap(([first, makeFirst], index) =>
  faults
    .slice(index + 1)
    .filter(([second]) => !exclude.has(`${first} ${second}`))
    .map(([second, makeSecond]) => ({ first, second, makeFirst, makeSecond })),
)

const bytesOf = ({ path, method, type, expect: expectation, body }: Request, chunked: boolean): string => {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${expectation}`
  return chunked
    ? `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    : `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

const plain = (): Request => ({
  path: `/testnet/${started.testnetKey}`,
  method: 'POST',
  type: 'application/json',
  expect: '',
  body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
})

const reasonOf = async (bytes: string): Promise<string> => {
  const connection = await openRaw(started.port)
  connection.send(bytes)
  const answer = await connection.next()
  connection.destroy()
  return (JSON.parse(answer.body) as { error: { data: { reason: string } } }).error.data.reason
}

describe('of two faults the caller is told the first', () => {
  test.each(pairs)('$first before $second, the length announced or not', async ({ first, makeFirst, makeSecond }) => {
    const request = plain()
    makeSecond(request)
    makeFirst(request)
    expect([await reasonOf(bytesOf(request, false)), await reasonOf(bytesOf(request, true))]).toEqual([first, first])
  })

  test('a key revoked before its network, its network before its kind of path', async () => {
    const revoked = { ...plain(), path: `/testnet/v2/${started.revokedKey}` }
    expect(await reasonOf(bytesOf(revoked, false))).toBe('key_revoked')
    const other = { ...plain(), path: `/testnet/v2/${started.mainnetKey}` }
    expect(await reasonOf(bytesOf(other, false))).toBe('wrong_network')
  })

  test('a body far too large to a path unknown: 404, and the connection ends', async () => {
    const connection = await openRaw(started.port)
    connection.send(`POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`)
    const answer = await connection.next()
    expect([answer.status, answer.headers['connection']]).toEqual([404, 'close'])
    await connection.ended
  })

  test('who waits for 100 Continue is rejected at once where the header is wrong, and sends no body', async () => {
    const connection = await openRaw(started.port)
    connection.send('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n')
    const answer = await connection.next()
    expect([answer.status, answer.headers['connection']]).toEqual([404, 'close'])
    await connection.ended
  })

  test('draining comes before a path unknown and before a size', async () => {
    const own = await startGateway({ testnet: [nothingThere] }, { limits: { maxBodyBytes: 1_000 } })
    const connections = [await openRaw(own.port), await openRaw(own.port)]
    for (const connection of connections) {
      connection.send('GET /healthz HTTP/1.1\r\n\r\n')
      await connection.next()
    }
    const closed = own.gateway.close()
    const wrong = [{ path: '/nothing' }, { body: 'x'.repeat(3_000) }]
    for (const [index, connection] of connections.entries())
      connection.send(bytesOf({ ...plain(), ...wrong[index] }, false))
    for (const connection of connections) expect((await connection.next()).status).toBe(503)
    await closed
  })
})
