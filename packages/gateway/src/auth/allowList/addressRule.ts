import type { ParsedRule } from '../../lib/parsedRule.ts'

const addressPattern = /^0x[0-9a-f]{40}$/i

/** Returns an address in lower case, or `undefined` for any other value. Case is only a checksum (EIP-55). */
export const parseAddress = (value: unknown): string | undefined =>
  typeof value === 'string' && addressPattern.test(value) ? value.toLowerCase() : undefined

/** Parses an entry of the address list: `0x` and 40 hex digits, in any case. */
export const parseAddressRule = (text: string): ParsedRule<string> => {
  const rule = parseAddress(text)
  return rule === undefined ? { fix: 'is not an address: use 0x and 40 hex digits' } : { rule }
}
