import { hash } from 'node:crypto'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { JwtPolicy } from './jwtPolicy.ts'
import { verifyJwt } from './verifyJwt.ts'
import type { JwtResult } from './verifyJwt.ts'

/** The app that a token is verified for. */
export interface JwtApp {
  readonly id: string
  /** Changes with the app's settings: a cached result is valid for one version only. */
  readonly version: number | string
  readonly jwt: JwtPolicy
}

/** Verifies tokens and caches the results. */
export interface JwtCache {
  /** Returns the cached result of a token, or `undefined`. */
  find(token: string, app: JwtApp): JwtResult | undefined
  /** Returns the cached result of a token, or verifies it. */
  verify(token: string | undefined, app: JwtApp): JwtResult
  /** The number of cached results. */
  readonly size: number
}

/** Options of `createJwtCache`. */
export interface JwtCacheOptions {
  /** Most results cached of each kind, valid and invalid; 2 or more. @default 10_000 */
  readonly maxResults?: number | undefined
  /** The longest that a result is cached, in milliseconds. @default 60_000 */
  readonly ttlMs?: number | undefined
  /** A clock in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

interface CachedResult {
  readonly result: JwtResult
  readonly sinceMs: number
}

/**
 * Creates a cache of verification results, so that a token costs one signature check per minute. Tokens are stored as their SHA-256. Valid
 * and invalid results are cached separately, so that invalid tokens evict only invalid ones.
 * @throws {TypeError} if `maxResults` is out of range.
 */
export const createJwtCache = (options: JwtCacheOptions = {}): JwtCache => {
  const { maxResults = 10_000, ttlMs = 60_000, now = Date.now } = options
  const valid = createRecentMap<CachedResult>(maxResults)
  const invalid = createRecentMap<CachedResult>(maxResults)
  // A clock that was set back also invalidates a result.
  const getFresh = (cached: CachedResult | undefined, nowMs: number): JwtResult | undefined =>
    cached !== undefined && nowMs >= cached.sinceMs && nowMs < Math.min(cached.sinceMs + ttlMs, cached.result.untilMs)
      ? cached.result
      : undefined
  const toCacheKey = (token: string, app: JwtApp): string =>
    JSON.stringify([hash('sha256', token, 'base64'), app.id, app.version])
  const findCached = (key: string, nowMs: number): JwtResult | undefined =>
    getFresh(valid.get(key), nowMs) ?? getFresh(invalid.get(key), nowMs)
  return {
    find: (token, app) => findCached(toCacheKey(token, app), now()),
    verify: (token, app) => {
      const nowMs = now()
      if (token === undefined) return verifyJwt(token, app.jwt, nowMs)
      const key = toCacheKey(token, app)
      const cached = findCached(key, nowMs)
      if (cached !== undefined) return cached
      const result = verifyJwt(token, app.jwt, nowMs)
      ;(result.ok ? valid : invalid).set(key, { result, sinceMs: nowMs })
      return result
    },
    get size() {
      return valid.size + invalid.size
    },
  }
}
