import { revertsAbi, revertsBytecode, tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { startService } from '@keyrail/contracts/test/startService.ts'
import type { Service } from '@keyrail/contracts/test/startService.ts'
import {
  createConfig,
  getBalance,
  getBlockNumber,
  getClient,
  readContract,
  simulateContract,
  waitForTransactionReceipt,
  watchBlockNumber,
} from '@wagmi/core'
import type { Config } from '@wagmi/core'
import { ContractFunctionRevertedError, defineChain, encodeDeployData } from 'viem'
import type { BaseError, Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reachableStrings } from '@keyrail/core/test/leakWalk.ts'
import { createTransport, keyrail, webSocket } from '../src/index.ts'

let service: Service
let config: Config
let from: Hex

/** Deploys a contract from an account of the node, not through the service, and waits for the receipt through the service. */
const deploy = async (data: Hex): Promise<Hex> => {
  const hash = (await service.node('eth_sendTransaction', [{ from, data, gas: '0x2dc6c0' }])) as Hex
  const { contractAddress } = await waitForTransactionReceipt(config, { hash, pollingInterval: 20 })
  return contractAddress as Hex
}

beforeAll(async () => {
  service = await startService()
  const chain = defineChain({
    id: service.chainId,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
  config = createConfig({
    chains: [chain],
    transports: { [chain.id]: keyrail(service.app) },
    multiInjectedProviderDiscovery: false,
    storage: null,
  })
  from = ((await service.node('eth_accounts')) as Hex[])[0] as Hex
})
afterAll(async () => {
  await service.stop()
})

test('a wagmi config reads through keyrail()', async () => {
  const before = Number(await getBlockNumber(config, { cacheTime: 0 }))
  const address = await deploy(
    encodeDeployData({ abi: tokenAbi, bytecode: tokenBytecode, args: ['Keyrail', 'RAIL', 2n ** 70n] }),
  )
  expect(Number(await getBlockNumber(config, { cacheTime: 0 }))).toBe(before + 1)
  expect(await readContract(config, { abi: tokenAbi, address, functionName: 'symbol' })).toBe('RAIL')
  expect(await readContract(config, { abi: tokenAbi, address, functionName: 'balanceOf', args: [from] })).toBe(
    2n ** 70n,
  )
  expect((await getBalance(config, { address: from })).value).toBeGreaterThan(10n ** 20n)
  // The config contains the chain id.
  expect(service.methods).not.toContain('eth_chainId')
})

test('a custom error is decoded', async () => {
  const address = await deploy(revertsBytecode)
  const simulated = simulateContract(config, {
    abi: revertsAbi,
    address,
    functionName: 'setLevel',
    args: [11n],
    account: from,
  })
  const failure = await simulated.catch((error: unknown) => error)
  const reverted = (failure as BaseError).walk((one) => one instanceof ContractFunctionRevertedError)
  expect((reverted as ContractFunctionRevertedError).data).toMatchObject({
    errorName: 'Unauthorized',
    args: [expect.stringMatching(new RegExp(from, 'i')), 11n, 'at most 10'],
  })
})

test('watchBlockNumber polls', async () => {
  const seen: bigint[] = []
  const stop = watchBlockNumber(config, {
    emitOnBegin: true,
    pollingInterval: 20,
    onBlockNumber: (block) => void seen.push(block),
  })
  await expect.poll(() => seen.length).toBe(1)
  await service.node('evm_mine')
  await expect.poll(() => seen.length).toBe(2)
  stop()
  expect(seen[1]).toBe((seen[0] as bigint) + 1n)
})

test('watchBlockNumber subscribes if the transport has webSocket', async () => {
  const transport = createTransport({ ...service.app, webSocket: webSocket() })
  const subscribing = createConfig({
    chains: config.chains,
    transports: { [service.chainId]: keyrail(transport) },
    multiInjectedProviderDiscovery: false,
    storage: null,
  })
  const seen: bigint[] = []
  const stop = watchBlockNumber(subscribing, { onBlockNumber: (block) => void seen.push(block) })
  await expect
    .poll(async () => {
      await service.node('evm_mine')
      return seen.length
    })
    .toBeGreaterThan(1)
  stop()
  transport.close()
  expect(getClient(subscribing)?.transport.type).toBe('webSocket')
  expect(seen[1]).toBe((seen[0] as bigint) + 1n)
})

test('the client exposes only the redacted URL', () => {
  const client = getClient(config)
  expect(client?.transport).toMatchObject({
    type: 'keyrail',
    redactedUrl: expect.stringContaining(service.app.apiKey.slice(-4)),
  })
  expect(reachableStrings(config).filter((text) => text.includes(service.app.apiKey))).toEqual([])
})
