import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Target } from './target.ts'

/** The resources that a target's process has used so far. */
export interface Used {
  /** User and system time of all threads. */
  readonly cpuUs: number
  readonly rssMb: number
  /** The longest stall of the event loop since the last report. */
  readonly stallMs: number
}

/** The interval of the monitor. Each delay includes this wait for the next sample. */
const resolutionMs = 1

/**
 * Sends the target to the parent process, and the resources that this process has used on each request.
 * @param options.exits - Whether this process exits when the parent has exited. @default true
 * @param options.getMoreCpuUs - Gets the CPU time of further processes of the target. @default none
 */
export function reportUsage(
  target: Target,
  {
    exits = true,
    getMoreCpuUs = () => Promise.resolve(0),
  }: { readonly exits?: boolean; readonly getMoreCpuUs?: () => Promise<number> } = {},
): void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const report = async (): Promise<void> => {
    const more = await getMoreCpuUs()
    const { user, system } = process.cpuUsage()
    const used: Used = {
      cpuUs: user + system + more,
      rssMb: process.memoryUsage.rss() / 2 ** 20,
      stallMs: Math.max(0, delay.max / 1e6 - resolutionMs),
    }
    delay.reset()
    process.send?.(used)
  }
  process.on('message', () => void report())
  if (exits) process.on('disconnect', () => process.exit())
  process.send?.(target)
}
