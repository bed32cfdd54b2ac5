import table from './classification.json' with { type: 'json' }
import type { FailureKind } from './failureKind.ts'
import type { Facts } from './facts.ts'

/** One rule of the classification: its kind holds where all of its conditions do. */
export interface Rule {
  readonly kind: FailureKind
  readonly when: {
    /** The stable word in `error.data.reason` by which Keyrail's own service names a refusal. A regex for the whole word. */
    readonly reason?: string
    /** The HTTP status is one of these. */
    readonly status?: readonly number[]
    /** The JSON-RPC error code is one of these. */
    readonly code?: readonly number[]
    /** A regex, searched without regard to case in the message, a line break, and the data (a string as it is, else as compact JSON). */
    readonly text?: string
    /** A regex, searched in the method's name. */
    readonly method?: string
    /** Whether the call was sent in a batch. */
    readonly batch?: boolean
    /** `rpc` where the answer had a JSON-RPC error, `http` where it had none. */
    readonly source?: 'rpc' | 'http'
  }
}

/** The ordered table: the first rule that holds decides. */
export const rules: readonly Rule[] = table as readonly Rule[]

/**
 * Finds the first rule that holds for a failure.
 *
 * @param facts - What is known of the failure.
 * @param method - The method of the call.
 * @param from - The table. Default: Keyrail's own.
 * @returns The rule, or undefined where none holds: the failure is then of kind `unknown`.
 * @example
 * classify({ text: 'header not found', code: -32000 }, 'eth_call')?.kind // 'lagging'
 */
export function classify(facts: Facts, method: string, from: readonly Rule[] = rules): Rule | undefined {
  const { text, status, code, rpcError, batch = false } = facts
  const data = rpcError?.data
  const said = `${text}\n${typeof data === 'string' ? data : (JSON.stringify(data) ?? '')}`.slice(0, 4_000)
  const has = (regex: string | undefined, value: unknown): boolean =>
    !regex || (typeof value === 'string' && new RegExp(regex, 'i').test(value))
  return from.find(
    ({ when }) =>
      has(when.reason && `^(${when.reason})$`, reasonOf(facts)) &&
      (!when.status || when.status.includes(status as number)) &&
      (!when.code || when.code.includes(code as number)) &&
      (when.batch ?? batch) === batch &&
      (!when.source || (when.source === 'rpc') === !!rpcError) &&
      has(when.method, method) &&
      has(when.text, said),
  )
}

const reasonOf = ({ rpcError }: Facts): unknown => (rpcError?.data as { reason?: unknown } | null | undefined)?.reason
