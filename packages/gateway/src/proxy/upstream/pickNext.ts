import type { CallScope, SendOptions } from './callScope.ts'
import { hasRoom } from './chooseUpstream.ts'
import { toPickOptions } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { mayConfirmNull, pickForNull } from './nullResults.ts'
import type { AttemptResult } from './readAttempt.ts'

/** Calls that were sent together, to one upstream after the other. */
export interface SentCalls {
  readonly calls: readonly ForwardedCall[]
  readonly scope: CallScope
  readonly options: SendOptions
  /** The upstreams that they were sent to, the same one twice if they were retried there. */
  readonly tried: readonly GroupMember[]
  /** The best end of each call so far, if an upstream has responded to it. */
  readonly ends: readonly (AttemptResult | undefined)[]
}

/**
 * Chooses the next upstream for calls that failed, or that should be confirmed because they are `null`, and those of them that it may have better
 * responses to.
 * @param places - The places of the calls.
 */
export const pickNext = (
  { calls, ends, tried, scope: { group, ownerId }, options: { only, neededHead: seenHead } }: SentCalls,
  places: readonly number[],
): { readonly member: GroupMember; readonly places: readonly number[] } | undefined => {
  if (only !== undefined || !group.several) return undefined
  const nulls: { readonly place: number; readonly call: ForwardedCall; readonly member: GroupMember }[] = []
  const failed: { readonly place: number; readonly call: ForwardedCall }[] = []
  for (const place of places) {
    const [call, end] = [calls[place], ends[place]]
    if (call === undefined) continue
    if (end?.kind === 'null') nulls.push({ place, call, member: end.member })
    else failed.push({ place, call })
  }
  const [first] = failed
  // A failed call can go to any upstream that offers its method, a `null` only to some.
  let other = first === undefined ? undefined : group.pick(toPickOptions([first.call], { tried, ownerId, seenHead }))
  if (first === undefined)
    for (const { call, member } of nulls) other ??= pickForNull(group, call, { member, tried, ownerId })
  if (other === undefined) return undefined
  const picked = other
  const next = [
    ...failed.filter(({ call }) => picked.capabilities.offers(call.method)),
    ...nulls.filter(({ call, member }) => mayConfirmNull(group, call, { member, other: picked })),
  ]
  const fits = hasRoom(picked, toPickOptions(next.map(({ call }) => call)))
  return fits ? { member: picked, places: next.map(({ place }) => place) } : undefined
}

/**
 * Gets room in a budget if `pickNext` found no upstream for calls of which one failed. A `null` is not worth the wait.
 * @param places - The places of the calls.
 * @returns Resolves to whether to pick again; `undefined`: nothing changes by waiting.
 */
export const drawNext = (
  { calls, ends, tried, scope: { group }, options: { only } }: SentCalls,
  places: readonly number[],
): Promise<boolean> | undefined => {
  if (only !== undefined || !group.several) return undefined
  if (places.every((place) => ends[place]?.kind === 'null')) return undefined
  return group.drawRoom(
    toPickOptions(
      places.flatMap((place) => calls[place] ?? []),
      { tried },
    ),
  )
}
