import type { ParsedRule } from '../../lib/parsedRule.ts'

/** An origin, taken apart. */
export interface Origin {
  readonly scheme: string
  readonly host: string
  /** The port in effect: of http and https always one, of other schemes only one that was written. */
  readonly port: string
}

/** The origins that an entry allows. */
export interface OriginRule {
  /** `undefined`: http and https. */
  readonly scheme: string | undefined
  readonly host: string
  /** The hosts below `host`, at any depth, instead of `host` itself. */
  readonly below: boolean
  /** `undefined`: the scheme's own. */
  readonly port: string | undefined
}

const longest = 512
const host = String.raw`\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?`
const originShape = new RegExp(String.raw`^([a-z][a-z0-9+.-]*)://(${host})(?::(0|[1-9][0-9]{0,4}))?$`, 'i')
const hostShape = new RegExp(`^(?:${host})$`)
const entryShape = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*\.)?(.*?)(?::([0-9]*))?$/i

const ownPort = (scheme: string): string => (scheme === 'https' ? '443' : scheme === 'http' ? '80' : '')

/**
 * Reads an `Origin` header as browsers write it. What is not of that form, `null` and several origins at once are no origin.
 * @returns The origin in lower case, or `undefined`.
 * @see RFC 6454 section 7; the HTML standard, serialization of an origin
 */
export const parseOrigin = (header: string): Origin | undefined => {
  if (header.length > longest) return undefined
  const [, scheme, name, port] = originShape.exec(header) ?? []
  if (scheme === undefined || name === undefined || Number(port ?? 0) > 65_535) return undefined
  const lower = scheme.toLowerCase()
  return { scheme: lower, host: name.toLowerCase(), port: port ?? ownPort(lower) }
}

/**
 * Reads an entry of the origin list: `https://app.example.com`, `app.example.com`, `localhost:3000`, `*.example.com`. Without a scheme
 * http and https are meant, without a port the scheme's own; `*.` stands for one or more names before the host and not for none.
 */
export const readOriginRule = (text: string): ParsedRule<OriginRule> => {
  if (text === '*') return { fix: 'allows every origin: leave the list empty instead' }
  if (text === 'null')
    return { fix: "is what pages without an origin send, and anyone's can: name the origins themselves" }
  const [, schemeText, star, name = '', portText] = (text.length > longest ? null : entryShape.exec(text)) ?? []
  const scheme = schemeText?.toLowerCase()
  if (name.includes('*')) return { fix: "may have a '*' only at the beginning, as in *.example.com" }
  if (/[/?#\\]/.test(name)) return { fix: 'is more than an origin: leave away what follows the host and the port' }
  if (portText !== undefined && (!/^[1-9][0-9]{0,4}$/.test(portText) || Number(portText) > 65_535))
    return { fix: "has no good port after the ':': write one from 1 to 65535" }
  const web = scheme === undefined || ownPort(scheme) !== ''
  const found = web ? canonicalHost(name) : hostShape.test(name.toLowerCase()) ? name.toLowerCase() : undefined
  if (found === undefined) return { fix: 'is no origin: write one as in https://app.example.com' }
  if (star !== undefined && (!web || /^\[|(?:^|\.)[0-9]+\.?$/.test(found)))
    return { fix: "may have '*.' only before a domain name" }
  return {
    rule: {
      scheme,
      host: found,
      below: star !== undefined,
      port: portText ?? (scheme === undefined ? undefined : ownPort(scheme)),
    },
  }
}

/** A host as browsers write it: lower case, punycode, an IP address in its usual form. */
const canonicalHost = (name: string): string | undefined => {
  // Characters that a URL's parser would drop, decode or take for something else.
  if (/[\s@%]|\p{Cc}/u.test(name)) return undefined
  if (name.startsWith('[') ? !name.endsWith(']') : name.includes(':')) return undefined
  const found = URL.parse(`http://${name}/`)?.hostname
  return found !== undefined && hostShape.test(found) ? found : undefined
}

/** Whether an origin is one of those that an entry allows. */
export const matchesOrigin = (rule: OriginRule, origin: Origin): boolean => {
  const own = ownPort(origin.scheme)
  if (rule.scheme === undefined ? own === '' : rule.scheme !== origin.scheme) return false
  if ((rule.port ?? own) !== origin.port) return false
  return rule.below ? origin.host.endsWith(`.${rule.host}`) : origin.host === rule.host
}
