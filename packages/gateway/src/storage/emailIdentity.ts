import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { foldLoosely } from './foldLoosely.ts'
import { toLatinLookAlikes } from './lookAlikes.ts'

/** RFC 5321 section 4.5.3.1: the local part, and the whole address (a path of 256 bytes has two angle brackets). RFC 1035 section 2.3.4: a label. */
const maxBytes = { local: 64, address: 254, label: 63 }

/** Spaces, control, format and bidirectional characters, lone surrogates, unassigned ones, and others that have no glyph. */
const invisible = /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u
/** Characters that a URL parser decodes, drops or treats as the end of a host. Other characters that become one of them, it rejects. */
const urlDelimiter = /[%/?#\\:[\]]/
/** Letters, digits, hyphens, and the underscore that some mail domains have. An A-label never ends with a hyphen. */
const label = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/

/** Converts a domain to A-labels. @returns `undefined` if it is not the name of a domain. */
const toAsciiDomain = (domain: string): string | undefined => {
  if (domain === '' || urlDelimiter.test(domain)) return undefined
  // Empty for every domain that is not valid: two of them must not be equal.
  const ascii = domainToASCII(domain)
  const labels = ascii.split('.')
  const isDomain = labels.every((one) => one.length <= maxBytes.label && label.test(one))
  // Decimal, octal and hexadecimal numbers have become an address by now. No top-level domain is a number (RFC 3696 section 2).
  if (!isDomain || isIP(ascii) !== 0 || /^\d+$/.test(labels.at(-1) ?? '')) return undefined
  const unicode = domainToUnicode(ascii)
  // Some versions of Node.js leave an A-label as it is if it encodes nothing, or a label that has no A-label.
  const isDecoded = unicode.split('.').every((one) => !one.startsWith('xn--'))
  return isDecoded && domainToASCII(unicode) === ascii ? ascii : undefined
}

/** Splits an address. @returns `undefined` if it is not valid. */
const parseEmail = (email: string): { readonly local: string; readonly domain: string } | undefined => {
  if (typeof email !== 'string') return undefined
  const text = email.trim()
  const [local = '', domain = '', ...rest] = text.split('@')
  // Some characters become an `@` or a space in a program that normalizes them.
  const isPlain = [text, text.normalize('NFKC')].every((form) => !invisible.test(form) && form.split('@').length === 2)
  if (local === '' || rest.length > 0 || !isPlain || Buffer.byteLength(local) > maxBytes.local) return undefined
  const ascii = toAsciiDomain(domain)
  const isShort = ascii !== undefined && Buffer.byteLength(`${local}@${ascii}`) <= maxBytes.address
  return isShort && Buffer.byteLength(text) <= maxBytes.address ? { local, domain: ascii } : undefined
}

/**
 * Decides whose email address it is: two addresses belong to the same person exactly if their identities are equal. Everything that accepts
 * somebody by an address (log-in, single sign-on, links, invites, the operator's commands) compares identities, and nothing else.
 *
 * The local part is in lower case, as far as it is ASCII, and otherwise exact, without Unicode normalization: `ı` is not `i`, and a letter
 * with a combining mark is not the composed letter. The domain is in A-labels, as IDNA converts it (UTS 46, nontransitional).
 * @param email - As the user typed it, or as a provider asserts it. Leading and trailing spaces are ignored.
 * @returns The identity, which is an address too. `undefined` if the text is not an email address: not exactly one `@`; spaces and invisible
 * characters; a domain that has a character of URLs (also `%`), is or becomes an IP address, or has an empty, invalid or long label;
 * a local part over 64 bytes, an address over 254. Two such texts are never the same.
 * @see RFC 5321 section 4.5.3.1, UTS 46 section 4, UTS 39 section 4
 * @example
 * toEmailIdentity('Ann@BÜCHER.example') // 'ann@xn--bcher-kva.example'
 * toEmailIdentity('admın@corp.example') === toEmailIdentity('admin@corp.example') // false
 * toEmailIdentity('ann@ex%61mple.com') // undefined
 */
export const toEmailIdentity = (email: string): string | undefined => {
  const parsed = parseEmail(email)
  return parsed && `${parsed.local.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())}@${parsed.domain}`
}

/**
 * Whether two texts are email addresses of the same person: see `toEmailIdentity`.
 * @param one - As typed.
 * @param other - As typed. `undefined` is nobody's.
 */
export const isSameEmail = (one: string | undefined, other: string | undefined): boolean => {
  const identity = one === undefined ? undefined : toEmailIdentity(one)
  return identity !== undefined && other !== undefined && identity === toEmailIdentity(other)
}

/**
 * The address that an email is sent to: the domain in A-labels, so that the email goes to the domain that `toEmailIdentity` compares, even if a
 * program for email converts other characters differently.
 * @returns The text itself if it is not an email address.
 */
export const toMailbox = (email: string): string => {
  const parsed = parseEmail(email)
  return parsed === undefined ? email : `${parsed.local}@${parsed.domain}`
}

/** With the domain as people read it. */
const toReadable = (email: string): string => {
  const parsed = parseEmail(email)
  return parsed === undefined ? email : `${parsed.local}@${domainToUnicode(parsed.domain)}`
}

/**
 * Folds an email address loosely: addresses that look alike become equal, such as `admın@corp.example` and `admin@corp.example`, also if letters
 * of other alphabets look Latin. It only rejects the address of a new account. All addresses with the same identity have the same folded form.
 */
export const foldEmail = (email: string): string =>
  // Some letters look Latin only as a capital, others only as a small letter.
  toLatinLookAlikes(foldLoosely(toLatinLookAlikes(toReadable(email)))).normalize('NFC')

/**
 * The folded form of an email address, and those that earlier versions stored. The migrations left these for an account that looks like another
 * one, and they may run while instances are updated, one after the other.
 */
export const listFoldedForms = (email: string): readonly string[] => {
  const loose = [toReadable(email), email, toEmailIdentity(email) ?? email].map(foldLoosely)
  return [...new Set([foldEmail(email), ...loose])]
}
