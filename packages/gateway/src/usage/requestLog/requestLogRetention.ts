import { dayMs } from '../metering/usageTime.ts'

/** How long excerpts of params and responses are stored, in milliseconds. */
export const excerptsMs: number = dayMs
