import { existsSync, readFileSync } from 'node:fs'
import { startCli, until } from './runCli.ts'
import type { CliRun } from './runCli.ts'

/** One run of `keyrail logs`. */
export interface LogsRun extends CliRun {
  /** The measured peak memory, in MB; undefined if the system does not report it. */
  readonly peakMb: number | undefined
  /** The measured CPU time, in seconds. */
  readonly cpuSeconds: number | undefined
}

const readProc = (pid: number | undefined, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process has exited, or the system has no /proc.
    return ''
  }
}

/**
 * Runs `keyrail logs`, measures its memory, and stops it if requested.
 *
 * @param words - The arguments after `keyrail logs`.
 * @param stop - The signal, and when to send it. @default never
 */
export async function runLogs(
  words: readonly string[],
  stop?: { readonly signal: NodeJS.Signals; readonly when: () => boolean },
): Promise<LogsRun> {
  const running = startCli(['logs', ...words])
  let hasExited = false
  const done = running.done.finally(() => (hasExited = true))
  let peakMb: number | undefined
  let cpuSeconds: number | undefined
  const measure = (): void => {
    const peak = /VmHWM:\s+(\d+) kB/.exec(readProc(running.child.pid, 'status'))
    if (peak) peakMb = Math.max(peakMb ?? 0, Number(peak[1]) / 1_024)
    const fields = readProc(running.child.pid, 'stat').split(') ')[1]?.split(' ')
    // In clock ticks, of which Linux has 100 a second.
    if (fields) cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100
  }
  const timer = existsSync('/proc/self/status') ? setInterval(measure, 50) : undefined
  try {
    if (stop) {
      await until('the time to stop it', () => hasExited || stop.when(), 300_000)
      if (hasExited) throw new Error(`it exited early: ${JSON.stringify(await done)}`)
      running.child.kill(stop.signal)
    }
    return { ...(await done), peakMb, cpuSeconds }
  } finally {
    clearInterval(timer)
  }
}
