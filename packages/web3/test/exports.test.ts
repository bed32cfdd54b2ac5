import { replyToCalls } from '@keyrail/core/test/adapterCases.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { Web3 } from 'web3'
import { expect, onTestFinished, test } from 'vitest'
import {
  batch,
  createTransport,
  failover,
  findFailure,
  isKeyrailError,
  KeyrailError,
  KeyrailProvider,
} from '../src/index.ts'
import type { BatchOptions, FailoverOptions, RetryOptions, Transport, TransportOptions } from '../src/index.ts'

const addresses = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const
const startServer = async (script: Script): Promise<FaultServer> => {
  const server = await startFaultServer(script)
  onTestFinished(() => server.close())
  return server
}
const open = (options: Transport | TransportOptions): Web3 => {
  const provider = new KeyrailProvider(options)
  onTestFinished(() => provider.disconnect())
  return new Web3(provider)
}
const getBalances = ({ eth }: Web3): Promise<unknown[]> =>
  Promise.all([eth.getBalance(addresses[0]), eth.getBalance(addresses[1])])

test('batch() and failover() of this package work together', async () => {
  const down = await startServer(raw(503, 'down'))
  const up = await startServer(replyToCalls('0x5'))
  const batchOptions: BatchOptions = { maxCalls: 2 }
  const failoverOptions: FailoverOptions = { breaker: false }
  const retry: RetryOptions = { retries: 0 }
  const endpoints = failover([{ url: down.url }, { url: up.url }], { ...failoverOptions, chainId: 1 })
  expect(await getBalances(open({ endpoints, retry, batch: batch(batchOptions) }))).toEqual([5n, 5n])
  // One request to each endpoint, with both calls.
  for (const { seen } of [down, up]) expect(seen.map(({ json }) => json)).toMatchObject([{ length: 2 }])
})

test('a transport of this package fails with its KeyrailError', async () => {
  const { url } = await startServer(raw(503, 'down'))
  const transport = createTransport({ url, retry: false, chainId: 1 })
  onTestFinished(() => transport.close())
  const error = await getBalances(open(transport)).catch(findFailure)
  expect(error).toBeInstanceOf(KeyrailError)
  expect(isKeyrailError(error, 'unavailable')).toBe(true)
})
