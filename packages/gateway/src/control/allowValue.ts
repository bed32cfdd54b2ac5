import { parseAddressRule } from '../auth/allowList/addressRule.ts'
import { parseIpRange } from '../lib/ip/ipRange.ts'
import type { IpRange } from '../lib/ip/ipRange.ts'
import { parseMethodRule } from '../auth/allowList/methodRule.ts'
import { parseOriginRule } from '../auth/allowList/originRule.ts'
import type { OriginRule } from '../auth/allowList/originRule.ts'
import type { ParsedRule } from '../lib/parsedRule.ts'
import { parseUserAgentRule } from '../auth/allowList/userAgentRule.ts'
import type { AllowTypeName } from './contract/allowEntry.ts'

const originText = ({ scheme, host, subdomains, port }: OriginRule): string => {
  const own = scheme === 'https' ? '443' : scheme === 'http' ? '80' : ''
  const shownPort = port === undefined || port === own ? '' : `:${port}`
  return `${scheme === undefined ? '' : `${scheme}://`}${subdomains ? '*.' : ''}${host}${shownPort}`
}

const ipText = ({ bytes, bits }: IpRange): string => {
  const range = bits === bytes.length * 8 ? '' : `/${bits}`
  if (bytes.length === 4) return `${[...bytes].join('.')}${range}`
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  )
  // A URL's host is written in the one short form of RFC 5952.
  const short = new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
  return `${short}${range}`
}

const as = <Rule>(reading: ParsedRule<Rule>, text: (rule: Rule) => string): ParsedRule<string> =>
  'rule' in reading ? { rule: text(reading.rule) } : reading

const readers: Readonly<Record<AllowTypeName, (text: string) => ParsedRule<string>>> = {
  origin: (text) => as(parseOriginRule(text), originText),
  ip: (text) => as(parseIpRange(text), ipText),
  method: (text) => as(parseMethodRule(text), () => text),
  address: parseAddressRule,
  userAgent: parseUserAgentRule,
}

/**
 * Reads an entry of an allow list in the one form that is stored, so that no entry is there twice in two spellings.
 * @returns That form; or what is wrong with it, which reads on from the field's name and repeats no value.
 */
export const readAllowValue = (type: AllowTypeName, text: string): ParsedRule<string> => readers[type](text)
