import type { RateDecision, RateLimits } from '../rateLimit/rateDecision.ts'

/** What a request is charged to, with its current limits. */
export interface Quota {
  /** `user:usr_…` for all API keys of a user, `app:app_…` for an app. */
  readonly id: string
  /** Units per UTC day; `null`: no limit. */
  readonly perDay: number | null
  /** Units per UTC calendar month; `null`: no limit. */
  readonly perMonth: number | null
}

/** A chain that is below a head for so long, in milliseconds, has lost that block: a development chain was reset, or the chain was reorganized deeply. */
export const forgetHeadMs = 10_000

/** What the callers of a key have seen of a network. Instances share it, so that a caller sees nothing older at another instance. */
export interface CallerView {
  /** The newest block, and how long ago a node responded with it or a higher one. */
  readonly head?: { readonly block: number; readonly agoMs: number } | undefined
  /** The last write, by a random number, with the name of the node that took it. */
  readonly write?: { readonly id: number; readonly node: string; readonly agoMs: number } | undefined
}

/** The view of the callers of one key and network. */
export interface SharedView {
  /** The id of the key, and the network. */
  readonly id: string
  /** What the other instances do not know yet. */
  readonly news: CallerView | undefined
}

/** The calls of one request, and the limits that apply to them. */
export interface LimitRequest {
  /** The id of the key or app that has the rate; never the key itself. */
  readonly id: string
  /** `undefined`: no rate limit. */
  readonly rate: RateLimits | undefined
  /** `undefined`: no quota. */
  readonly quota: Quota | undefined
  /** How many calls the request has. Calls that other checks rejected count for the rate: checking costs too. */
  readonly calls: number
  /** How many calls passed all other checks: at most `calls`. They are the first ones that get a share of the limits. */
  readonly passed: number
  /** The weight of each call that passed, in units: whole numbers from 1. @default 1 each */
  readonly weights?: readonly number[] | undefined
  /** What to share with other instances in the same round trip. @default nothing */
  readonly view?: SharedView | undefined
}

/** A quota's decision on one request. */
export interface QuotaGrant {
  /** How many of the calls are granted: all, the first few of a batch, or none. */
  readonly granted: number
  /** The units that the granted calls were charged. */
  readonly charged: number
  /** The window that had too little left, if not all calls were granted. */
  readonly rejectedBy?: 'day' | 'month'
  /** The limit of the window that rejected, otherwise of the day, or of the month if the day has no limit. `null`: no limit. */
  readonly limit: number | null
  /** The rest of that window, as far as this instance knows. `null`: no limit. */
  readonly remaining: number | null
  /** When that window ends, in milliseconds since 1970. */
  readonly resetAtMs: number
  readonly quota: Quota
  /** The UTC day that the calls are charged to: `2026-11-21`. */
  readonly day: string
}

/** The grant of a request: the first `granted` of its calls may be sent. */
export interface LimitGrant {
  readonly granted: number
  /** `undefined`: the key has no rate limit. */
  readonly rate: RateDecision | undefined
  /** `undefined`: the key has no quota, or its rate left nothing to charge. */
  readonly quota: QuotaGrant | undefined
  /** What the callers of the key have seen, also at other instances; `undefined`: only this one knows. */
  readonly view?: CallerView | undefined
}

/** The usage of a window. */
export interface QuotaWindow {
  readonly used: number
  readonly limit: number | null
  /** When it ends, in milliseconds since 1970. */
  readonly resetAtMs: number
}

/** The usage of a quota's windows. */
export interface QuotaUsage {
  readonly day: QuotaWindow
  readonly month: QuotaWindow
}

/** Decides on rates and on daily and monthly quotas. `docs/service/guarantees.md` states the guarantees. */
export interface UsageLimits {
  /**
   * Charges the calls of one request to its rate and its quota. Call it once per request. A call that the rate rejects is not charged to the quota.
   * @returns A plain value if this process knows the decision, otherwise a promise. The promise rejects with a `StorageError` if the quota can neither
   * be read nor granted without it: a 503, never `quota_exceeded`.
   */
  take(request: LimitRequest): LimitGrant | Promise<LimitGrant>
  /**
   * Returns units of calls that no node received: at most as many as the grant was charged, and none once its day has ended.
   * @param units - A whole number.
   * @returns How many were returned.
   */
  giveBack(grant: QuotaGrant, units: number): number
  /**
   * Returns the decision on the next call of 1 unit without charging it, as far as this process knows. With it the gateway rejects a large body of
   * a key whose rate is used up before parsing it.
   */
  peek(id: string, rate: RateLimits): RateDecision
  /**
   * Shares the view of a key's callers now, without a request. `undefined`: there are no other instances.
   * @param quota - The one that the key's requests are charged to.
   * @returns `undefined` if the other instances cannot be reached; otherwise resolves once a request to another instance gets it, after a while in
   * any case, with what all of them share. Never rejects.
   */
  share?(quota: Quota, view: SharedView): Promise<CallerView | undefined> | undefined
  /** Returns the usage of a quota's windows. @throws {StorageError} */
  usage(quota: Quota): Promise<QuotaUsage>
  /** Writes all state that is only in memory, and rejects further requests. */
  close(): Promise<void>
}

/** Events of the limits. */
export type LimitsEvent =
  /** The store that decides on quotas is lost: only units that were handed out for this case are granted. */
  | { readonly event: 'quotaDegraded'; readonly state: 'started' }
  /** The store is back. `units` were granted without it, to this number of quotas. */
  | {
      readonly event: 'quotaDegraded'
      readonly state: 'ended'
      readonly quotas: number
      readonly units: number
      readonly durationMs: number
    }
  /** Units that were granted and could not be written before the process exited. */
  | { readonly event: 'quotaLost'; readonly units: number }
