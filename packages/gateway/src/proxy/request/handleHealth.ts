import { networkNames } from '../../lib/network.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { RequestContext } from './requestContext.ts'
import { endRequest, pastBody } from './endRequest.ts'
import type { Answer } from './writeResponse.ts'

/**
 * Responds to `/healthz` (the process runs) and `/readyz` (calls can be served). `/readyz` while the gateway is about to stop was rejected
 * before.
 */
export const handleHealth = (gateway: GatewayContext, context: RequestContext, kind: 'healthz' | 'readyz'): void => {
  const answer = kind === 'healthz' ? statusAnswer(200, { status: 'ok' }) : readiness(gateway)
  pastBody(gateway, context, () => endRequest(gateway, context, answer))
}

const statusAnswer = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

const readiness = ({ groups, degraded, notReady }: GatewayContext): Answer => {
  const networks = networkNames.filter((name) => groups[name].pick() === undefined)
  if (networks.length > 0) return statusAnswer(503, { status: 'unavailable', reason: 'no_upstream', networks })
  const reason = notReady()
  if (reason !== undefined) return statusAnswer(503, { status: 'unavailable', reason })
  const parts = degraded()
  return statusAnswer(200, parts.length === 0 ? { status: 'ok' } : { status: 'degraded', degraded: parts })
}
