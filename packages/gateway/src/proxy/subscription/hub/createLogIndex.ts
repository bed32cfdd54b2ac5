import type { FollowedLog } from '../followedChain.ts'
import type { LogFilter } from './subscriptionRequest.ts'

/** Finds the filters that a log matches, in about the same time for ten filters and for ten thousand. */
export interface LogIndex<T extends object> {
  readonly add: (filter: LogFilter, target: T) => void
  /** @param filter - The one that the target was added with. */
  readonly remove: (filter: LogFilter, target: T) => void
  /** Calls `visit` once for each target whose filter the log matches. */
  readonly match: (log: MatchableLog, visit: (target: T) => void) => void
}

/** The part that a filter restricts: topic 0 to 3, or the address. */
interface Restriction {
  readonly field: Field
  readonly accepted: readonly string[]
}
type Field = 0 | 1 | 2 | 3 | 'address'

/** A filter in a shape. */
interface Entry<T> {
  readonly target: T
  /** How many topics a log must have. */
  readonly positions: number
  /** The fields that the shape does not restrict, with their accepted values. */
  readonly rest: readonly { readonly field: Field; readonly accepted: ReadonlySet<string> }[]
}

/** A branch for each value of a field; after the last field, the filters. */
type Branch<T> = Map<string, Branch<T>> | Entry<T>[]

/** The filters that are found by the values of the same fields. */
interface Shape<T> {
  readonly fields: readonly Field[]
  readonly root: Branch<T>
}

/** The most combinations of values by which one filter is found: each costs about 100 bytes. */
const maxPaths = 2_048

/** From few values to many: events, contracts, accounts. So there are few branches with a single value. */
const fieldOrder: readonly Field[] = [0, 'address', 1, 2, 3]

const getRestrictions = ({ addresses, topics }: LogFilter): readonly Restriction[] =>
  fieldOrder
    .map((field): Restriction => ({ field, accepted: (field === 'address' ? addresses : topics[field]) ?? [] }))
    .filter(({ accepted }) => accepted.length > 0)

/**
 * Chooses the fields by which a filter is found: all that it restricts, unless they have too many combinations. Then the longest list is preferred,
 * because a list of accounts says more than a list of events.
 */
const chooseFields = (restrictions: readonly Restriction[]): readonly Restriction[] => {
  const chosen = new Set<Restriction>()
  let paths = 1
  for (const restriction of restrictions.toSorted((a, b) => b.accepted.length - a.accepted.length)) {
    if (paths * restriction.accepted.length > maxPaths) continue
    paths *= restriction.accepted.length
    chosen.add(restriction)
  }
  return restrictions.filter((restriction) => chosen.has(restriction))
}

type MatchableLog = Pick<FollowedLog, 'address' | 'topics'>

const getField = ({ address, topics }: MatchableLog, field: Field): string | undefined =>
  field === 'address' ? address : topics[field]

/** Adds an entry below a branch, for every combination of values. @returns The branch. */
const addEntry = <T>(
  branch: Branch<T> | undefined,
  restrictions: readonly Restriction[],
  entry: Entry<T>,
): Branch<T> => {
  const [first, ...rest] = restrictions
  if (first === undefined) {
    if (!Array.isArray(branch)) return [entry]
    branch.push(entry)
    return branch
  }
  const values = branch instanceof Map ? branch : new Map<string, Branch<T>>()
  for (const value of first.accepted) values.set(value, addEntry(values.get(value), rest, entry))
  return values
}

/** Removes the entries of a target. @returns The branch, unless it is empty now. */
const removeTarget = <T>(
  branch: Branch<T> | undefined,
  restrictions: readonly Restriction[],
  target: T,
): Branch<T> | undefined => {
  if (branch === undefined) return undefined
  if (Array.isArray(branch)) {
    const index = branch.findIndex((entry) => entry.target === target)
    if (index >= 0) branch.splice(index, 1)
    return branch.length === 0 ? undefined : branch
  }
  const [first, ...rest] = restrictions
  for (const value of first?.accepted ?? []) {
    if (removeTarget(branch.get(value), rest, target) === undefined) branch.delete(value)
  }
  return branch.size === 0 ? undefined : branch
}

/** Creates an index without filters. */
export const createLogIndex = <T extends object>(): LogIndex<T> => {
  /** By their fields. */
  const shapes = new Map<string, Shape<T>>()

  return {
    add: (filter, target) => {
      const restrictions = getRestrictions(filter)
      const chosen = chooseFields(restrictions)
      const rest = restrictions
        .filter((restriction) => !chosen.includes(restriction))
        .map(({ field, accepted }) => ({ field, accepted: new Set(accepted) }))
      const fields = chosen.map(({ field }) => field)
      const root = addEntry(shapes.get(fields.join())?.root, chosen, { target, positions: filter.topics.length, rest })
      shapes.set(fields.join(), { fields, root })
    },
    remove: (filter, target) => {
      const chosen = chooseFields(getRestrictions(filter))
      const name = chosen.map(({ field }) => field).join()
      if (removeTarget(shapes.get(name)?.root, chosen, target) === undefined) shapes.delete(name)
    },
    match: (log, visit) => {
      for (const { fields, root } of shapes.values()) {
        const entries = findEntries(root, fields, log)
        if (entries === undefined) continue
        for (const { target, positions, rest } of entries) {
          if (log.topics.length < positions) continue
          if (rest.every(({ field, accepted }) => accepted.has(getField(log, field) ?? ''))) visit(target)
        }
      }
    },
  }
}

const findEntries = <T>(
  root: Branch<T>,
  fields: readonly Field[],
  log: MatchableLog,
): readonly Entry<T>[] | undefined => {
  let branch: Branch<T> | undefined = root
  for (const field of fields) {
    const value = getField(log, field)
    if (value === undefined || !(branch instanceof Map)) return undefined
    branch = branch.get(value)
  }
  return Array.isArray(branch) ? branch : undefined
}
