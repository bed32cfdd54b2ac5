import table from './classification.json' with { type: 'json' }
import { dataText } from './dataText.ts'
import type { Facts } from './facts.ts'
import type { FailureKind } from './failureKind.ts'

/** One rule of the classification: its kind holds where all of its conditions do. */
export interface Rule {
  readonly kind: FailureKind
  readonly when: {
    /** The stable word in `error.data.reason` with which Keyrail's own service names a rejection. A regex for the whole word. */
    readonly reason?: string
    /** The HTTP status is one of these. */
    readonly status?: readonly number[]
    /** The code of the JSON-RPC error is one of these. */
    readonly code?: readonly number[]
    /** Message or data contain one of these phrases as whole words. Lower case, words separated by one space: {@link wordsIn}. */
    readonly phrases?: readonly string[]
    /** A regex, searched without regard to case in the message, a line break, and the data (a string as it is, else as compact JSON). */
    readonly text?: string
    /** A regex, searched without regard to case in the method's name. */
    readonly method?: string
    /** Whether the call was sent in a batch. */
    readonly batch?: boolean
    /** `rpc` where the response had a JSON-RPC error, `http` where it had none. */
    readonly source?: 'rpc' | 'http'
  }
}

/** A part of `classification.json`. The first rule that holds decides, so an earlier section overrules the later ones. */
export interface Section {
  /** What its rules decide by. */
  readonly section: string
  readonly rules: readonly Rule[]
}

const ordered = /* @__PURE__ */ (table as readonly Section[]).flatMap(({ rules }) => rules)

/** A text in lower case, with one space around each of its words. */
const wordsIn = (text: string): string => ` ${text.toLowerCase().replace(/[^a-z0-9_]+/g, ' ')} `

/**
 * Finds the first rule that holds for a failure.
 *
 * @param facts - What is known of the failure.
 * @param method - The method of the call.
 * @param rules - The ordered rules. Default: Keyrail's own, `classification.json`.
 * @returns The rule, or undefined where none holds: the failure is then of kind `unknown`.
 * @example
 * classify({ text: 'header not found', rpcError: { code: -32000, message: 'header not found' } }, 'eth_call')?.kind // 'lagging'
 */
export function classify(
  { text: message, status, rpcError, batch = false }: Facts,
  method: string,
  rules: readonly Rule[] = ordered,
): Rule | undefined {
  const { code, data } = Object(rpcError) as { code?: unknown; data?: unknown }
  const { reason } = Object(data) as { reason?: unknown }
  const text = `${message}\n${dataText(data)}`.slice(0, 4_000)
  const words = wordsIn(text)
  const seen: Record<string, unknown> = {
    status,
    code,
    // A thing that is no text may throw when made one.
    reason: typeof reason === 'string' ? reason : '',
    method,
    batch,
    source: rpcError ? 'rpc' : 'http',
    text,
  }
  const holds = ([name, want]: [string, string | boolean | readonly (number | string)[]]): boolean =>
    name === 'phrases'
      ? (want as readonly string[]).some((phrase) => words.includes(` ${phrase} `))
      : typeof want === 'object'
        ? want.includes(seen[name] as number)
        : new RegExp(String(want), 'i').test(String(seen[name]))
  return rules.find(({ when }) => Object.entries(when).every(holds))
}
