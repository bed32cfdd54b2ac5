import type { Network } from '../network.ts'
import type { Answering } from './answering.ts'
import type { Exchange } from './exchange.ts'

/** How long the request has been here, in milliseconds. */
export const durationOf = (exchange: Exchange): number =>
  Math.round((performance.now() - exchange.startedAt) * 1000) / 1000

/** Where it was sent and by whom, as far as is known. */
export const whoOf = ({ network, tenant }: Exchange): { network?: Network; keyId?: string } => ({
  ...(network === undefined ? {} : { network }),
  ...(tenant === undefined ? {} : { keyId: tenant.record.id }),
})

/** Tells the log how a request was answered. */
export const logRequest = (answering: Answering, exchange: Exchange, status: number): void => {
  const { requestId, method, items, reason } = exchange
  answering.log({
    event: 'request',
    requestId,
    ...whoOf(exchange),
    ...(method === undefined ? {} : { method }),
    ...(items === undefined ? {} : { items }),
    status,
    ...(reason === undefined ? {} : { reason }),
    durationMs: durationOf(exchange),
  })
}
