import { parseAddressRule } from '../auth/allowList/addressRule.ts'
import { parseIpRange } from '../lib/ip/ipRange.ts'
import type { IpRange } from '../lib/ip/ipRange.ts'
import { parseMethodRule } from '../auth/allowList/methodRule.ts'
import { parseOriginRule } from '../auth/allowList/originRule.ts'
import type { OriginRule } from '../auth/allowList/originRule.ts'
import type { ParsedRule } from '../lib/parsedRule.ts'
import { parseUserAgentRule } from '../auth/allowList/userAgentRule.ts'
import type { AllowTypeName } from './contract/controlApi.d.ts'

const formatOrigin = ({ scheme, host, subdomains, port }: OriginRule): string => {
  const defaultPort = scheme === 'https' ? '443' : scheme === 'http' ? '80' : ''
  const shownPort = port === undefined || port === defaultPort ? '' : `:${port}`
  return `${scheme === undefined ? '' : `${scheme}://`}${subdomains ? '*.' : ''}${host}${shownPort}`
}

const formatIpRange = ({ bytes, bits }: IpRange): string => {
  const range = bits === bytes.length * 8 ? '' : `/${bits}`
  if (bytes.length === 4) return `${[...bytes].join('.')}${range}`
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  )
  // URL hosts are serialized in the canonical form of RFC 5952.
  const short = new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
  return `${short}${range}`
}

const format = <Rule>(reading: ParsedRule<Rule>, text: (rule: Rule) => string): ParsedRule<string> =>
  'rule' in reading ? { rule: text(reading.rule) } : reading

const readers: Readonly<Record<AllowTypeName, (text: string) => ParsedRule<string>>> = {
  origin: (text) => format(parseOriginRule(text), formatOrigin),
  ip: (text) => format(parseIpRange(text), formatIpRange),
  method: (text) => format(parseMethodRule(text), () => text),
  address: parseAddressRule,
  userAgent: parseUserAgentRule,
}

/**
 * Normalizes an allow list entry, so that two spellings of the same entry are equal.
 * @returns The normalized form, or a problem that continues a sentence starting with the field's name and does not repeat the value.
 */
export const normalizeAllowValue = (type: AllowTypeName, text: string): ParsedRule<string> => readers[type](text)
