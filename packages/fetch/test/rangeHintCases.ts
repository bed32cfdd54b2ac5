import { readFileSync } from 'node:fs'
import type { RangeHint } from '../src/logs/readRangeHint.ts'

/** How one provider refuses a range of logs, and what is to be read out of it. */
export interface RangeHintCase {
  readonly name: string
  readonly provider: string
  readonly answer: {
    readonly status: number
    readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
  }
  readonly expect: RangeHint
}

/** The cases of `rangeHints.json` in the vectors that all implementations share. */
export const rangeHintCases: readonly RangeHintCase[] = JSON.parse(
  readFileSync(new URL('../../vectors/rangeHints.json', import.meta.url), 'utf8'),
) as RangeHintCase[]
