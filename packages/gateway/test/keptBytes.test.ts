import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { apiKeyAddress } from '../src/index.ts'
import { allKeptBytes } from '../src/upstream/keptBytes.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import { postBytes } from './rawConnection.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const megabyte = 1024 * 1024

const start = async (maxKeptBytes: number) => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  const started = await startGateway({ testnet: [upstream.url] }, { limits: { maxKeptBytes } })
  toStop.push(upstream.stop, () => started.gateway.close({ graceMs: 0 }))
  upstream.behave = (call) => result(call, call.method === 'eth_call' ? `"${'a'.repeat(10 * megabyte)}"` : '"0x1"')
  return { upstream, started, address: apiKeyAddress(started.url, 'testnet', started.testnetKey) }
}
const batch = (params: string): string =>
  `[{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${params}},{"jsonrpc":"2.0","id":2,"method":"eth_call","params":[{}]}]`
const none = async (): Promise<unknown> => expect.poll(allKeptBytes, { timeout: 10_000 }).toBe(0)

test('answers that nobody reads take no more memory than all may, small calls go on, and it comes back', async () => {
  const { started, address } = await start(30 * megabyte)
  const deaf = connect({ port: started.port, host: '127.0.0.1' })
  deaf.on('error', () => {})
  deaf.pause()
  deaf.write(postBytes(`/testnet/${started.testnetKey}`, batch('[1]')))
  await expect.poll(() => allKeptBytes() > 20 * megabyte, { timeout: 20_000 }).toBe(true)
  const refused = await post(address, batch('[2]'))
  const ends = JSON.parse(refused.text) as { id: number; error?: { data: { reason: string } } }[]
  expect(ends.map(({ id, error }) => [id, error?.data.reason])).toEqual([
    [1, 'upstream_busy'],
    [2, 'upstream_busy'],
  ])
  expect((await post(address, '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}')).text).toContain('"result":"0x1"')
  expect(allKeptBytes()).toBeLessThanOrEqual(30 * megabyte)
  deaf.destroy()
  await none()
  expect((await post(address, batch('[3]'))).text.length).toBeGreaterThan(20 * megabyte)
  await none()
}, 60_000)

test('a result on its way to its caller is not counted', async () => {
  const { address } = await start(5 * megabyte)
  const answer = await post(address, '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}')
  expect([answer.status, answer.text.length > 10 * megabyte]).toEqual([200, true])
  await none()
}, 60_000)

test('a large body for which there is no room is refused, and a small one is not', async () => {
  const { address } = await start(100_000)
  const call = (length: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":["${'a'.repeat(length)}"]}`
  const refused = await post(address, call(megabyte))
  expect([refused.status, refused.text.includes('upstream_busy')]).toEqual([503, true])
  await none()
  expect((await post(address, call(60_000))).status).toBe(200)
  await none()
}, 60_000)
