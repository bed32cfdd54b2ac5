import { networkNames } from '../network.ts'
import type { Answering } from './answering.ts'
import type { Exchange } from './exchange.ts'
import { finishExchange, pastBody } from './finishExchange.ts'

/** Answers `/healthz` (the process is there) and `/readyz` (every network has an upstream to ask; what else does not work is told beside). Draining was refused before. */
export const answerHealth = (answering: Answering, exchange: Exchange, kind: 'healthz' | 'readyz'): void => {
  const without = kind === 'healthz' ? [] : networkNames.filter((name) => answering.groups[name].pick() === undefined)
  const degraded = kind === 'healthz' ? [] : answering.degraded()
  const answer =
    without.length === 0
      ? {
          status: 200,
          body: JSON.stringify(degraded.length === 0 ? { status: 'ok' } : { status: 'degraded', degraded }),
        }
      : { status: 503, body: JSON.stringify({ status: 'unavailable', reason: 'no_upstream', networks: without }) }
  pastBody(answering, exchange, () => finishExchange(answering, exchange, answer))
}
