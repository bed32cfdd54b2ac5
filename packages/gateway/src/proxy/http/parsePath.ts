import { isNetworkName } from '../../lib/network.ts'
import type { Network } from '../../lib/network.ts'
import { suggestName } from '../../lib/suggestName.ts'

/** The path of an RPC URL. */
export interface CallPath {
  readonly kind: 'call'
  readonly network: Network
  readonly variant: 'app' | 'apiKey'
  /** As it was sent; `undefined` at `/{network}/v2`, where the request's token identifies the app. */
  readonly key: string | undefined
}

/** A parsed request target. */
export type Path =
  | CallPath
  | { readonly kind: 'healthz' }
  | { readonly kind: 'readyz' }
  | {
      readonly kind: 'unknown'
      /** The first part of the path, if the rest is the path of an RPC URL. */
      readonly network?: string
      /** A network with a similar name. */
      readonly nearest?: Network | undefined
    }

/** The networks by what URLs call them. */
export interface NetworkNames {
  /** Networks by their names and aliases. */
  readonly byName: ReadonlyMap<string, Network>
  /** The end of host names that start with a network, such as `.rpc.example.org`; `undefined`: there are none. */
  readonly hostSuffix: string | undefined
}

const unknown: Path = Object.freeze({ kind: 'unknown' })

/** Gets a target's path. Nearly all targets are in origin form without a query and are returned unchanged. */
const getPath = (target: string): string => {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.includes('?') || path.includes('#') ? (path.split(/[?#]/, 1)[0] ?? '') : path
}

/** Gets the network of a host such as `base-mainnet.rpc.example.org:8443`. */
const getHostNetwork = ({ byName, hostSuffix }: NetworkNames, host: string | undefined): Network | undefined => {
  if (hostSuffix === undefined || host === undefined) return undefined
  const name = host.replace(/:\d*$/, '').toLowerCase()
  return name.endsWith(hostSuffix) ? byName.get(name.slice(0, -hostSuffix.length)) : undefined
}

/**
 * Parses a request target: exactly `/{network}/v2/{key}`, `/{network}/{key}`, `/{network}/v2`, `/healthz` or `/readyz`. A query is ignored.
 * At the host of a network, the path is `/v2/{key}`, `/{key}` or `/v2`. A network's path without a key is a call with an empty key, so a
 * missing key is rejected as such (401) and not as a wrong URL.
 * @param host - The `Host` header.
 * @see RFC 9112 section 3.2 (origin form, and absolute form, which a server must accept too)
 */
export const parsePath = (target: string, names: NetworkNames, host?: string): Path => {
  const path = getPath(target)
  if (path === '/healthz') return { kind: 'healthz' }
  if (path === '/readyz') return { kind: 'readyz' }
  if (!path.startsWith('/')) return unknown
  const hostNetwork = getHostNetwork(names, host)
  if (hostNetwork !== undefined) return parseBelow(hostNetwork, path.slice(1))
  const end = path.indexOf('/', 1)
  const name = end === -1 ? path.slice(1) : path.slice(1, end)
  const rest = end === -1 ? '' : path.slice(end + 1)
  const network = names.byName.get(name)
  if (network !== undefined) return parseBelow(network, rest)
  if (!isNetworkName(name) || !/^(?:v2(?:\/|$)|kr_)/.test(rest)) return unknown
  return { kind: 'unknown', network: name, nearest: suggestName(name, [...names.byName.keys()]) }
}

const parseBelow = (network: Network, rest: string): Path => {
  if (rest === 'v2') return { kind: 'call', network, variant: 'app', key: undefined }
  const app = rest.startsWith('v2/')
  const key = app ? rest.slice(3) : rest
  return key.includes('/') ? unknown : { kind: 'call', network, variant: app ? 'app' : 'apiKey', key }
}
