import { describe, expect, onTestFinished, test } from 'vitest'
import type { TestOptions } from './createTestGateway.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { chainIds, post } from './startGateway.ts'

/** Starts a gateway that knows its upstream's finalized block: 36 (0x24). */
const start = async (
  options: Partial<TestOptions> = {},
  others: readonly FakeUpstream[] = [],
): Promise<{
  upstream: FakeUpstream
  rpcUrl: string
  call: (method: string, ...params: unknown[]) => Promise<string>
}> => {
  const { upstream, rpcUrl } = await openGateway(options, others)
  const call = async (method: string, ...params: unknown[]): Promise<string> =>
    (await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text
  await expect
    .poll(async () => {
      upstream.bodies.length = 0
      await call('eth_getBlockByNumber', '0x0', false)
      return upstream.bodies.length
    })
    .toBe(options.bounds?.maxCacheBytes === 0 || options.unsafeNodeMethods === true ? 1 : 0)
  upstream.bodies.length = 0
  return { upstream, rpcUrl, call }
}

const hash = `0x${'ab'.repeat(32)}`
const address20 = `0x${'12'.repeat(20)}`
const mined = (block: string): string => `{"blockNumber":"${block}","hash":"${hash}"}`

describe('a response that cannot change any more is fetched once:', () => {
  test.each([
    ['a block by hash', 'eth_getBlockByHash', [hash, true], '{"number":"0x9999"}'],
    ['a block by a finalized number', 'eth_getBlockByNumber', ['0x24', true], '{"number":"0x24"}'],
    ['a call at a finalized block', 'eth_call', [{ to: address20 }, '0x10'], '"0x01"'],
    ['a balance at a block hash', 'eth_getBalance', [address20, { blockHash: hash }], '"0x01"'],
    ['a balance at a block number in an object', 'eth_getBalance', [address20, { blockNumber: '0x10' }], '"0x01"'],
    ['logs of finalized blocks', 'eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x24' }], '[]'],
    ['logs of a block hash', 'eth_getLogs', [{ blockHash: hash }], '[{"data":"0x"}]'],
    ['a receipt of a finalized block', 'eth_getTransactionReceipt', [hash], mined('0x24')],
    ['a transaction of a finalized block', 'eth_getTransactionByHash', [hash], mined('0x24')],
    ['receipts of a finalized block', 'eth_getBlockReceipts', ['0x20'], '[{}]'],
  ])('%s', async (_, method, params, value) => {
    const { upstream, call } = await start()
    upstream.behave = (seen) => result(seen, value)
    const first = await call(method, ...params)
    upstream.behave = (seen) => result(seen, '"something else"')
    expect([await call(method, ...params), await call(method, ...params)]).toEqual([first, first])
    expect(first).toBe(`{"jsonrpc":"2.0","id":1,"result":${value}}`)
    expect(upstream.bodies.length).toBe(1)
  })

  test('in a batch too', async () => {
    const { upstream, call, rpcUrl } = await start()
    upstream.behave = (seen) => result(seen, '{"number":"0x1"}')
    await post(rpcUrl, `[{"jsonrpc":"2.0","id":7,"method":"eth_getBlockByNumber","params":["0x1",false]}]`)
    upstream.behave = (seen) => result(seen, '"new"')
    expect(await call('eth_getBlockByNumber', '0x1', false)).toContain('{"number":"0x1"}')
    const batch = await post(
      rpcUrl,
      '[{"jsonrpc":"2.0","id":8,"method":"eth_getBlockByNumber","params":["0x1",false]},{"jsonrpc":"2.0","id":9,"method":"eth_gasPrice"}]',
    )
    expect(JSON.parse(batch.text)).toEqual([
      { jsonrpc: '2.0', id: 8, result: { number: '0x1' } },
      { jsonrpc: '2.0', id: 9, result: 'new' },
    ])
  })
})

describe('is fetched again:', () => {
  test.each([
    ['a block that is not finalized', 'eth_getBlockByNumber', ['0x25', true], '{"number":"0x25"}'],
    ['a block by tag', 'eth_getBlockByNumber', ['finalized', true], '{"number":"0x24"}'],
    ['the earliest block', 'eth_getBlockByNumber', ['earliest', true], '{"number":"0x0"}'],
    ['a call at the latest block', 'eth_call', [{ to: address20 }, 'latest'], '"0x01"'],
    ['a call without a block', 'eth_call', [{ to: address20 }], '"0x01"'],
    ['null for a hash', 'eth_getBlockByHash', [hash, true], 'null'],
    ['null for a finalized number', 'eth_getBlockByNumber', ['0x1', true], 'null'],
    ['no logs for a hash', 'eth_getLogs', [{ blockHash: hash }], '[]'],
    ['logs up to a block that is not finalized', 'eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x25' }], '[]'],
    ['logs with an open end', 'eth_getLogs', [{ fromBlock: '0x1' }], '[]'],
    [
      'a state of the canonical chain only',
      'eth_getBalance',
      [address20, { blockHash: hash, requireCanonical: true }],
      '"0x1"',
    ],
    ['a receipt of a block that is not finalized', 'eth_getTransactionReceipt', [hash], mined('0x25')],
    ['a pending transaction', 'eth_getTransactionByHash', [hash], '{"blockNumber":null}'],
    [
      'a receipt with two block numbers',
      'eth_getTransactionReceipt',
      [hash],
      '{"blockNumber":"0x1","blockNumber":"0x2"}',
    ],
    ['a text that only resembles a hash', 'eth_getBlockByHash', ['0xab', true], '{"number":"0x1"}'],
    ['a method that is not listed', 'eth_estimateGas', [{ to: address20 }, '0x10'], '"0x01"'],
  ])('%s', async (_, method, params, value) => {
    const { upstream, call } = await start()
    upstream.behave = (seen) => result(seen, value)
    await call(method, ...params)
    await call(method, ...params)
    expect(upstream.bodies.length).toBe(2)
  })

  test('an error', async () => {
    const { upstream, call } = await start()
    upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":"pruned"}}`
    expect(await call('eth_getBlockByHash', hash, true)).toContain('pruned')
    upstream.behave = (seen) => result(seen, '{"number":"0x1"}')
    expect(await call('eth_getBlockByHash', hash, true)).toContain('0x1')
  })

  test('a log filter with a repeated or an escaped name: a node might read it differently', async () => {
    const { upstream, rpcUrl } = await start()
    upstream.behave = (seen) => result(seen, '[1]')
    for (const params of [
      '[{"fromBlock":"0x1","toBlock":"0x2","toBlock":"latest"}]',
      String.raw`[{"fromBlock":"0x1","to\u0042lock":"0x2"}]`,
    ]) {
      upstream.bodies.length = 0
      const body = `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":${params}}`
      await post(rpcUrl, body)
      await post(rpcUrl, body)
      expect(upstream.bodies.length).toBe(2)
    }
  })

  test.each([{ bounds: { maxCacheBytes: 0 } }, { unsafeNodeMethods: true }])(
    'every response, with %o',
    async (options) => {
      const { upstream, call } = await start(options)
      upstream.behave = (seen) => result(seen, '{"number":"0x1"}')
      await call('eth_getBlockByHash', hash, true)
      await call('eth_getBlockByHash', hash, true)
      expect(upstream.bodies.length).toBe(2)
    },
  )

  test('a response from a node that does not know that it is finalized', async () => {
    const behind = await startFakeUpstream(chainIds.testnet)
    onTestFinished(behind.stop)
    behind.finalized = 2
    const { upstream, call } = await start({}, [behind])
    upstream.behave = (_, response) => {
      response.statusCode = 500
      return 'down'
    }
    behind.behave = (seen) => result(seen, '[]')
    const logs = [{ fromBlock: '0x1', toBlock: '0x20' }]
    expect([await call('eth_getLogs', ...logs), await call('eth_getLogs', ...logs)]).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":[]}',
      '{"jsonrpc":"2.0","id":1,"result":[]}',
    ])
    expect(behind.bodies.length).toBe(2)
  })
})
