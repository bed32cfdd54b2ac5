import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * Returns an id of the current boot. A different id means that the machine was restarted and lost data that was not on the disk yet. If the
 * system has no boot id, it is the minute of the boot, which rounding may shift by one.
 */
export const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return `started ${Math.round((Date.now() - uptime() * 1000) / 60_000)}`
  }
}
