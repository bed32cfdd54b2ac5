import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Target } from './target.ts'

/** The resources that a target's process has used so far. */
export interface Used {
  /** User and system, of all its threads. */
  readonly cpuUs: number
  readonly rssMb: number
  /** The longest that the event loop stood still since this was last asked. */
  readonly stallMs: number
}

/** How often the event loop is looked at: this much of each delay is the wait for the next look. */
const resolutionMs = 1

/**
 * Sends the process that forked this one the address of its target, and its own usage on each request.
 * @param options.exits - Whether the process exits when the other one has gone. @default true
 * @param options.getMoreCpuUs - The processor time of further processes of the target. @default there are none
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
