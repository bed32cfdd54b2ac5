import { networkNames } from '../../lib/network.ts'
import type { Network } from '../../lib/network.ts'

/** A call's address. */
export interface CallPath {
  readonly kind: 'call'
  readonly network: Network
  readonly variant: 'app' | 'apiKey'
  /** As it was written; `undefined` at `/{network}/v2`, where the app is found by the request's token. */
  readonly key: string | undefined
}

/** What a request's target asks for. */
export type Path = CallPath | { readonly kind: 'healthz' } | { readonly kind: 'readyz' } | { readonly kind: 'unknown' }

const unknown: Path = Object.freeze({ kind: 'unknown' })

const roots = networkNames.map((network) => ({ network, root: `/${network}`, below: `/${network}/` }))

/** A target's path, without what follows it. Nearly all are in origin form and have no query: those are taken as they are. */
const pathOf = (target: string): string => {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.includes('?') || path.includes('#') ? (path.split(/[?#]/, 1)[0] ?? '') : path
}

/**
 * Reads a request's target: exactly `/{network}/v2/{key}`, `/{network}/{key}`, `/{network}/v2`, `/healthz` or `/readyz`. A query is ignored.
 * A network's path with no key on it is a call with an empty key, so that a forgotten key is told as that (401), not as a wrong address.
 * @see RFC 9112 section 3.2 (origin form, and the absolute form that a server must take too)
 */
export const parsePath = (target: string): Path => {
  const path = pathOf(target)
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
