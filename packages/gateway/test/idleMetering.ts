import type { MeterStatus } from '../src/usage/metering/meter.ts'

/** The status of a meter that has nothing to write. */
export const idleMetering: MeterStatus = {
  lagMs: 0,
  backlogRows: 0,
  rollUpLagMs: 0,
  lostCalls: 0,
  skippedRows: 0,
  failures: { write: 0, rollUp: 0 },
}
