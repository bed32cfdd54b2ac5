import methodCases from '../methods.json' with { type: 'json' }
import type { Implementation } from './failureCases.ts'
import type { Json } from './json.ts'

/** A fact about a method on which lists disagreed, or that only some of them had. */
export interface MethodCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  readonly method: string
  /** A column of the table of methods, including what the method has from its namespace. */
  readonly column: string
  /** The value of the column. Without it, the method has none. */
  readonly expect?: Json
  /** How the lists differed. */
  readonly differed: string
  /** Why this is right. */
  readonly why: string
  /** The specification, or the source of a node. */
  readonly origin: string
}

/** Facts about methods: `methods.json`. */
export const methods: readonly MethodCase[] = methodCases as readonly MethodCase[]
