import type { FollowedLog } from '../followedChain.ts'
import type { LogFilter } from './subscriptionRequest.ts'

/** Finds the filters that a log matches, in about the same time for ten filters and for ten thousand. */
export interface LogIndex<T extends object> {
  readonly add: (filter: LogFilter, target: T) => void
  /** @param filter - The one that the target was added with. */
  readonly remove: (filter: LogFilter, target: T) => void
  /** Calls `visit` once for each target whose filter the log matches. */
  readonly match: (log: Pick<FollowedLog, 'address' | 'topics'>, visit: (target: T) => void) => void
}

/** What a filter restricts: the address is field 0, and the topics are fields 1 to 4. */
interface Restriction {
  readonly field: number
  readonly accepted: readonly string[]
}

/** A filter in a shape. */
interface Entry<T> {
  readonly target: T
  /** How many topics a log must have. */
  readonly positions: number
  /** What the shape does not restrict. */
  readonly rest: readonly { readonly field: number; readonly accepted: ReadonlySet<string> }[]
}

/** The filters that are found by the values of the same fields. */
interface Shape<T extends object> {
  readonly fields: readonly number[]
  /** By the values of the fields, one after another. */
  readonly entries: Map<string, Map<T, Entry<T>>>
}

/** The most keys of one filter, which costs about 100 bytes for each. */
const maxKeys = 2_048

const getRestrictions = ({ addresses, topics }: LogFilter): readonly Restriction[] =>
  [addresses, ...topics]
    .map((accepted, field): Restriction => ({ field, accepted }))
    .filter(({ accepted }) => accepted.length > 0)

/**
 * Chooses the fields by which a filter is found: all that it restricts, unless they have too many combinations. Fields with one value come first,
 * because they cost nothing; then the longest list, because a list of wallets says more than a list of events.
 */
const chooseFields = (restrictions: readonly Restriction[]): readonly Restriction[] => {
  let keys = 1
  return restrictions
    .toSorted((a, b) => b.accepted.length - a.accepted.length)
    .filter(({ accepted }) => {
      if (keys * accepted.length > maxKeys) return false
      keys *= accepted.length
      return true
    })
    .toSorted((a, b) => a.field - b.field)
}

const getField = ({ address, topics }: Pick<FollowedLog, 'address' | 'topics'>, field: number): string | undefined =>
  field === 0 ? address : topics[field - 1]

/** Creates an index without filters. */
export const createLogIndex = <T extends object>(): LogIndex<T> => {
  /** By their fields. */
  const shapes = new Map<string, Shape<T>>()

  const plan = (filter: LogFilter) => {
    const restrictions = getRestrictions(filter)
    const chosen = chooseFields(restrictions)
    const keys = chosen.reduce<readonly string[]>(
      (all, { accepted }) => all.flatMap((start) => accepted.map((value) => start + value)),
      [''],
    )
    return { keys, fields: chosen.map(({ field }) => field), rest: restrictions.filter((one) => !chosen.includes(one)) }
  }
  return {
    add: (filter, target) => {
      const { keys, fields, rest } = plan(filter)
      const entry: Entry<T> = {
        target,
        positions: filter.topics.length,
        rest: rest.map(({ field, accepted }) => ({ field, accepted: new Set(accepted) })),
      }
      const name = fields.join()
      const shape = shapes.get(name) ?? { fields, entries: new Map() }
      shapes.set(name, shape)
      for (const key of keys) {
        const entries = shape.entries.get(key)
        if (entries === undefined) shape.entries.set(key, new Map([[target, entry]]))
        else entries.set(target, entry)
      }
    },
    remove: (filter, target) => {
      const { keys, fields } = plan(filter)
      const name = fields.join()
      const shape = shapes.get(name)
      if (shape === undefined) return
      for (const key of keys) {
        const entries = shape.entries.get(key)
        if (entries?.delete(target) === true && entries.size === 0) shape.entries.delete(key)
      }
      if (shape.entries.size === 0) shapes.delete(name)
    },
    match: (log, visit) => {
      for (const { fields, entries } of shapes.values()) {
        const found = entries.get(toKey(log, fields))
        if (found === undefined) continue
        for (const { target, positions, rest } of found.values()) {
          if (log.topics.length < positions) continue
          if (rest.every(({ field, accepted }) => accepted.has(getField(log, field) ?? ''))) visit(target)
        }
      }
    },
  }
}

/** A log that lacks a topic gets a key that no filter has, because it is shorter. */
const toKey = (log: Pick<FollowedLog, 'address' | 'topics'>, fields: readonly number[]): string => {
  let key = ''
  for (const field of fields) key += getField(log, field) ?? ''
  return key
}
