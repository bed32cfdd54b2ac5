import { manyEventsAbi, manyEventsBytecode } from '@keyrail/contracts'
import { startService } from '@keyrail/contracts/test/startService.ts'
import type { Service } from '@keyrail/contracts/test/startService.ts'
import { createPublicClient, encodeFunctionData } from 'viem'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyrail } from '../src/index.ts'

let service: Service
let from: Hex
beforeAll(async () => {
  service = await startService()
  from = ((await service.node('eth_accounts')) as Hex[])[0] as Hex
})
afterAll(async () => {
  await service?.stop()
})

test.each([
  ['with a filter on the node', {}, 'eth_getFilterChanges'],
  ['by block range, if filters are excluded', { methods: { exclude: ['eth_newFilter'] } }, 'eth_getLogs'],
])('events are watched %s', async (_, config, method) => {
  const client = createPublicClient({ transport: keyrail(service.app, config), pollingInterval: 20, cacheTime: 0 })
  const send = async (transaction: { to?: Hex; data: Hex }): Promise<Hex | null | undefined> => {
    const hash = (await service.node('eth_sendTransaction', [{ from, gas: '0x2dc6c0', ...transaction }])) as Hex
    return (await client.waitForTransactionReceipt({ hash })).contractAddress
  }
  const address = (await send({ data: manyEventsBytecode })) as Hex
  service.methods.length = 0
  const seen: bigint[] = []
  const stop = client.watchContractEvent({
    abi: manyEventsAbi,
    address,
    eventName: 'Counted',
    onLogs: (logs) => seen.push(...logs.map(({ args }) => args.index as bigint)),
  })
  // From its second poll on, viem knows the block to continue from.
  await expect.poll(() => service.methods.length).toBeGreaterThan(2)
  for (const many of [3n, 2n]) {
    const args = [many, `0x${'5e'.repeat(32)}`, 'x'] as const
    await send({ to: address, data: encodeFunctionData({ abi: manyEventsAbi, functionName: 'emitMany', args }) })
  }
  await expect.poll(() => seen).toEqual([0n, 1n, 2n, 3n, 4n])
  stop()
  if (method === 'eth_getFilterChanges') await expect.poll(() => service.methods).toContain('eth_uninstallFilter')
  const others = ['eth_getFilterChanges', 'eth_getLogs'].filter((one) => one !== method)
  expect(service.methods).toContain(method)
  for (const one of others) expect(service.methods).not.toContain(one)
})
