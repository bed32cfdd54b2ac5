import type { FollowedLog } from '../followedChain.ts'
import type { LogFilter } from './subscriptionRequest.ts'

/** A log as far as filters see it. */
export type MatchableLog = Pick<FollowedLog, 'address' | 'topics'>

/** Finds the filters that a log matches without comparing it with all of them. */
export interface LogIndex<T extends object> {
  readonly add: (filter: LogFilter, target: T) => void
  /** @param filter - The one that the target was added with. */
  readonly remove: (filter: LogFilter, target: T) => void
  /** Calls `visit` once for each target whose filter the log matches. It yields after each few comparisons. */
  readonly match: (log: MatchableLog, visit: (target: T) => void) => Generator<number, void>
  /** How many entries the index has. */
  readonly size: () => number
}

type Field = 'address' | 0 | 1 | 2 | 3

/** Of fields with as many values, the first one is used. Topic 0 comes last, because many filters share an event. */
const fields: readonly Field[] = ['address', 1, 2, 3, 0]
/** The comparisons between two yields. */
const comparisonsPerStep = 256
const noValues: readonly string[] = []
/** The value under which filters are found that match any log. */
const anyLog = ''

const getAccepted = ({ addresses, topics }: LogFilter, field: Field): readonly string[] =>
  field === 'address' ? addresses : (topics[field] ?? noValues)

const getValue = ({ address, topics }: MatchableLog, field: Field): string | undefined =>
  field === 'address' ? address : topics[field]

/** Whether a sorted list has a value. */
const has = (sorted: readonly string[], value: string): boolean => {
  let low = 0
  let high = sorted.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = sorted[middle] as string
    if (found === value) return true
    if (found < value) low = middle + 1
    else high = middle - 1
  }
  return false
}

/** Whether a log matches a filter, as in geth. */
export const matchesFilter = (filter: LogFilter, log: MatchableLog): boolean => {
  if (log.topics.length < filter.topics.length) return false
  for (const field of fields) {
    const accepted = getAccepted(filter, field)
    if (accepted.length > 0 && !has(accepted, getValue(log, field) ?? '')) return false
  }
  return true
}

/** The field by which a filter is found, and its values there. */
interface Place {
  readonly field: Field
  readonly values: readonly string[]
}

/**
 * Chooses the field by which a filter is found: the one with the fewest values, so that a filter costs few entries, whatever it has. A filter that
 * restricts nothing is found by any log.
 */
const choosePlace = (filter: LogFilter): Place => {
  let chosen: Place | undefined
  for (const field of fields) {
    const values = getAccepted(filter, field)
    if (values.length > 0 && (chosen === undefined || values.length < chosen.values.length)) chosen = { field, values }
  }
  return chosen ?? { field: 'address', values: [anyLog] }
}

/** The targets that are found by one value, with their filters. */
type Bucket<T> = Map<T, LogFilter>

/** Creates an index without filters. */
export const createLogIndex = <T extends object>(): LogIndex<T> => {
  const buckets = new Map<Field, Map<string, Bucket<T>>>(fields.map((field) => [field, new Map()]))
  let size = 0

  return {
    add: (filter, target) => {
      const { field, values } = choosePlace(filter)
      const byValue = buckets.get(field)
      for (const value of values) {
        const bucket = byValue?.get(value)
        if (bucket === undefined) byValue?.set(value, new Map([[target, filter]]))
        else bucket.set(target, filter)
      }
      size += values.length
    },
    remove: (filter, target) => {
      const { field, values } = choosePlace(filter)
      const byValue = buckets.get(field)
      for (const value of values) {
        const bucket = byValue?.get(value)
        if (bucket?.delete(target) !== true) continue
        size -= 1
        if (bucket.size === 0) byValue?.delete(value)
      }
    },
    *match(log, visit) {
      let comparisons = 0
      for (const field of fields) {
        const byValue = buckets.get(field)
        const value = getValue(log, field)
        for (const key of field === 'address' ? [anyLog, value] : [value]) {
          const bucket = key === undefined ? undefined : byValue?.get(key)
          if (bucket === undefined) continue
          for (const [target, filter] of bucket) {
            if (matchesFilter(filter, log)) visit(target)
            comparisons += 1
            if (comparisons % comparisonsPerStep === 0) yield 0
          }
        }
      }
    },
    size: () => size,
  }
}
