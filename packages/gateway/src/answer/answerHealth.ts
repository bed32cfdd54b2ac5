import { networkNames } from '../network.ts'
import type { Answering } from './answering.ts'
import type { Exchange } from './exchange.ts'
import { finishExchange, pastBody } from './finishExchange.ts'

/** Answers `/healthz` (the process is there) and `/readyz` (every network has an upstream to ask). Draining was refused before. */
export const answerHealth = (answering: Answering, exchange: Exchange, kind: 'healthz' | 'readyz'): void => {
  const without = kind === 'healthz' ? [] : networkNames.filter((name) => answering.groups[name].pick() === undefined)
  const answer =
    without.length === 0
      ? { status: 200, body: '{"status":"ok"}' }
      : { status: 503, body: JSON.stringify({ status: 'unavailable', reason: 'no_upstream', networks: without }) }
  pastBody(answering, exchange, () => finishExchange(answering, exchange, answer))
}
