import { describe, expect, test } from 'vitest'
import { openGateway } from './openGateway.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { post } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const trusting = { trustedProxies: ['127.0.0.1'] }
const read = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const withId = (id: string): RequestInit => ({ headers: { 'content-type': 'application/json', 'x-request-id': id } })
const idsInLog = ({ entries }: StartedGateway): unknown[] =>
  entries.flatMap((entry) => ('requestId' in entry ? [entry.requestId] : []))

describe('X-Request-Id from a trusted proxy', () => {
  test.each(['abc', '0f9d2c1e-5d0a-4c7e-9a53-0b7c1f6f6a11', 'A.b_c-9', '__proto__', 'x'.repeat(128)])(
    'is the id in the response, in its errors and in the log: %s',
    async (id) => {
      const { started, upstream, rpcUrl: url } = await openGateway(trusting)
      expect((await post(url, read, withId(id))).headers.get('x-request-id')).toBe(id)
      const rejected = await post(url, '{', withId(id))
      expect(rejected.headers.get('x-request-id')).toBe(id)
      expect(JSON.parse(rejected.text)).toMatchObject({ error: { data: { requestId: id } } })
      const unknownKey = await post(`${started.url}/testnet/none`, read, withId(id))
      expect(JSON.parse(unknownKey.text)).toMatchObject({ error: { data: { requestId: id } } })
      expect(idsInLog(started)).toEqual([id, id, id])
      // Nodes get none of the caller's headers.
      expect(upstream.headers[0]).not.toHaveProperty('x-request-id')
    },
  )

  test('names each call of a rejected batch', async () => {
    const { rpcUrl: url } = await openGateway(trusting)
    const batch = '[1,{"jsonrpc":"2.0","id":2,"method":"nope"}]'
    const { text } = await post(url, batch, withId('proxy-7'))
    expect(JSON.parse(text)).toMatchObject([
      { error: { data: { requestId: 'proxy-7' } } },
      { error: { data: { requestId: 'proxy-7' } } },
    ])
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['of several words', 'a b'],
    ['a list', 'a,b'],
    ['quoted', '"abc"'],
    ['with markup', '<b>abc</b>'],
    ['with a path', '../abc'],
    ['with a format directive', '%s%n'],
    ['with a letter that is not ASCII', 'abcé'],
    ['with a tab', 'a\tb'],
    ['with braces', '${abc}'],
  ])('is replaced by a new one if it is %s', async (_, id) => {
    const { started } = await openGateway(trusting)
    const connection = await openRaw(started.port)
    connection.send(postBytes(`/testnet/${started.testnetKey}`, read, { 'X-Request-Id': id }))
    const { headers } = await connection.next()
    expect(headers['x-request-id']).toMatch(uuid)
    expect(idsInLog(started)).toEqual([headers['x-request-id']])
    connection.destroy()
  })

  test('is replaced by a new one if it was sent twice', async () => {
    const { started } = await openGateway(trusting)
    const connection = await openRaw(started.port)
    const path = `/testnet/${started.testnetKey}`
    connection.send(postBytes(path, read, { 'X-Request-Id': 'one\r\nX-Request-Id: two' }))
    expect((await connection.next()).headers['x-request-id']).toMatch(uuid)
    connection.destroy()
  })

  test('is a new one for each request without one', async () => {
    const { rpcUrl: url } = await openGateway(trusting)
    const ids = [await post(url, read), await post(url, read)].map(({ headers }) => headers.get('x-request-id'))
    expect(ids[0]).toMatch(uuid)
    expect(ids[1]).toMatch(uuid)
    expect(ids[0]).not.toBe(ids[1])
  })
})

test.each([
  ['there are no trusted proxies', []],
  ['another proxy is trusted', ['10.0.0.0/8']],
])('X-Request-Id is ignored if %s', async (_, trustedProxies) => {
  const { started, rpcUrl: url } = await openGateway({ trustedProxies })
  const { headers } = await post(url, read, withId('abc'))
  expect(headers.get('x-request-id')).toMatch(uuid)
  expect(idsInLog(started)).toEqual([headers.get('x-request-id')])
})

test('X-Request-Id of a client whose address a trusted proxy forwards is the one that the proxy sends', async () => {
  const { rpcUrl: url } = await openGateway(trusting)
  const sent = {
    'content-type': 'application/json',
    'x-request-id': 'from-the-proxy',
    'x-forwarded-for': '203.0.113.7',
  }
  const { headers } = await post(url, read, { headers: sent })
  expect(headers.get('x-request-id')).toBe('from-the-proxy')
})
