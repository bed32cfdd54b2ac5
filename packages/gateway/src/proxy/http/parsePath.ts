import { networkNames } from '../../lib/network.ts'
import type { Network } from '../../lib/network.ts'

/** The path of an RPC URL. */
export interface CallPath {
  readonly kind: 'call'
  readonly network: Network
  readonly variant: 'app' | 'apiKey'
  /** As it was sent; `undefined` at `/{network}/v2`, where the request's token identifies the app. */
  readonly key: string | undefined
}

/** A parsed request target. */
export type Path = CallPath | { readonly kind: 'healthz' } | { readonly kind: 'readyz' } | { readonly kind: 'unknown' }

const unknown: Path = Object.freeze({ kind: 'unknown' })

const roots = networkNames.map((network) => ({ network, root: `/${network}`, below: `/${network}/` }))

/** Gets a target's path. Nearly all targets are in origin form without a query and are returned unchanged. */
const getPath = (target: string): string => {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.includes('?') || path.includes('#') ? (path.split(/[?#]/, 1)[0] ?? '') : path
}

/**
 * Parses a request target: exactly `/{network}/v2/{key}`, `/{network}/{key}`, `/{network}/v2`, `/healthz` or `/readyz`. A query is ignored.
 * A network's path without a key is a call with an empty key, so a missing key is rejected as such (401) and not as a wrong URL.
 * @see RFC 9112 section 3.2 (origin form, and absolute form, which a server must accept too)
 */
export const parsePath = (target: string): Path => {
  const path = getPath(target)
  for (const { network, root, below } of roots)
    if (path.startsWith(below)) return parseBelow(network, path.slice(below.length))
    else if (path === root) return { kind: 'call', network, variant: 'apiKey', key: '' }
  if (path === '/healthz') return { kind: 'healthz' }
  return path === '/readyz' ? { kind: 'readyz' } : unknown
}

const parseBelow = (network: Network, rest: string): Path => {
  if (rest === 'v2') return { kind: 'call', network, variant: 'app', key: undefined }
  const app = rest.startsWith('v2/')
  const key = app ? rest.slice(3) : rest
  return key.includes('/') ? unknown : { kind: 'call', network, variant: app ? 'app' : 'apiKey', key }
}
