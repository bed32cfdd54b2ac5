import { networkNames } from '../network.ts'
import type { Network } from '../network.ts'

/** What a request's target asks for. */
export type Path =
  | { readonly kind: 'call'; readonly network: Network; readonly variant: 'app' | 'apiKey'; readonly key: string }
  | { readonly kind: 'healthz' }
  | { readonly kind: 'readyz' }
  | { readonly kind: 'unknown' }

const unknown: Path = Object.freeze({ kind: 'unknown' })

/**
 * Reads a request's target: exactly `/{network}/v2/{key}`, `/{network}/{key}`, `/healthz` or `/readyz`. A query is ignored.
 * A network's path with no key on it is a call with an empty key, so that a forgotten key is told as that (401), not as a wrong address.
 * @see RFC 9112 section 3.2 (origin form, and the absolute form that a server must take too)
 */
export const parsePath = (target: string): Path => {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? ''
  if (path === '/healthz') return { kind: 'healthz' }
  if (path === '/readyz') return { kind: 'readyz' }
  const [root, first, second = '', third, ...more] = path.split('/')
  const network = networkNames.find((name) => name === first)
  if (root !== '' || network === undefined || more.length > 0) return unknown
  if (third === undefined) return { kind: 'call', network, variant: 'apiKey', key: second }
  return second === 'v2' ? { kind: 'call', network, variant: 'app', key: third } : unknown
}
