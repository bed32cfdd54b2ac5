/** The level of a finding: passed, works but needs attention, or failed. */
export type Level = 'ok' | 'warn' | 'fail'

/** The checks, in the order they run. */
export const checkNames = [
  'reach',
  'tls',
  'key',
  'chain',
  'head',
  'latency',
  'batch',
  'logs',
  'cors',
  'limits',
  'clock',
] as const

/** The name of a check. */
export type CheckName = (typeof checkNames)[number]

/** The result of a check. Contains no key. */
export interface Finding {
  readonly check: CheckName
  readonly level: Level
  /** What was found, without a full stop. */
  readonly text: string
  /** How to fix it. */
  readonly fix?: string
  /** The measured values, for programs. Times in milliseconds. */
  readonly facts?: Readonly<Record<string, unknown>>
}
