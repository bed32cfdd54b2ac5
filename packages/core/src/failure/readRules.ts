import type { Rule } from './rule.ts'

/**
 * Reads the rules that a bundle contains.
 *
 * @param text - The output of `shrinkRules`.
 * @example
 * readRules('quota{"status":[402]}') // [{ kind: 'quota', when: { status: [402], phrases: '' } }]
 */
export const readRules = (text: string): readonly Rule[] =>
  text.split('\n').map((line) => {
    const [, kind, when = '', phrases] = /(\w+)(.*})(.*)/.exec(line) ?? []
    return { kind, when: { ...JSON.parse(when), phrases } } as unknown as Rule
  })
