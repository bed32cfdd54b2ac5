import { hasFlag } from '../schema/methodFlags.ts'
import { stringifyData } from './stringifyData.ts'
import type { FailureFacts } from './failureFacts.ts'
import { compilePhrase, toWords, wordsContain } from './phrase.ts'
import type { Phrase } from './phrase.ts'
import type { Rule } from './rule.ts'
import { getRules } from './rules.ts'

/** What the table of methods says of the methods of a rule. */
const methodFlags = { write: 'w', call: 'c', logs: 's' } as const

let orderedRules: readonly Rule[] | undefined

/** All rules. Built on first use: bundlers drop the table from programs that never classify. */
const allRules = (): readonly Rule[] => (orderedRules ??= getRules())

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
