import { monotonicClock } from '../../../lib/clock.ts'

/** How many blocks of logs each upstream accepts in one query, as far as its errors have shown. */
export interface LogRanges<Member> {
  /** The most blocks of a query; `undefined` if no limit is known. */
  readonly get: (member: Member) => number | undefined
  readonly set: (member: Member, blocks: number) => void
}

/** A provider may raise its limit, and a wrong guess must not last. */
const expiryMs = 10 * 60_000

/**
 * Creates the memory of the upstreams' limits. A limit is forgotten after 10 minutes, and the next query then finds it again.
 * @param now - A monotonic clock in milliseconds. @default performance.now
 */
export const createLogRanges = <Member>(now: () => number = monotonicClock()): LogRanges<Member> => {
  const known = new Map<Member, { readonly blocks: number; readonly expiresAt: number }>()
  return {
    get: (member) => {
      const limit = known.get(member)
      return limit === undefined || now() >= limit.expiresAt ? undefined : limit.blocks
    },
    set: (member, blocks) => void known.set(member, { blocks, expiresAt: now() + expiryMs }),
  }
}
