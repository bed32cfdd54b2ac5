import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { expect, onTestFinished, test } from 'vitest'
import { getApiKeyUrl } from '../../src/index.ts'
import { chainIds, post, startGateway } from '../startGateway.ts'
import { openTestStore } from './openTestFile.ts'

test('traces of anvil are stored, and are the ones that it sends', async () => {
  const anvil = await startAnvil('--chain-id', String(chainIds.testnet), '--slots-in-an-epoch', '1')
  onTestFinished(anvil.stop)
  const call = async (url: string, method: string, ...params: readonly unknown[]) => {
    const { text, headers } = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const { result } = JSON.parse(text) as { result?: unknown }
    return { result, from: headers.get('x-keyrail-cache') }
  }
  const [from, to] = (await call(anvil.url, 'eth_accounts')).result as [string, string]
  const { result: hash } = await call(anvil.url, 'eth_sendTransaction', { from, to, value: '0x7' })
  await call(anvil.url, 'anvil_mine', '0x14')
  const networks = {
    testnet: { chainId: chainIds.testnet, cacheTraces: true, upstreams: [{ url: anvil.url }] },
  }
  const { gateway, url, testnetKey } = await startGateway(
    { testnet: [] },
    {
      networks,
      services: { debug: true, trace: true },
      chainStore: await openTestStore(),
      bounds: { maxCacheBytes: 0 },
    },
  )
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  // The receipt says of which block the other traces of the transaction are.
  await expect.poll(async () => (await call(rpcUrl, 'eth_getTransactionReceipt', hash)).from).toBe('store')
  for (const [method, ...params] of [
    ['trace_block', '0x1'],
    ['trace_transaction', hash],
    ['debug_traceTransaction', hash, { tracer: 'callTracer' }],
  ] as const) {
    const { result } = await call(anvil.url, method, ...params)
    expect(JSON.stringify(result)).toContain(to.toLowerCase())
    await expect.poll(() => call(rpcUrl, method, ...params)).toEqual({ result, from: 'store' })
  }
})
