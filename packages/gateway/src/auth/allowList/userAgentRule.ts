import type { ParsedRule } from '../../lib/parsedRule.ts'

/** Reads an entry of the user agent list: a part of the header, in any case. */
export const readUserAgentRule = (text: string): ParsedRule<string> =>
  /^[\x20-\x7e]{1,200}$/.test(text) && text === text.trim()
    ? { rule: text.toLowerCase() }
    : { fix: 'is no part of a user agent: write 1 to 200 letters, digits and signs, without space at the ends' }
