import { queryUpstream, quantityOf } from './queryUpstream.ts'
import type { Upstream } from './createUpstream.ts'

/** What a probe found. `unreachable`: nothing listens there. `failing`: something does, but gave no answer that can be believed. */
export type ProbeResult = 'healthy' | 'unreachable' | 'failing' | 'wrongChain'

/**
 * Asks an upstream for its chain id.
 * @param options.chainId - What it must answer.
 * @param options.timeoutMs - How long it may take.
 */
export const probeUpstream = async (
  upstream: Upstream,
  options: { chainId: number; timeoutMs: number },
): Promise<ProbeResult> => {
  const end = await queryUpstream(upstream, { method: 'eth_chainId', params: '[]' }, options.timeoutMs)
  if (typeof end === 'string') return end
  const said = quantityOf(end)
  if (said === undefined) return 'failing'
  return said === options.chainId ? 'healthy' : 'wrongChain'
}
