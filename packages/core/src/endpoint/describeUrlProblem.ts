import { describeType } from '../failure/describeType.ts'

/** A scheme with its slashes. A longer one is not shown: it may be a misplaced key. */
const scheme = /^[a-z][a-z+.-]{0,7}:\/\//i

/**
 * Describes what is wrong with a URL and how to fix it, without showing the URL: it may contain a key.
 *
 * @param url - The invalid URL.
 * @param network - The name of the network, if the URL was selected from a record.
 * @returns The rest of a sentence that starts with the option's name.
 * @example
 * describeUrlProblem('localhost:8545') // 'has no scheme. Start it with https:// or http://.'
 */
export function describeUrlProblem(url: unknown, network?: string): string {
  if (url === undefined) return `has no URL for network "${network}". Add one, or pass another network.`
  if (typeof url !== 'string') return `must be a string such as https://host/path, not ${describeType(url)}.`
  if (url.trim() === '') return 'is empty. If it comes from an environment variable, check that it is set.'
  if (/\s/.test(url)) return 'contains white space. Copy it again.'
  const [start] = scheme.exec(url) ?? []
  if (!start) return 'has no scheme. Start it with https:// or http://.'
  if (!['http://', 'https://'].includes(start.toLowerCase()))
    return `starts with ${start}, which is not supported. Use https:// or http://.`
  if (/[{}]/.test(url)) return 'contains "{" or "}". The only placeholder is {network}: check its spelling.'
  return 'is not a valid URL. Check its host, port and credentials; it should look like https://host/path.'
}

/**
 * Describes the part of a base URL after which a key cannot be appended.
 *
 * @param url - A valid URL.
 * @returns The rest of a sentence that starts with the option's name; undefined if the key can be appended.
 */
export function describeBaseUrlProblem(url: string): string | undefined {
  const alternative = 'or pass the full URL as url'
  const [beforeFragment = ''] = url.split('#')
  if (beforeFragment.includes('@')) return `contains credentials (user:password@). Remove them, ${alternative}.`
  if (beforeFragment.includes('?')) return `contains a query (?…). Remove it, ${alternative}.`
  if (url.includes('#')) return 'contains a fragment (#…). Remove it.'
  return url.endsWith('/') ? 'ends with "/". Remove the slash.' : undefined
}
