import { writeSync } from 'node:fs'

/** Reports what this process has cost so far to the bench: CPU time in ms and peak memory in MB. */
export function report() {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeSync(1, `${(userCPUTime + systemCPUTime) / 1_000} ${maxRSS / 1024}`)
}
