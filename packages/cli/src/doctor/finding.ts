/** How grave a finding is: as it should be; works, and should be looked at; does not work. */
export type Level = 'ok' | 'warn' | 'fail'

/** What is looked at, in this order. */
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

/** What is looked at. */
export type CheckName = (typeof checkNames)[number]

/** What was found. Holds no key. */
export interface Finding {
  readonly check: CheckName
  readonly level: Level
  /** What is so, in a sentence without its full stop. */
  readonly text: string
  /** What to do about it. */
  readonly fix?: string
  /** The figures, for programs. Times in milliseconds. */
  readonly facts?: Readonly<Record<string, unknown>>
}
