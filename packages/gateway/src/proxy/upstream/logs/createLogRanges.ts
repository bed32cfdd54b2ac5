import { monotonicClock } from '../../../lib/clock.ts'

/** How many blocks of logs each upstream accepts in one query, by the config, or as far as its errors have shown. */
export interface LogRanges<Member> {
  /** The most blocks of a query; `undefined` if no limit is known. */
  readonly get: (member: Member) => number | undefined
  readonly set: (member: Member, blocks: number) => void
}

/** A provider may raise its limit, and a wrong guess must not last. */
const expiryMs = 10 * 60_000

/**
 * Creates the memory of the upstreams' limits. A limit is forgotten after 10 minutes, and the next query then finds it again.
 * @param options.getLimit - The limit of an upstream by the config. @default not known
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createLogRanges = <Member>({
  getLimit = () => undefined,
  now = monotonicClock(),
}: { getLimit?: (member: Member) => number | undefined; now?: () => number } = {}): LogRanges<Member> => {
  const known = new Map<Member, { readonly blocks: number; readonly expiresAt: number }>()
  return {
    get: (member) => {
      const limit = known.get(member)
      return limit === undefined || now() >= limit.expiresAt ? getLimit(member) : limit.blocks
    },
    set: (member, blocks) => void known.set(member, { blocks, expiresAt: now() + expiryMs }),
  }
}
