import table from './classification.json' with { type: 'json' }
import { hasFlag } from '../schema/methodFlags.ts'
import { stringifyData } from './stringifyData.ts'
import type { FailureFacts } from './failureFacts.ts'
import type { FailureKind } from './failureKind.ts'
import { compilePhrase, toWords, wordsContain } from './phrase.ts'
import type { Phrase } from './phrase.ts'

/** What the table of methods says of the methods of a rule. */
const methodFlags = { write: 'w', call: 'c', logs: 's' } as const

/** One rule of the classification: a failure is of its kind if all conditions are true. A list is true if it contains the value. */
export interface Rule {
  readonly kind: FailureKind
  readonly when: {
    /** `error.data.reason`, with which the Keyrail service names a rejection. */
    readonly reason?: readonly string[]
    /** The HTTP status. */
    readonly status?: readonly number[]
    /** The code of the JSON-RPC error. */
    readonly code?: readonly number[]
    /** The message or the error's data contains one of these phrases. `phrase.ts` describes how a phrase is written. */
    readonly phrases?: readonly string[]
    /** The method sends a transaction, runs a call of the caller, or searches logs or traces. `read` is every method that sends no transaction. */
    readonly method?: keyof typeof methodFlags | 'read'
    /** Whether the call was sent in a batch. */
    readonly batch?: boolean
    /** `rpc` if the response has a JSON-RPC error, `http` if not. */
    readonly source?: 'rpc' | 'http'
    /** The error's data is what a contract reverted with: at least four bytes as hex. */
    readonly revertData?: boolean
  }
}

/** A part of `classification.json`. The first rule that is true decides, so an earlier section overrules the later ones. */
export interface Section {
  /** The kind of fact that its rules test. */
  readonly section: string
  readonly rules: readonly Rule[]
}

/** The contents of `classification.json`. */
export interface Classification {
  readonly sections: readonly Section[]
}

let orderedRules: readonly Rule[] | undefined

/** The rules of all sections. Built on first use: bundlers drop the table from programs that never classify. */
const allRules = (): readonly Rule[] =>
  (orderedRules ??= (table as Classification).sections.flatMap(({ rules }) => rules))

/** Text beyond this many characters is not searched for phrases. */
const MAX_TEXT_LENGTH = 4_000

const compiled = /* @__PURE__ */ new WeakMap<Rule, readonly Phrase[]>()

/** A rule's phrases, compiled on first use: most programs never see a failure. In bundles they are one string: `shrinkRules.ts`. */
const getPhrases = (rule: Rule): readonly Phrase[] => {
  let phrases = compiled.get(rule)
  if (!phrases) compiled.set(rule, (phrases = String(rule.when.phrases).split(',').map(compilePhrase)))
  return phrases
}

/**
 * Finds the first rule that is true for a failure. It depends on nothing but its arguments.
 *
 * @param facts - What is known about the failure.
 * @param method - The JSON-RPC method of the call.
 * @param rules - The rules in order. Default: Keyrail's own, `classification.json`.
 * @returns The rule; undefined if none is true, in which case the failure is of kind `unknown`.
 * @example
 * classify({ text: 'header not found', rpcError: { code: -32000, message: 'header not found' } }, 'eth_call')?.kind // 'lagging'
 */
export function classify(
  { text, status, rpcError, batch = false }: FailureFacts,
  method: string,
  rules: readonly Rule[] = allRules(),
): Rule | undefined {
  const { code, data } = Object(rpcError) as { code?: unknown; data?: unknown }
  const { reason, data: innerData } = Object(data) as { reason?: unknown; data?: unknown }
  const words = toWords(`${text}\n${stringifyData(data)}`.slice(0, MAX_TEXT_LENGTH), method)
  const includes = (list: readonly unknown[] | undefined, value: unknown): boolean => !list || list.includes(value)
  return rules.find((rule) => {
    const { when } = rule
    return (
      includes(when.reason, reason) &&
      includes(when.status, status) &&
      includes(when.code, code) &&
      (!when.method || (when.method === 'read' ? !hasFlag(method, 'w') : hasFlag(method, methodFlags[when.method]))) &&
      (when.batch ?? batch) === batch &&
      (!when.source || (when.source === 'rpc') === Boolean(rpcError)) &&
      (!when.revertData || isRevertData(data) || isRevertData(innerData)) &&
      (!when.phrases || getPhrases(rule).some((phrase) => wordsContain(words, phrase)))
    )
  })
}

/** The four bytes of an error's selector, and its arguments. Some nodes put the word "Reverted" before them. */
const isRevertData = (data: unknown): boolean => typeof data === 'string' && /^(?:reverted )?0x[\da-f]{8}/i.test(data)
