import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * Names this run of the machine: another name means that it was started again, and that what was not yet on its disk then is lost. Where the system
 * gives no name it is the minute in which it was started, which may be another one minute later.
 */
export const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return `started ${Math.round((Date.now() - uptime() * 1000) / 60_000)}`
  }
}
