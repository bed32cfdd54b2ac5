/*
 * The requests that wait until the store that counts for all processes has decided. They are in groups, such as a quota or a shard of Redis. A group
 * has them in order of arrival. This file does no I/O and starts no timer: the limits call it at each tick.
 */

/** A request that waits. */
export interface Waiter<Request, Grant> {
  readonly request: Request
  /** When it started to wait, by the clock of the limits. */
  readonly since: number
  readonly resolve: (grant: Grant) => void
  readonly reject: (error: Error) => void
}

/** Requests that wait, by group. */
export interface WaitingRoom<Group, Each> {
  readonly groups: Map<Group, Set<Each>>
  /** Most requests that wait at once. */
  readonly maxWaiting: number
  /** How long a request waits, in milliseconds. */
  readonly patienceMs: number
  /** How many requests wait. */
  count: number
}

/** Creates an empty waiting room. */
export const createWaitingRoom = <Group, Each>(
  bounds: Pick<WaitingRoom<Group, Each>, 'maxWaiting' | 'patienceMs'>,
): WaitingRoom<Group, Each> => ({ ...bounds, groups: new Map(), count: 0 })

/** Whether one more request may wait. */
export const hasRoom = ({ count, maxWaiting }: Pick<WaitingRoom<never, never>, 'count' | 'maxWaiting'>): boolean =>
  count < maxWaiting

const nobody: ReadonlySet<never> = new Set<never>()

/** Returns the requests of a group, in order of arrival. */
export const getWaiting = <Group, Each>({ groups }: WaitingRoom<Group, Each>, group: Group): ReadonlySet<Each> =>
  groups.get(group) ?? nobody

/** Whether a request of a group waits. Others of the group then wait behind it. */
export const isAnyWaiting = <Group>({ count, groups }: WaitingRoom<Group, unknown>, group: Group): boolean =>
  count > 0 && groups.has(group)

/** Adds a request behind those of its group. */
export const addWaiter = <Group, Each>(room: WaitingRoom<Group, Each>, group: Group, waiter: Each): void => {
  const waiters = room.groups.get(group)
  if (waiters === undefined) room.groups.set(group, new Set([waiter]))
  else waiters.add(waiter)
  room.count += 1
}

/** Removes a request. @returns Whether it still waited. */
export const removeWaiter = <Group, Each>(room: WaitingRoom<Group, Each>, group: Group, waiter: Each): boolean => {
  const waiters = room.groups.get(group)
  if (waiters?.delete(waiter) !== true) return false
  if (waiters.size === 0) room.groups.delete(group)
  room.count -= 1
  return true
}

/** Returns the requests that have waited too long. */
export const listImpatient = <Group, Each extends { readonly since: number }>(
  { groups, patienceMs }: WaitingRoom<Group, Each>,
  now: number,
): readonly Each[] => {
  const impatient: Each[] = []
  for (const waiters of groups.values())
    for (const waiter of waiters) {
      // Those behind it have come later.
      if (now - waiter.since < patienceMs) break
      impatient.push(waiter)
    }
  return impatient
}

/** Removes and returns all requests, or those of one group. */
export const removeAllWaiters = <Group, Each>(room: WaitingRoom<Group, Each>, group?: Group): readonly Each[] => {
  const removed =
    group === undefined ? [...room.groups.values()].flatMap((each) => [...each]) : [...getWaiting(room, group)]
  if (group === undefined) room.groups.clear()
  else room.groups.delete(group)
  room.count -= removed.length
  return removed
}
