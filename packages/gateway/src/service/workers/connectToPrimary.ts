import cluster from 'node:cluster'
import { createLeasedRates } from '../../usage/rateLimit/createLeasedRates.ts'
import type { MetricValues } from '../prometheus.ts'
import type { CloseOptions, Listening, WorkerOptions } from '../service.ts'
import { workerVariable } from './workerMessages.ts'
import type { ToPrimary, ToWorker } from './workerMessages.ts'

/** The service of a worker. */
export interface WorkerService {
  readonly listening: Listening
  reload(): Promise<void>
  skipDrainDelay(): boolean
  readonly metrics: () => Promise<readonly MetricValues[]>
}

/** The connection of a worker to the primary process. */
export interface WorkerLink extends WorkerOptions {
  /** Resolves when the primary stops this worker. */
  readonly stopRequested: Promise<CloseOptions>
  /** Reports that the service serves, and from now on does what the primary requests. */
  start(service: WorkerService): void
  /** Requests that this worker is replaced, because a changed config only applies after a restart. */
  requestRestart(): void
  /** Returns the leases and sends the last metrics. Resolves once they are sent. */
  close(): Promise<void>
}

/**
 * Connects a worker to the primary process that has started it: see `startWorkers`. Pass the result to `startFromFile`.
 * @returns `undefined` if this process is not a worker.
 */
export const connectToPrimary = (): WorkerLink | undefined => {
  const [number = Number.NaN, workers = Number.NaN] = (process.env[workerVariable] ?? '').split('/').map(Number)
  if (!cluster.isWorker || !(number >= 1 && workers >= number)) return undefined

  const send = (message: ToPrimary): Promise<void> =>
    new Promise((resolve) => {
      if (process.send === undefined || !process.connected) resolve()
      else process.send(message, undefined, undefined, () => resolve())
    })
  const rates = createLeasedRates({ workers, send: (requests) => void send({ type: 'leases', requests }) })
  let requestStop = (_options: CloseOptions): void => {}
  const stopRequested = new Promise<CloseOptions>((resolve) => (requestStop = resolve))
  let service: WorkerService | undefined
  const readMetrics = async (): Promise<readonly MetricValues[]> => (await service?.metrics()) ?? []

  process.on('message', (message: ToWorker) => {
    if (message.type === 'leases') rates.handle(message.replies)
    else if (message.type === 'stop') requestStop(message.options)
    else if (message.type === 'reload') void service?.reload()
    else if (message.type === 'skipDrainDelay') service?.skipDrainDelay()
    else if (message.type === 'metrics')
      void readMetrics().then((metrics) => send({ type: 'metrics', id: message.id, metrics }))
  })

  return {
    number,
    rates,
    stopRequested,
    start: (running) => {
      service = running
      void send({ type: 'ready', listening: running.listening })
    },
    requestRestart: () => void send({ type: 'restart' }),
    close: async () => {
      rates.close()
      await send({ type: 'closed', metrics: await readMetrics() })
    },
  }
}
