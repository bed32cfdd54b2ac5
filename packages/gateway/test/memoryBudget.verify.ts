import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../src/index.ts'
import { allBufferedBytes, getBufferShare } from '../src/lib/memoryBudget.ts'
import { result } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { postBytes } from './rawConnection.ts'
import { post } from './startGateway.ts'

const megabyte = 1024 * 1024

const start = async (maxBufferedBytes: number) => {
  const { upstream, started, rpcUrl } = await openGateway({ bounds: { maxBufferedBytes } })
  upstream.behave = (call) => result(call, call.method === 'eth_call' ? `"${'a'.repeat(10 * megabyte)}"` : '"0x1"')
  return { upstream, started, rpcUrl }
}
const batch = (params: string): string =>
  `[{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${params}},{"jsonrpc":"2.0","id":2,"method":"eth_call","params":[{}]}]`
const untilEmpty = async (): Promise<unknown> => expect.poll(allBufferedBytes).toBe(0)

test('responses that nobody reads stay within maxBufferedBytes, small calls still work, and the memory is released', async () => {
  const { started, rpcUrl } = await start(60 * megabyte)
  const deaf = connect({ port: started.port, host: '127.0.0.1' })
  deaf.on('error', () => {})
  deaf.pause()
  deaf.write(postBytes(`/testnet/${started.testnetKey}`, batch('[1]')))
  await expect.poll(() => allBufferedBytes() > 20 * megabyte).toBe(true)
  expect(started.gateway.load().largestShareBytes).toBe(allBufferedBytes())
  const rejected = await post(rpcUrl, batch('[2]'))
  const responses = JSON.parse(rejected.text) as { id: number; error?: { data: { reason: string } } }[]
  expect(responses.map(({ id, error }) => [id, error?.data.reason])).toEqual([
    [1, 'upstream_busy'],
    [2, 'upstream_busy'],
  ])
  expect((await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}')).text).toContain('"result":"0x1"')
  // There is room for others: one owner can use at most half.
  const other = createApiKey('testnet')
  started.keys.add(other, { id: 'key-other', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  const one = '[{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[4]}]'
  const response = await post(getApiKeyUrl(started.url, 'testnet', other), one)
  expect(response.text.length).toBeGreaterThan(10 * megabyte)
  expect(allBufferedBytes()).toBeLessThanOrEqual(30 * megabyte)
  deaf.destroy()
  await untilEmpty()
  expect(started.gateway.load().largestShareBytes).toBe(0)
  expect((await post(rpcUrl, batch('[3]'))).text.length).toBeGreaterThan(20 * megabyte)
  await untilEmpty()
})

test('a streamed result is not counted', async () => {
  const { rpcUrl } = await start(5 * megabyte)
  const response = await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}')
  expect([response.status, response.text.length > 10 * megabyte]).toEqual([200, true])
  await untilEmpty()
})

test('a body without room is rejected, and a small one is not', async () => {
  const { rpcUrl } = await start(100_000)
  const call = (length: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":["${'a'.repeat(length)}"]}`
  const rejected = await post(rpcUrl, call(megabyte))
  expect([rejected.status, rejected.text.includes('upstream_busy')]).toEqual([503, true])
  await untilEmpty()
  expect((await post(rpcUrl, call(40_000))).status).toBe(200)
  await untilEmpty()
})

test('incomplete bodies are counted from their first byte, and stay within maxBufferedBytes', async () => {
  const { started, rpcUrl } = await start(100_000)
  const head = `POST /testnet/${started.testnetKey} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  const slow = Array.from({ length: 5 }, () => {
    const socket = connect({ port: started.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(`${head}Content-Length: 30000\r\n\r\n${' '.repeat(20_000)}`)
    return socket
  })
  const [data] = await Promise.race(slow.map((socket) => once(socket, 'data')))
  expect(String(data)).toMatch(/^HTTP\/1\.1 503 [^]*upstream_busy/)
  expect(allBufferedBytes()).toBeLessThanOrEqual(50_000)
  // A small call still works.
  expect((await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}')).status).toBe(200)
  for (const socket of slow) socket.destroy()
  await untilEmpty()
})

test('long batches of rejections and of cached responses are counted', async () => {
  const { upstream, rpcUrl } = await start(200_000)
  const many = (count: number, call: string): string => `[${Array.from({ length: count }, () => call).join(',')}]`
  const rejected = '{"jsonrpc":"2.0","id":1,"method":"none"}'
  expect(await post(rpcUrl, many(20, rejected))).toMatchObject({ status: 200 })
  const long = await post(rpcUrl, many(900, rejected))
  expect([long.status, long.text.includes('upstream_busy')]).toEqual([503, true])
  await untilEmpty()

  upstream.behave = (call) => result(call, `"${'a'.repeat(30_000)}"`)
  const block = `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByHash","params":["0x${'ab'.repeat(32)}",true]}`
  const cached = await post(rpcUrl, many(4, block))
  const responses = JSON.parse(cached.text) as { result?: string }[]
  expect(responses.map((response) => 'result' in response)).toEqual([true, true, true, false])
  await untilEmpty()
  upstream.behave = () => expect.unreachable('it is cached')
  expect((await post(rpcUrl, block)).text.length).toBeGreaterThan(30_000)
  await untilEmpty()
})

test('calls that wait for a slot are counted, and rejected if there is no room', async () => {
  const queuedBytes = 16 * 1024
  const { upstream, started, rpcUrl } = await start(20 * queuedBytes + 2_000)
  const respond: (() => void)[] = []
  upstream.behave = (call, response) => {
    respond.push(() => void response.end(result(call, '"0x1"')))
    return undefined
  }
  const reasons: (string | undefined)[] = []
  // 64 are in flight. The owner may hold half of the memory: 10 wait, and there is room for short results.
  const responses = Array.from({ length: 94 }, async (_, index) => {
    const { text } = await post(rpcUrl, `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${index}]}`)
    reasons.push((JSON.parse(text) as { error?: { data: { reason: string } } }).error?.data.reason)
  })
  await expect.poll(() => reasons).toEqual(Array<string>(20).fill('upstream_busy'))
  expect(started.gateway.load()).toMatchObject({ bufferedByKind: { requests: 10 * queuedBytes } })
  expect(started.gateway.load().queues).toContainEqual({ network: 'testnet', active: 64, queued: 10 })
  upstream.behave = (call) => result(call, '"0x1"')
  for (const one of respond) one()
  await Promise.all(responses)
  expect(reasons.slice(20)).toEqual(Array<undefined>(74).fill(undefined))
  await untilEmpty()
})

test('an owner has one share as long as anyone uses it, however many other owners come', () => {
  const share = getBufferShare('user:idle')
  for (let other = 0; other < 30_000; other += 1) getBufferShare(`user:other${other}`)
  expect(getBufferShare('user:idle')).toBe(share)
})
