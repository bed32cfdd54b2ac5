import { existsSync, readFileSync } from 'node:fs'
import { startCli, until } from './runCli.ts'
import type { CliRun } from './runCli.ts'

/** One run of `keyrail logs`. */
export interface LogsRun extends CliRun {
  /** The most memory that it had, in MB, as far as that was seen; undefined where the system does not tell. */
  readonly peakMb: number | undefined
  /** The time of the processor that it took, in seconds, as far as that was seen. */
  readonly cpuSeconds: number | undefined
}

const readProc = (pid: number | undefined, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // It has ended, or the system has no such folder.
    return ''
  }
}

/**
 * Runs `keyrail logs`, watches its memory, and ends it where that is wanted.
 *
 * @param words - What follows `keyrail logs`.
 * @param ending - The signal, and when it is sent; without it, it runs to its end.
 */
export async function runLogs(
  words: readonly string[],
  ending?: { readonly signal: NodeJS.Signals; readonly when: () => boolean },
): Promise<LogsRun> {
  const running = startCli(['logs', ...words])
  let over = false
  const done = running.done.finally(() => (over = true))
  let peakMb: number | undefined
  let cpuSeconds: number | undefined
  const look = (): void => {
    const peak = /VmHWM:\s+(\d+) kB/.exec(readProc(running.child.pid, 'status'))
    if (peak) peakMb = Math.max(peakMb ?? 0, Number(peak[1]) / 1_024)
    const fields = readProc(running.child.pid, 'stat').split(') ')[1]?.split(' ')
    // In hundredths of a second, as Linux counts them for programs.
    if (fields) cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100
  }
  const timer = existsSync('/proc/self/status') ? setInterval(look, 50) : undefined
  try {
    if (ending) {
      await until('it is time to end it', () => over || ending.when(), 300_000)
      if (over) throw new Error(`it ended by itself: ${JSON.stringify(await done)}`)
      running.child.kill(ending.signal)
    }
    return { ...(await done), peakMb, cpuSeconds }
  } finally {
    clearInterval(timer)
  }
}
