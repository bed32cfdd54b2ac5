import type { ParsedRule } from '../../lib/parsedRule.ts'

/** Parses an entry of the user agent list: a part of the header, in any case. */
export const parseUserAgentRule = (text: string): ParsedRule<string> =>
  /^[\x20-\x7e]{1,200}$/.test(text) && text === text.trim()
    ? { rule: text.toLowerCase() }
    : { fix: 'is not part of a user agent: use 1 to 200 printable ASCII characters, without surrounding spaces' }
