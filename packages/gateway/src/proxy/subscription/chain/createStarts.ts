import type { ChainFollower } from '../followedChain.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainRing } from './createChainRing.ts'
import type { LogReader } from './createLogReader.ts'
import { wait } from './createPause.ts'
import { planStart } from './planStart.ts'
import type { StartPlan } from './planStart.ts'

/** Finds out where subscriptions start. */
export interface Starts {
  readonly locate: ChainFollower['locate']
  /** Call this after each change of the ring, and after each read of the head. */
  readonly advance: () => void
  /** Ends all with `unavailable`. */
  readonly end: () => void
}

/** The dependencies of the starts of subscriptions. */
export interface StartsOptions {
  readonly ring: ChainRing
  readonly readLogs: LogReader
  /** Loads this many blocks below the ring. Resolves to false if it has no room. */
  readonly loadBelow: (count: number) => Promise<boolean>
  /** Called before `done` gets a start that needs logs. */
  readonly onLogsStart: () => void
  /** In milliseconds. */
  readonly timeoutMs: number
  /** How long to wait for the newest block of a client that is ahead of the ring, in milliseconds. */
  readonly getMaxFollowMs: () => number
}

/** A subscription that is about to start. */
interface Request {
  readonly options: Parameters<ChainFollower['locate']>[0]
  readonly done: Parameters<ChainFollower['locate']>[1]
  readonly startedAt: number
  timer: NodeJS.Timeout | undefined
  /** Something is being loaded for it. */
  isLoading: boolean
}

/** How long after a failure a read is repeated, if there is time. */
const retryMs = 250

/**
 * Creates the starts of a follower. Each request is planned by the ring as it is now. If something is missing, it is loaded into the ring and the
 * request is planned again. So the result is current when it is delivered, even if the chain changed in between.
 */
export const createStarts = (options: StartsOptions): Starts => {
  const { ring, readLogs } = options
  const requests = new Set<Request>()

  const finish = (request: Request, result: Parameters<Request['done']>[0]): void => {
    if (!requests.delete(request)) return
    clearTimeout(request.timer)
    if (request.options.logs && typeof result !== 'string') options.onLogsStart()
    request.done(result)
  }
  /** @returns False if the ring has no room for what the plan needs. */
  const loadPlan = async (plan: StartPlan): Promise<boolean> => {
    if (plan.type === 'loadBelow') return options.loadBelow(plan.count)
    if (plan.type !== 'loadLogs') return true
    const set = plan.blocks.map(async (block) => ring.setLogs(block.hash, await readLogs(block), plan.above))
    return (await Promise.all(set)).every(Boolean)
  }
  const load = async (request: Request, plan: StartPlan): Promise<void> => {
    request.isLoading = true
    try {
      // Loading it again would not make room.
      if (!(await loadPlan(plan))) finish(request, 'tooOld')
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error
      await wait(retryMs)
    }
    request.isLoading = false
    advance(request)
  }
  /** Ends a request, or does what it needs next. */
  const advance = (request: Request): void => {
    if (request.isLoading || !requests.has(request)) return
    const mayFollow = performance.now() - request.startedAt < options.getMaxFollowMs()
    const plan = planStart(ring, { ...request.options, mayFollow })
    if (plan.type === 'start') finish(request, plan.start)
    else if (plan.type === 'tooOld') finish(request, 'tooOld')
    else if (plan.type !== 'follow') void load(request, plan)
  }
  return {
    locate: (startOptions, done) => {
      const request: Request = {
        options: startOptions,
        done,
        startedAt: performance.now(),
        timer: undefined,
        isLoading: false,
      }
      requests.add(request)
      advance(request)
      if (requests.has(request))
        request.timer = setTimeout(() => finish(request, 'unavailable'), options.timeoutMs).unref()
    },
    advance: () => {
      for (const request of requests) advance(request)
    },
    end: () => {
      for (const request of requests) finish(request, 'unavailable')
    },
  }
}
