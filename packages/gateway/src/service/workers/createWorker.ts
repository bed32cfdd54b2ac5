import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import type { LeaseRequest } from '../../usage/rateLimit/rateLease.ts'
import type { MetricValues } from '../prometheus.ts'
import type { CloseOptions, Listening } from '../service.ts'
import { closeUnaccepted } from './closeUnaccepted.ts'
import { relayLines } from './relayLines.ts'
import { workerVariable } from './workerMessages.ts'
import type { ToPrimary, ToWorker } from './workerMessages.ts'

/** How a process ended. */
export interface WorkerEnd {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A worker process. */
export interface WorkerProcess {
  /** From 1. A worker that replaces another one has its number. */
  readonly number: number
  /** Identifies the process: no other one of this service has it. */
  readonly id: number
  readonly pid: number | undefined
  readonly startedAt: number
  /** Resolves when it serves; `undefined` if it ended before. */
  readonly ready: Promise<Listening | undefined>
  readonly ended: Promise<WorkerEnd>
  /** Whether it is being stopped. */
  readonly isStopping: () => boolean
  readonly send: (message: ToWorker) => void
  /** Stops it. It is killed if that takes much longer than `options` allow. Resolves when it has ended. */
  readonly stop: (options: CloseOptions) => Promise<WorkerEnd>
  /** Its metrics, or the last ones that it has sent. */
  readonly metrics: () => Promise<readonly MetricValues[]>
  readonly lastMetrics: () => readonly MetricValues[]
}

/** The functions that a worker calls in the primary process. */
export interface WorkerHandlers {
  readonly onLeases: (worker: WorkerProcess, requests: readonly LeaseRequest[]) => void
  readonly onRestartRequest: (worker: WorkerProcess) => void
  /** Receives lines of the log. */
  readonly write: (lines: string) => void
}

/** How long a scrape waits for a worker, in milliseconds. */
const metricsWithinMs = 1_000
/** A worker that takes so much longer to stop than it may is killed, in milliseconds. */
const overdueMs = 10_000

/** Starts a worker: this program with the same arguments. */
export const createWorker = (number: number, count: number, handlers: WorkerHandlers): WorkerProcess => {
  const worker: Worker = cluster.fork({ [workerVariable]: `${number}/${count}` })
  closeUnaccepted(worker.process)
  let isStopping = false
  let lastMetrics: readonly MetricValues[] = []
  let lastRequest = 0
  const waiting = new Map<number, (metrics: readonly MetricValues[]) => void>()
  let markReady = (_listening: Listening | undefined): void => {}
  const ready = new Promise<Listening | undefined>((resolve) => (markReady = resolve))

  const send = (message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message)
  }
  const ended = new Promise<WorkerEnd>((resolve) => {
    // After its output has ended too.
    worker.process.once('close', (exitCode: number | null, signal: string | null) => {
      markReady(undefined)
      for (const done of waiting.values()) done(lastMetrics)
      resolve({ exitCode, signal })
    })
  })

  const process: WorkerProcess = {
    number,
    id: worker.id,
    pid: worker.process.pid,
    startedAt: performance.now(),
    ready,
    ended,
    isStopping: () => isStopping,
    send,
    stop: async (options) => {
      isStopping = true
      send({ type: 'stop', options })
      const { graceMs = 0, drainDelayMs = 0, handOverMs = 0 } = options
      const timer = setTimeout(
        () => worker.process.kill('SIGKILL'),
        graceMs + Math.max(drainDelayMs, handOverMs) + overdueMs,
      )
      const end = await ended
      clearTimeout(timer)
      return end
    },
    metrics: () => {
      const id = (lastRequest += 1)
      return new Promise((resolve) => {
        const done = (metrics: readonly MetricValues[]): void => {
          clearTimeout(timer)
          waiting.delete(id)
          resolve(metrics)
        }
        const timer = setTimeout(() => done(lastMetrics), metricsWithinMs)
        waiting.set(id, done)
        if (worker.isConnected()) send({ type: 'metrics', id })
        else done(lastMetrics)
      })
    },
    lastMetrics: () => lastMetrics,
  }

  // A message that cannot be sent to a worker that has just ended must not end the others.
  worker.on('error', () => {})
  worker.on('message', (message: ToPrimary) => {
    if (message.type === 'ready') markReady(message.listening)
    else if (message.type === 'leases') handlers.onLeases(process, message.requests)
    else if (message.type === 'restart') handlers.onRestartRequest(process)
    else if (message.type === 'closed') lastMetrics = message.metrics
    else if (message.type === 'metrics') {
      lastMetrics = message.metrics
      waiting.get(message.id)?.(message.metrics)
    }
  })
  if (worker.process.stdout !== null) relayLines(worker.process.stdout, handlers.write)
  return process
}
