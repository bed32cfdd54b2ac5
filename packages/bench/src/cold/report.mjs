import { writeSync } from 'node:fs'

/** Tells the bench what this process cost so far: CPU time in ms and peak memory in MB. */
export function report() {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeSync(1, `${(userCPUTime + systemCPUTime) / 1_000} ${maxRSS / 1024}`)
}
