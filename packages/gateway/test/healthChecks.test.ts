import { expect, test } from 'vitest'
import { openGateway } from './openGateway.ts'
import { post, unreachableUrl } from './startGateway.ts'

const requests = (entries: readonly { readonly event: string }[]): unknown[] =>
  entries.filter(({ event }) => event === 'request')

// The metrics count the log's requests, and an alert fires if too many of them fail.
test('health checks of a load balancer fill neither the log nor the metrics', async () => {
  const { started, rpcUrl } = await openGateway()
  const check = async (path: string): Promise<number> => (await fetch(started.url + path)).status
  expect([await check('/healthz'), await check('/readyz')]).toEqual([200, 200])
  started.gateway.prepareToClose()
  expect([await check('/healthz'), await check('/readyz')]).toEqual([200, 503])
  expect(requests(started.entries)).toEqual([])
  await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
  await check('/nothing')
  expect(requests(started.entries)).toMatchObject([{ network: 'testnet', status: 200 }, { status: 404 }])
})

test('failed health checks of an instance without nodes are not requests that fail', async () => {
  const { started } = await openGateway({ networks: { testnet: { chainId: 1, upstreams: [{ url: unreachableUrl }] } } })
  expect((await fetch(`${started.url}/readyz`)).status).toBe(503)
  expect(requests(started.entries)).toEqual([])
})
