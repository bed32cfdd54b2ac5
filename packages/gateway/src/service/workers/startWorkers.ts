import cluster from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import { createRateLeases } from '../../usage/rateLimit/createRateLeases.ts'
import { getSecrets } from '../getSecrets.ts'
import { readServiceConfig } from '../readServiceConfig.ts'
import { createRedact } from '../redact.ts'
import { readServiceEnvironment } from '../serviceEnvironment.ts'
import { createServiceLog } from '../serviceLog.ts'
import type { Listening } from '../service.ts'
import type { RunningService, StartOptions } from '../startFromFile.ts'
import { createWorker } from './createWorker.ts'
import type { WorkerEnd, WorkerProcess } from './createWorker.ts'
import { createRelay } from './relayLines.ts'
import { createWorkerMetrics } from './createWorkerMetrics.ts'

/** Options of {@link startWorkers}. */
export interface WorkersOptions extends Pick<StartOptions, 'file' | 'write' | 'environment'> {
  /** How many workers, 1 or more. */
  readonly workers: number
  /** How long the requests of a worker may take to complete when it is replaced, in milliseconds. @default 10_000 */
  readonly graceMs?: number | undefined
}

/** A worker ended before it could serve. It has written why to standard error. */
export class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError'
  /** The exit code of the worker. */
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`a worker could not start: it ended with exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

/** How long a worker that is replaced serves its open connections, in milliseconds. */
const handOverMs = 2_000
/** All workers see a changed config within this time, in milliseconds. */
const configSpreadMs = 500
const firstBackoffMs = 100
const maxBackoffMs = 30_000
/** A worker that ran this long was healthy: the backoff starts over, in milliseconds. */
const healthyMs = 60_000
const sweepMs = 10_000

const getBackoff = (crashes: number): number => Math.min(maxBackoffMs, firstBackoffMs * 2 ** (crashes - 1))

/**
 * Starts a service as several worker processes that share its ports, and keeps them running. Each worker is this program with the same arguments;
 * it must call `startFromFile` with `worker: connectToPrimary()`. The primary process handles no requests: it has the rates, from which
 * workers lease, and serves the metrics.
 * @throws {ConfigError} if the file or the environment cannot be used. {WorkerStartError} if a worker cannot start.
 */
export const startWorkers = async (options: WorkersOptions): Promise<RunningService> => {
  const { file, write, environment = process.env, workers: count, graceMs = 10_000 } = options
  const config = readServiceConfig(file, { environment })
  readServiceEnvironment(config, environment)
  const getDrainDelay = (): number => {
    try {
      return readServiceConfig(file, { environment }).drainDelayMs ?? 0
    } catch {
      return config.drainDelayMs ?? 0
    }
  }
  const { log, flush } = createServiceLog({ write, redact: createRedact(getSecrets(config, environment)) })
  const writeLines = createRelay(write, (lines) => log({ event: 'logDropped', lines }))
  const leases = createRateLeases()
  const sweeping = setInterval(leases.sweep, sweepMs)
  sweeping.unref()

  /** Those that serve or start, by number. Those that are being replaced are not in it. */
  const workers = new Map<number, WorkerProcess>()
  /** All processes. */
  const running = new Set<WorkerProcess>()
  /** Have not applied all of the current config. */
  const stale = new Set<WorkerProcess>()
  const crashes = new Map<number, number>()
  const restarts = new Map<number, NodeJS.Timeout>()
  let isStarted = false
  let isReplacing = false
  let closing: { readonly at: number; readonly drainDelayMs: number; isSkipped: boolean } | undefined
  const metrics = createWorkerMetrics(() => [...running])
  cluster.setupPrimary({ serialization: 'advanced', stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })

  const launch = (number: number): WorkerProcess => {
    const worker = createWorker(number, count, {
      onLeases: ({ id, send }, requests) => {
        const replies = leases.handle(id, requests)
        if (replies.length > 0) send({ type: 'leases', replies })
      },
      onRestartRequest: (one) => {
        stale.add(one)
        void replaceAllStale()
      },
      write: writeLines,
    })
    running.add(worker)
    void worker.ended.then((end) => handleEnd(worker, end))
    return worker
  }

  const handleEnd = (worker: WorkerProcess, { exitCode, signal }: WorkerEnd): void => {
    const { number } = worker
    running.delete(worker)
    stale.delete(worker)
    leases.end(worker.id)
    metrics.retain(worker.lastMetrics())
    if (worker.isStopping()) log({ event: 'worker', worker: number, state: 'stopped', exitCode, signal })
    if (workers.get(number) !== worker) return
    workers.delete(number)
    if (!isStarted || closing !== undefined || worker.isStopping()) return
    const isHealthy = performance.now() - worker.startedAt >= healthyMs
    const times = isHealthy ? 1 : (crashes.get(number) ?? 0) + 1
    crashes.set(number, times)
    metrics.countCrash()
    const restartInMs = getBackoff(times)
    log({ event: 'worker', worker: number, state: 'crashed', exitCode, signal, restartInMs })
    restarts.set(
      number,
      setTimeout(() => {
        restarts.delete(number)
        const next = launch(number)
        workers.set(number, next)
        void waitUntilReady(next)
      }, restartInMs),
    )
  }

  const waitUntilReady = async (worker: WorkerProcess): Promise<Listening | undefined> => {
    const listening = await worker.ready
    if (listening !== undefined) log({ event: 'worker', worker: worker.number, state: 'started', pid: worker.pid })
    return listening
  }

  /** Replaces workers one after another. Callers notice nothing: the new one serves before the old one stops. */
  const replaceAllStale = async (): Promise<void> => {
    if (isReplacing) return
    isReplacing = true
    await wait(configSpreadMs)
    for (let [worker] = stale; worker !== undefined && closing === undefined; [worker] = stale) {
      stale.delete(worker)
      // The others would fail too.
      if (!(await replace(worker))) stale.clear()
    }
    await listenForMetrics().catch(() =>
      log({ event: 'failed', where: 'prometheus', reason: 'cannot listen at the changed prometheus of the config' }),
    )
    isReplacing = false
  }

  /** @returns Whether the new worker could start. */
  const replace = async (worker: WorkerProcess): Promise<boolean> => {
    const { number } = worker
    const next = launch(number)
    if ((await waitUntilReady(next)) === undefined) {
      const end = await next.ended
      if (closing === undefined) log({ event: 'worker', worker: number, state: 'rejected', ...end })
      return false
    }
    // The old one may have crashed and been started again.
    const isOld = workers.get(number) === worker
    if (isOld) workers.set(number, next)
    await (isOld ? worker : next).stop({ handOverMs, graceMs, drainDelayMs: 0 })
    return true
  }

  /** Serves the metrics where the config has them. @returns The port. */
  const listenForMetrics = async (): Promise<number | undefined> => {
    const { prometheus } = readServiceConfig(file, { environment })
    const port = await metrics.listen(prometheus)
    if (port !== undefined) log({ event: 'prometheusListening', port })
    return port
  }

  const close: RunningService['close'] = async (closeOptions = {}) => {
    const { drainDelayMs = getDrainDelay() } = closeOptions
    closing ??= { at: performance.now(), drainDelayMs, isSkipped: false }
    for (const timer of restarts.values()) clearTimeout(timer)
    await Promise.all([...running].map((worker) => worker.stop({ graceMs, ...closeOptions, drainDelayMs })))
    clearInterval(sweeping)
    await metrics.close()
    flush()
  }

  const start = async (number: number): Promise<Listening> => {
    const worker = launch(number)
    workers.set(number, worker)
    return (await waitUntilReady(worker)) ?? Promise.reject(new WorkerStartError((await worker.ended).exitCode ?? 1))
  }

  try {
    // The first one alone: it creates or migrates the database, and reports what is wrong once.
    const listening = await start(1)
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => start(index + 2)))
    const prometheusPort = await listenForMetrics()
    isStarted = true
    return {
      listening: { ...listening, ...(prometheusPort === undefined ? {} : { prometheusPort }) },
      reload: async () => {
        for (const { send } of workers.values()) send({ type: 'reload' })
      },
      close,
      skipDrainDelay: () => {
        if (closing === undefined || closing.isSkipped) return false
        if (performance.now() - closing.at >= closing.drainDelayMs) return false
        closing.isSkipped = true
        for (const { send } of running) send({ type: 'skipDrainDelay' })
        return true
      },
    }
  } catch (error) {
    closing = { at: performance.now(), drainDelayMs: 0, isSkipped: true }
    await close({ graceMs: 0, drainDelayMs: 0 })
    throw error
  }
}
