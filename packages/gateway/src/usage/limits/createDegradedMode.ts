import type { LimitsEvent } from './usageLimits.ts'

/** Whether the store of the quotas is lost, and what was granted without it. */
export interface DegradedMode {
  isOn(): boolean
  enter(): void
  /** Records units that were granted to a quota without the store. */
  recordGrant(quota: string, units: number): void
  leave(): void
  /** Reports an event. */
  report(event: LimitsEvent): void
}

/** Creates the degraded mode, which is off. */
export const createDegradedMode = (onEvent: ((event: LimitsEvent) => void) | undefined): DegradedMode => {
  let since: number | undefined
  let units = 0
  const quotas = new Set<string>()
  const report = (event: LimitsEvent): void => {
    try {
      onEvent?.(event)
    } catch {
      // A listener that throws must not stop the limits.
    }
  }
  return {
    isOn: () => since !== undefined,
    enter: () => {
      if (since !== undefined) return
      since = performance.now()
      report({ event: 'quotaDegraded', state: 'started' })
    },
    recordGrant: (quota, granted) => {
      if (granted === 0) return
      units += granted
      quotas.add(quota)
    },
    leave: () => {
      if (since === undefined) return
      const durationMs = Math.round(performance.now() - since)
      since = undefined
      report({ event: 'quotaDegraded', state: 'ended', quotas: quotas.size, units, durationMs })
      units = 0
      quotas.clear()
    },
    report,
  }
}
