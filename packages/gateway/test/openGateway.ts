import { onTestFinished } from 'vitest'
import type { TestOptions } from './createTestGateway.ts'
import { startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { chainIds, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

/** A gateway in front of a fake node. */
export interface OpenedGateway {
  readonly upstream: FakeUpstream
  readonly started: StartedGateway
  /** The path of a testnet key. */
  readonly path: string
  readonly rpcUrl: string
}

/**
 * Starts a gateway in front of a fake node. Both stop when the test finishes.
 * @param others - Further nodes, which the caller stops.
 */
export const openGateway = async (
  options: Partial<TestOptions> = {},
  others: readonly FakeUpstream[] = [],
): Promise<OpenedGateway> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  onTestFinished(upstream.stop)
  const started = await startGateway({ testnet: [upstream, ...others].map(({ url }) => url) }, options)
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const path = `/testnet/${started.testnetKey}`
  return { upstream, started, path, rpcUrl: started.url + path }
}
