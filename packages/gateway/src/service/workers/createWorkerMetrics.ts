import { createMetricsServer } from '../createMetricsServer.ts'
import type { MetricsServer } from '../createMetricsServer.ts'
import type { MetricValues } from '../prometheus.ts'
import { addMetrics, toRemaining } from './addMetrics.ts'
import type { WorkerProcess } from './createWorker.ts'

/** The metrics of all workers, served by the primary process. */
export interface WorkerMetrics {
  /**
   * Listens there and nowhere else.
   * @param at - `undefined`: nowhere.
   * @returns The port if it has changed.
   * @throws The error of `listen`.
   */
  readonly listen: (at: { host: string; port: number } | undefined) => Promise<number | undefined>
  /** Keeps the counters of a worker that has ended. */
  readonly retain: (metrics: readonly MetricValues[]) => void
  readonly countCrash: () => void
  readonly close: () => Promise<void>
}

/** The most exited workers with counts of their own. Then they are merged into one. */
const maxRetained = 8

/**
 * Creates the metrics of all workers.
 * @param getWorkers - Called at each scrape.
 */
export const createWorkerMetrics = (getWorkers: () => readonly WorkerProcess[]): WorkerMetrics => {
  const retained: (readonly MetricValues[])[] = []
  let isMerging = false
  let crashes = 0
  let server: MetricsServer | undefined
  let listensAt = ''

  const getOwn = (): readonly MetricValues[] =>
    [
      {
        name: 'keyrail_workers',
        help: 'Worker processes, those that start or stop included.',
        type: 'gauge',
        aggregator: 'sum',
        values: [{ labels: {}, value: getWorkers().length }],
      },
      {
        name: 'keyrail_worker_crashes_total',
        help: 'Worker processes that ended without being stopped.',
        type: 'counter',
        aggregator: 'sum',
        values: [{ labels: {}, value: crashes }],
      },
    ] as unknown as readonly MetricValues[]

  const text = async (): Promise<string> => {
    // A worker that ends during the scrape is in one of the two lists and not in both.
    const before = [...retained]
    const current = await Promise.all(getWorkers().map(({ metrics }) => metrics()))
    const added = await addMetrics([...current, ...before, getOwn()])
    return added.text
  }

  const merge = async (): Promise<void> => {
    isMerging = true
    const before = [...retained]
    const { json } = await addMetrics(before)
    retained.splice(0, before.length, json)
    isMerging = false
  }

  const close = async (): Promise<void> => {
    await server?.close()
    server = undefined
  }

  return {
    listen: async (at) => {
      const wanted = JSON.stringify(at) ?? ''
      if (wanted === listensAt) return undefined
      listensAt = wanted
      await close()
      if (at === undefined) return undefined
      server = createMetricsServer(text)
      return server.listen(at)
    },
    retain: (metrics) => {
      const remaining = toRemaining(metrics)
      if (remaining.length > 0) retained.push(remaining)
      if (retained.length >= maxRetained && !isMerging) void merge()
    },
    countCrash: () => {
      crashes += 1
    },
    close,
  }
}
