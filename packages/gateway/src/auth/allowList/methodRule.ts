import type { ParsedRule } from '../../lib/parsedRule.ts'

/** A method by its name, or all whose name begins so. */
export interface MethodRule {
  readonly name: string
  /** `name` is only the beginning, up to the first `_`. */
  readonly group: boolean
}

/** Reads an entry of the method list: `eth_call`, or a whole namespace as in `eth_*`. */
export const readMethodRule = (text: string): ParsedRule<MethodRule> => {
  if (text === '*') return { fix: 'allows every method: leave the list empty instead' }
  const [, namespace, name] = /^([a-z][a-z0-9]{0,31}_)(\*|[a-z0-9_]{1,64})$/i.exec(text) ?? []
  if (namespace === undefined || name === undefined)
    return { fix: 'is no method: write one as in eth_call, or a namespace as in eth_*' }
  return { rule: name === '*' ? { name: namespace, group: true } : { name: text, group: false } }
}
