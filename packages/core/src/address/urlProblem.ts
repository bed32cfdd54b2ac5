import { typeName } from '../failure/typeName.ts'

/** A scheme with its slashes. A longer one is not shown: it may be a misplaced key. */
const scheme = /^[a-z][a-z+.-]{0,7}:\/\//i

/**
 * Says what is wrong with a URL that cannot be used, without repeating it: it may hold a key.
 *
 * @param url - What was given.
 * @param network - Which of several URLs it is.
 * @returns The predicate of a sentence about the option.
 * @example
 * urlProblem('localhost:8545') // 'is missing http:// or https:// at its start'
 */
export function urlProblem(url: unknown, network?: string): string {
  if (url === undefined) return `has no URL for network "${network}"`
  if (typeof url !== 'string') return `must be a string such as https://host/path, not ${typeName(url)}`
  if (url.trim() === '') return 'is empty: is the variable set?'
  if (/\s/.test(url)) return 'holds white space: copy it again'
  const [start] = scheme.exec(url) ?? []
  if (!start) return 'is missing http:// or https:// at its start'
  if (!['http://', 'https://'].includes(start.toLowerCase()))
    return `starts with ${start}, but only http and https are supported`
  return 'must be a full URL, such as https://host/path: check its host, port and credentials'
}

/**
 * Says what a base URL has that a key cannot be put behind.
 *
 * @param url - A URL that can be used as it is.
 * @returns The predicate of a sentence about the option; undefined if nothing is wrong.
 */
export function baseUrlProblem(url: string): string | undefined {
  const instead = 'or pass the full URL as url'
  const [beforeFragment = ''] = url.split('#')
  if (beforeFragment.includes('@')) return `holds credentials (user:password@): remove them, ${instead}`
  if (beforeFragment.includes('?')) return `holds a query (?…): remove it, ${instead}`
  if (url.includes('#')) return 'holds a fragment (#…): remove it'
  return url.endsWith('/') ? 'ends with "/": remove it' : undefined
}
