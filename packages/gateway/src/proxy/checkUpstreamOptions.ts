import type { Network } from '../lib/network.ts'
import { checkInteger, getMembers } from './checkOption.ts'
import { describeUnknownMethod, isWeightedMethod } from './method/weights.ts'
import type { LoadBalancing, UpstreamOptions } from './upstream/upstreamOptions.ts'
import { findHeadersFault } from './upstream/upstreamHeaders.ts'
import type { UpstreamHeaders } from './upstream/upstreamHeaders.ts'

/** Checked options of an upstream. */
export interface CheckedUpstream extends Omit<UpstreamOptions, SeparateOption> {
  readonly name: string
  readonly url: URL
  /** ws or wss. */
  readonly wsUrl: URL | undefined
  readonly headers: UpstreamHeaders
}

/** The options that are not checked one by one. */
type SeparateOption = 'url' | 'wsUrl' | 'name' | 'headers'

/** The largest `weight` of an upstream. */
export const maxUpstreamWeight = 1_000

const numberRanges: Readonly<Partial<Record<keyof UpstreamOptions, readonly [min: number, max: number]>>> = {
  maxRequestsPerSecond: [1, Number.MAX_SAFE_INTEGER],
  maxRequestsPerDay: [1, Number.MAX_SAFE_INTEGER],
  maxUnitsPerSecond: [1, Number.MAX_SAFE_INTEGER],
  maxUnitsPerDay: [1, Number.MAX_SAFE_INTEGER],
  earliestState: [0, Number.MAX_SAFE_INTEGER],
  recentStateBlocks: [1, Number.MAX_SAFE_INTEGER],
}
const switches: readonly (keyof UpstreamOptions)[] = ['debug', 'trace', 'txpool']
const methodLists: readonly (keyof UpstreamOptions)[] = ['allowMethods', 'denyMethods']
const known = ['url', 'wsUrl', 'name', 'headers', 'weight', ...Object.keys(numberRanges), ...switches, ...methodLists]

/**
 * Checks the upstreams of a network.
 * @throws {TypeError} If an option is invalid. The message names the option and the fix. It does not repeat the value, which may be a secret.
 */
export const checkUpstreams = (
  upstreams: unknown,
  network: Network,
  loadBalancing: LoadBalancing,
): readonly CheckedUpstream[] => {
  const list = `networks.${network}.upstreams`
  if (!Array.isArray(upstreams) || upstreams.length === 0)
    throw new TypeError(`${list} must be a list of at least one node, such as [{ url: 'http://127.0.0.1:8545' }]`)
  // Array.from, because map skips the holes of a sparse list.
  const checked = Array.from<unknown, CheckedUpstream>(upstreams, (upstream, index) => {
    const one = checkUpstream(upstream, { option: `${list}[${index}]`, defaultName: `${network}-${index + 1}` })
    if (one.weight !== undefined && loadBalancing === 'order')
      throw new TypeError(
        `${list}[${index}].weight only works with loadBalancing 'spread': set networks.${network}.loadBalancing, or remove the weight`,
      )
    return one
  })
  const repeated = findRepeated(checked.map(({ name }) => name))
  if (repeated !== undefined)
    throw new TypeError(
      `${list}[${repeated}].name is the name of another upstream of this network: use a different one`,
    )
  return checked
}

/** Finds the first text that an earlier one equals. @returns Its index. */
export const findRepeated = (texts: readonly string[]): number | undefined => {
  const at = texts.findIndex((text, index) => texts.indexOf(text) < index)
  return at === -1 ? undefined : at
}

const checkUpstream = (
  upstream: unknown,
  { option, defaultName }: { option: string; defaultName: string },
): CheckedUpstream => {
  const { url, wsUrl, name = defaultName, headers, ...rest } = getMembers(upstream, option, known)
  if (typeof name !== 'string' || name.trim() === '' || name.includes('/'))
    throw new TypeError(`${option}.name must be a name for logs that is not empty and has no '/'`)
  for (const [member, value] of Object.entries(rest)) {
    if (value === undefined) continue
    const place = `${option}.${member}`
    const range = numberRanges[member as keyof UpstreamOptions]
    if (member === 'weight') checkWeight(value, place)
    else if (range !== undefined) checkInteger(value, place, range[1], range[0])
    else if (!switches.includes(member as keyof UpstreamOptions)) checkMethods(value, place)
    else if (typeof value !== 'boolean') throw new TypeError(`${place} must be true or false`)
  }
  return {
    ...(rest as Omit<UpstreamOptions, SeparateOption>),
    name,
    url: checkUrl(url, `${option}.url`, 'http'),
    wsUrl: wsUrl === undefined ? undefined : checkUrl(wsUrl, `${option}.wsUrl`, 'ws'),
    headers: checkHeaders(headers, { option: `${option}.headers`, urls: [url, wsUrl] }),
  }
}

const checkWeight = (weight: unknown, option: string): void => {
  if (typeof weight !== 'number' || !(weight >= 0 && weight <= maxUpstreamWeight))
    throw new TypeError(`${option} must be a number from 0 to ${maxUpstreamWeight}`)
}

const checkUrl = (url: unknown, option: string, scheme: 'http' | 'ws'): URL => {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  if (parsed === null || (parsed.protocol !== `${scheme}:` && parsed.protocol !== `${scheme}s:`))
    throw new TypeError(`${option} is not ${scheme === 'http' ? 'an http or https' : 'a ws or wss'} URL`)
  return parsed
}

const checkMethods = (methods: unknown, option: string): void => {
  if (!Array.isArray(methods) || methods.some((method) => typeof method !== 'string'))
    throw new TypeError(`${option} must be a list of methods, such as ['eth_call']`)
  const unknown = (methods as readonly string[]).find((method) => !isWeightedMethod(method))
  if (unknown !== undefined) throw new TypeError(`${option} ${describeUnknownMethod(unknown)}`)
}

const checkHeaders = (
  headers: unknown,
  { option, urls }: { option: string; urls: readonly unknown[] },
): UpstreamHeaders => {
  if (headers === undefined) return {}
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    throw new TypeError(`${option} must be an object of texts, by the name of the header`)
  const given = headers as Readonly<Record<string, unknown>>
  const fault = findHeadersFault(given) ?? findConflict(Object.keys(given), urls)
  if (fault !== undefined) throw new TypeError(`${option} ${fault}`)
  return headers as UpstreamHeaders
}

/** User and password of a URL become a Basic authorization. */
const findConflict = (names: readonly string[], urls: readonly unknown[]): string | undefined => {
  if (!urls.some(hasCredentials)) return undefined
  return names.some((name) => name.toLowerCase() === 'authorization')
    ? 'must not have "authorization" if the URL has a user or a password: remove one of them'
    : undefined
}

const hasCredentials = (url: unknown): boolean => {
  const { username = '', password = '' } = (typeof url === 'string' ? URL.parse(url) : null) ?? {}
  return username !== '' || password !== ''
}
