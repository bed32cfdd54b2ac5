import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { chainIds, post, startGateway } from '../startGateway.ts'
import type { StartedGateway } from '../startGateway.ts'
import { openSocket } from './openSocket.ts'

let node: Anvil
let started: StartedGateway

beforeAll(async () => {
  node = await startAnvil('--chain-id', String(chainIds.testnet))
  started = await startGateway({ testnet: [node.url] })
})
afterAll(async () => {
  await started.gateway.close({ graceMs: 0 })
  await node.stop()
})

test('a WebSocket in front of a node gets what a POST gets, for calls and batches', async () => {
  const url = `${started.url}/testnet/v2/${started.app}`
  const socket = await openSocket(url)
  const calls = [
    ['eth_chainId', []],
    ['net_version', []],
    ['eth_getBlockByNumber', ['latest', true]],
    ['eth_getBalance', ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', 'latest']],
    ['eth_call', [{ to: `0x${'11'.repeat(20)}`, data: '0x' }, 'latest']],
    ['eth_getLogs', [{ fromBlock: '0x0' }]],
    ['eth_getTransactionByHash', [`0x${'00'.repeat(32)}`]],
    ['eth_getBlockByNumber', ['wrong']],
  ].map(([method, params], index) => ({ jsonrpc: '2.0', id: index + 1, method, params }))
  for (const call of calls) {
    socket.send(JSON.stringify(call))
    expect(await socket.next()).toEqual(JSON.parse((await post(url, JSON.stringify(call))).text))
  }
  socket.send(JSON.stringify(calls))
  expect(await socket.next()).toEqual(JSON.parse((await post(url, JSON.stringify(calls))).text))
  socket.ws.terminate()
})

test('a WebSocket gets the heads of a node, and its subscriptions end with it', async () => {
  const socket = await openSocket(`${started.url}/testnet/v2/${started.app}`)
  const { result: id } = await socket.call('eth_subscribe', ['newHeads'])
  await post(node.url, '{"jsonrpc":"2.0","id":1,"method":"evm_mine","params":[]}')
  expect(await socket.next()).toMatchObject({
    method: 'eth_subscription',
    params: { subscription: id, result: { number: '0x1', parentHash: expect.stringMatching(/^0x/) } },
  })
  expect(started.gateway.webSockets().subscriptions.get('testnet')?.newHeads).toBe(1)
  socket.ws.terminate()
  await expect.poll(() => started.gateway.webSockets().subscriptions.get('testnet')?.newHeads).toBe(0)
})
