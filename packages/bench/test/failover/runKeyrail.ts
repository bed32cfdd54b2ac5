import { getApiKeyUrl } from '@keyrail/gateway'
import { startGateway } from '@keyrail/gateway/test/startGateway.ts'
import { sendCase, startNodes } from './cases.ts'
import type { Case, Outcome } from './cases.ts'

/** How long a call may take in both proxies, in milliseconds. */
export const timeoutMs = 4_000

/** Runs a case through a gateway of its own, because a gateway remembers what a node could not do. */
export const runKeyrail = async (one: Case): Promise<Outcome> => {
  const nodes = await startNodes(one)
  const { gateway, url, testnetKey } = await startGateway(
    { testnet: [nodes.first.url, nodes.second.url] },
    { bounds: { upstreamTimeoutMs: timeoutMs }, services: { debug: true } },
  )
  const outcome = await sendCase(one, getApiKeyUrl(url, 'testnet', testnetKey))
  await gateway.close({ graceMs: 0 })
  await nodes.stop()
  return outcome
}
