import { expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../../src/index.ts'
import { post, startGateway } from '../startGateway.ts'
import type { TestOptions } from '../createTestGateway.ts'
import { createModelChain } from './modelChain.ts'
import { openTestStore } from './openTestFile.ts'
import { startChainNode } from './startChainNode.ts'

/** The functions of the store that calls have run. */
const entered = vi.hoisted(() => ({
  names: new Set<string>(),
  /** Wraps the functions of a module. */
  watch: (module: object): object =>
    Object.fromEntries(
      Object.entries(module).map(([name, value]: [string, unknown]) => [
        name,
        typeof value !== 'function'
          ? value
          : (...args: readonly unknown[]): unknown => {
              entered.names.add(name)
              return (value as (...given: readonly unknown[]) => unknown)(...args)
            },
      ]),
    ),
}))
vi.mock('../../src/proxy/upstream/store/forwardStored.ts', async (original) => entered.watch(await original()))
vi.mock('../../src/proxy/upstream/logs/forwardStoredLogs.ts', async (original) => entered.watch(await original()))
vi.mock('../../src/proxy/upstream/logs/parseLogQuery.ts', async (original) => entered.watch(await original()))
vi.mock('../../src/proxy/upstream/store/createNetworkStore.ts', async (original) => entered.watch(await original()))
vi.mock('../../src/proxy/upstream/store/storedRead.ts', async (original) => entered.watch(await original()))

/** Sends single calls and a batch that a store would have. @returns The functions of the store that they have run. */
const runCalls = async (options: Partial<TestOptions>): Promise<readonly string[]> => {
  const chain = createModelChain()
  for (let number = 1; number < 100; number += 1) chain.mine([])
  const node = await startChainNode(chain, { finalized: 90, head: 99 })
  onTestFinished(node.stop)
  const { gateway, url, testnetKey } = await startGateway({ testnet: [node.url] }, options)
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  const calls = [
    { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x9' }] },
    { jsonrpc: '2.0', id: 2, method: 'eth_getBlockByNumber', params: ['0x5', false] },
    { jsonrpc: '2.0', id: 3, method: 'eth_getBlockByNumber', params: ['0x6', false] },
  ]
  if (options.chainStore !== undefined)
    await expect
      .poll(async () => (await post(rpcUrl, JSON.stringify(calls[1]))).headers.get('x-keyrail-cache'))
      .toBe('store')
  for (const call of [...calls, calls]) expect((await post(rpcUrl, JSON.stringify(call))).text).toContain('"result"')
  return [...entered.names].toSorted()
}

test('without a chain store, no call runs a function of it', async () => {
  entered.names.clear()
  expect(await runCalls({})).toEqual([])
})

test('with one, calls do', async () => {
  entered.names.clear()
  const names = await runCalls({ chainStore: await openTestStore(), bounds: { maxCacheBytes: 0 } })
  expect(names).toEqual([
    'createNetworkStore',
    'forwardAndStore',
    'forwardStored',
    'forwardStoredLogs',
    'isStored',
    'parseLogQuery',
    'readStored',
    'respondStored',
    'storeResult',
    'toStoredTexts',
  ])
})
