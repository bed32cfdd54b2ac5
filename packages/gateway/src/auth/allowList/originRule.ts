import type { ParsedRule } from '../../lib/parsedRule.ts'

/** A parsed origin. */
export interface Origin {
  readonly scheme: string
  readonly host: string
  /** The effective port. Schemes other than http and https have none by default. */
  readonly port: string
}

/** A parsed entry of the origin list. */
export interface OriginRule {
  /** `undefined`: both http and https. */
  readonly scheme: string | undefined
  readonly host: string
  /** Matches subdomains of `host` at any depth, but not `host` itself. */
  readonly subdomains: boolean
  /** `undefined`: the default port of the scheme. */
  readonly port: string | undefined
}

const longest = 512
const host = String.raw`\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?`
const originShape = new RegExp(String.raw`^([a-z][a-z0-9+.-]*)://(${host})(?::(0|[1-9][0-9]{0,4}))?$`, 'i')
const hostShape = new RegExp(`^(?:${host})$`, 'i')
const entryShape = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*\.)?(.*?)(?::([0-9]*))?$/i

const getDefaultPort = (scheme: string): string => (scheme === 'https' ? '443' : scheme === 'http' ? '80' : '')

/**
 * Parses an `Origin` header as browsers send it.
 * @returns The origin in lower case; `undefined` for any other form, `null` and several origins.
 * @see RFC 6454 section 7; the HTML standard, serialization of an origin
 */
export const parseOrigin = (header: string): Origin | undefined => {
  if (header.length > longest) return undefined
  const [, scheme, name, port] = originShape.exec(header) ?? []
  if (scheme === undefined || name === undefined || Number(port ?? 0) > 65_535) return undefined
  const lower = scheme.toLowerCase()
  return { scheme: lower, host: name.toLowerCase(), port: port ?? getDefaultPort(lower) }
}

/**
 * Parses an entry of the origin list: `https://app.example.com`, `app.example.com`, `localhost:3000`, `*.example.com`. Without a scheme it
 * matches http and https, without a port the scheme's default port. `*.` matches one or more labels before the host.
 */
export const parseOriginRule = (text: string): ParsedRule<OriginRule> => {
  if (text === '*') return { fix: 'allows every origin: leave the list empty instead' }
  if (text === 'null') return { fix: 'is what any page without an origin sends: list the origins themselves' }
  const [, schemeText, star, name = '', portText] = (text.length > longest ? null : entryShape.exec(text)) ?? []
  const scheme = schemeText?.toLowerCase()
  if (name.includes('*')) return { fix: "may have a '*' only at the start, as in *.example.com" }
  if (/[/?#\\]/.test(name)) return { fix: 'is more than an origin: remove everything after the host and port' }
  if (portText !== undefined && (!/^[1-9][0-9]{0,4}$/.test(portText) || Number(portText) > 65_535))
    return { fix: "has an invalid port after the ':': use 1 to 65535" }
  const isWeb = scheme === undefined || getDefaultPort(scheme) !== ''
  const found = isWeb ? normalizeHost(name) : hostShape.test(name) ? name.toLowerCase() : undefined
  if (found === undefined) return { fix: 'is not an origin: use one such as https://app.example.com' }
  if (star !== undefined && (!isWeb || /^\[|(?:^|\.)[0-9]+\.?$/.test(found)))
    return { fix: "may have '*.' only before a domain name" }
  return {
    rule: {
      scheme,
      host: found,
      subdomains: star !== undefined,
      port: portText ?? (scheme === undefined ? undefined : getDefaultPort(scheme)),
    },
  }
}

/** Normalizes a host as browsers do: lower case, punycode, canonical IP addresses. */
const normalizeHost = (name: string): string | undefined => {
  // Characters that a URL parser drops, decodes or treats as delimiters.
  if (/[\s@%]|\p{Cc}/u.test(name)) return undefined
  if (name.startsWith('[') ? !name.endsWith(']') : name.includes(':')) return undefined
  const found = URL.parse(`http://${name}/`)?.hostname
  return found !== undefined && hostShape.test(found) ? found : undefined
}

/** Whether an entry allows an origin. */
export const matchesOrigin = (rule: OriginRule, origin: Origin): boolean => {
  const defaultPort = getDefaultPort(origin.scheme)
  if (rule.scheme === undefined ? defaultPort === '' : rule.scheme !== origin.scheme) return false
  if ((rule.port ?? defaultPort) !== origin.port) return false
  return rule.subdomains ? origin.host.endsWith(`.${rule.host}`) : origin.host === rule.host
}
