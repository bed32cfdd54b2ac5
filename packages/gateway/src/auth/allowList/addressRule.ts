import type { ParsedRule } from '../../lib/parsedRule.ts'

const shape = /^0x[0-9a-f]{40}$/i

/** An address in lower case, or `undefined` where the value is none. Case is only a checksum, never part of an address (EIP-55). */
export const parseAddress = (value: unknown): string | undefined =>
  typeof value === 'string' && shape.test(value) ? value.toLowerCase() : undefined

/** Reads an entry of the address list: `0x` and 40 hex digits, in any case. */
export const readAddressRule = (text: string): ParsedRule<string> => {
  const rule = parseAddress(text)
  return rule === undefined ? { fix: 'is no address: write 0x and 40 hex digits' } : { rule }
}
