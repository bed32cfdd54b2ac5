import type { ParsedRule } from '../../lib/parsedRule.ts'

/** A method, or all methods with a prefix. */
export interface MethodRule {
  readonly name: string
  /** `name` is a prefix that ends with `_`. */
  readonly isPrefix: boolean
}

/** Parses an entry of the method list: `eth_call`, or a namespace such as `eth_*`. */
export const parseMethodRule = (text: string): ParsedRule<MethodRule> => {
  if (text === '*') return { fix: 'allows every method: leave the list empty instead' }
  const [, namespace, name] = /^([a-z][a-z0-9]{0,31}_)(\*|[a-z0-9_]{1,64})$/i.exec(text) ?? []
  if (namespace === undefined || name === undefined)
    return { fix: 'is not a method: use a name such as eth_call, or a namespace such as eth_*' }
  return { rule: name === '*' ? { name: namespace, isPrefix: true } : { name: text, isPrefix: false } }
}
