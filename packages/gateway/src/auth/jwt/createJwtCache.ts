import { hash } from 'node:crypto'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { JwtPolicy } from './jwtPolicy.ts'
import type { JwtResult } from './jwtResult.ts'
import { verifyJwt } from './verifyJwt.ts'

/** An app as tokens are judged for it. */
export interface JwtApp {
  readonly id: string
  /** Another one whenever the app's settings change: no verdict outlives its version. */
  readonly version: number | string
  readonly jwt: JwtPolicy
}

/** Judges tokens, and remembers what it found. */
export interface JwtCache {
  /** What was found of a token before; `undefined` where it must be looked at. */
  find(token: string, app: JwtApp): JwtResult | undefined
  judge(token: string | undefined, app: JwtApp): JwtResult
  /** How many verdicts are remembered now. */
  readonly size: number
}

/** What a verdict cache is made of. */
export interface JwtCacheOptions {
  /** Verdicts remembered of each kind, good and bad, 2 or more. @default 10_000 */
  readonly maxResults?: number | undefined
  /** The longest that a verdict is remembered, in milliseconds. @default 60_000 */
  readonly keepMs?: number | undefined
  /** A clock in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

interface Kept {
  readonly verdict: JwtResult
  readonly sinceMs: number
}

/**
 * Makes a cache of verdicts, so that a token costs one signature check a minute. Tokens are kept as their SHA-256. Good and bad verdicts have
 * places of their own: whoever sends rubbish crowds out rubbish only.
 * @throws {TypeError} where `maxResults` is out of its range.
 */
export const createJwtCache = (options: JwtCacheOptions = {}): JwtCache => {
  const { maxResults = 10_000, keepMs = 60_000, now = Date.now } = options
  const good = createRecentMap<Kept>(maxResults)
  const bad = createRecentMap<Kept>(maxResults)
  // Also a clock that was set back ends what was found by it.
  const fresh = (kept: Kept | undefined, nowMs: number): JwtResult | undefined =>
    kept !== undefined && nowMs >= kept.sinceMs && nowMs < Math.min(kept.sinceMs + keepMs, kept.verdict.untilMs)
      ? kept.verdict
      : undefined
  const keyOf = (token: string, app: JwtApp): string =>
    JSON.stringify([hash('sha256', token, 'base64'), app.id, app.version])
  const keptAt = (key: string, nowMs: number): JwtResult | undefined =>
    fresh(good.get(key), nowMs) ?? fresh(bad.get(key), nowMs)
  return {
    find: (token, app) => keptAt(keyOf(token, app), now()),
    judge: (token, app) => {
      const nowMs = now()
      if (token === undefined) return verifyJwt(token, app.jwt, nowMs)
      const key = keyOf(token, app)
      const kept = keptAt(key, nowMs)
      if (kept !== undefined) return kept
      const verdict = verifyJwt(token, app.jwt, nowMs)
      ;(verdict.ok ? good : bad).set(key, { verdict, sinceMs: nowMs })
      return verdict
    },
    get size() {
      return good.size + bad.size
    },
  }
}
