import { Session } from 'node:inspector/promises'
import { expect, onTestFinished, test } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { startFakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { TestOptions } from './createTestGateway.ts'

type NetworkInput = TestOptions['networks'][string]

/** Gets which functions of confirmed reads run during calls of many kinds. */
const getEntered = async (network: Partial<NetworkInput>): Promise<readonly string[]> => {
  const nodes = await Promise.all([1, 2].map(() => startFakeUpstream(chainIds.testnet)))
  for (const node of nodes) onTestFinished(node.stop)
  const { gateway, url, testnetKey } = await startGateway(
    { testnet: [] },
    {
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams: nodes.map((node) => ({ url: node.url })), ...network },
      },
    },
  )
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const session = new Session()
  session.connect()
  onTestFinished(() => session.disconnect())
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const calls = [
    ['eth_getBalance', '["0x00","latest"]'],
    ['eth_getLogs', '[{"fromBlock":"0x1","toBlock":"latest"}]'],
    ['eth_sendRawTransaction', '["0x00"]'],
    ['eth_getTransactionReceipt', `["0x${'1'.repeat(64)}"]`],
  ].map(([method, params], id) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`)
  for (const body of [...calls, `[${calls.join()}]`]) await post(getApiKeyUrl(url, 'testnet', testnetKey), body)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url: file }) => file.includes('/proxy/upstream/confirm/') || file.includes('/core/src/confirm/'))
    .flatMap(({ functions }) => functions)
    .filter(({ ranges, functionName }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
    .map(({ functionName }) => functionName)
}

test('without the option, no code of confirmed reads runs', async () => {
  expect(await getEntered({})).toEqual([])
  expect(await getEntered({ confirm: [{ methods: ['eth_getBalance'] }] })).toContain('sendConfirmed')
})
