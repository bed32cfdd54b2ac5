import type { FollowedLog } from '../followedChain.ts'
import type { SubscriptionFilter } from './subscriptionRequest.ts'

/** A log as far as filters see it. */
export type MatchableLog = Pick<FollowedLog, 'address' | 'topics'>

/** Finds the filters that a log matches without comparing it with all of them. */
export interface LogIndex<T extends object> {
  readonly add: (filter: SubscriptionFilter, target: T) => void
  /** @param filter - The one that the target was added with. */
  readonly remove: (filter: SubscriptionFilter, target: T) => void
  /** Calls `visit` once for each target whose filter the log matches. It yields after each few comparisons. */
  readonly match: (log: MatchableLog, visit: (target: T) => void) => Generator<number, void>
}

type Field = 'address' | 0 | 1 | 2 | 3

/** Of fields with as many values, the first one is used. Topic 0 comes last, because many filters share an event. */
const fields: readonly Field[] = ['address', 1, 2, 3, 0]
/** The comparisons between two yields. */
const comparisonsPerStep = 256
const noValues: readonly string[] = []
/** The value under which filters are found that match any log. */
const anyLog = ''

const getAccepted = ({ addresses, topics }: SubscriptionFilter, field: Field): readonly string[] =>
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
export const matchesFilter = (filter: SubscriptionFilter, log: MatchableLog): boolean => {
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
 * Chooses the field by which a filter is found: the one with the fewest values, so that each filter has few entries. A filter that
 * restricts nothing is found by any log.
 */
const choosePlace = (filter: SubscriptionFilter): Place => {
  let chosen: Place | undefined
  for (const field of fields) {
    const values = getAccepted(filter, field)
    if (values.length > 0 && (chosen === undefined || values.length < chosen.values.length)) chosen = { field, values }
  }
  return chosen ?? { field: 'address', values: [anyLog] }
}

type Targets<T> = Map<T, SubscriptionFilter>

/** The targets that are found by one value. Once they are many, those that have a single value in another field are found by that, too. */
interface Bucket<T> {
  readonly targets: Targets<T>
  parts: Map<Field, Map<string, Targets<T>>> | undefined
}

/** From how many targets on a bucket is divided. */
const dividedFrom = 32

/** Gets the part of a divided bucket that a filter belongs to, or all of the bucket. */
const getPart = <T>({ targets, parts }: Bucket<T>, filter: SubscriptionFilter, place: Field): Targets<T> => {
  const field = parts && fields.find((other) => other !== place && getAccepted(filter, other).length === 1)
  if (parts === undefined || field === undefined) return targets
  const value = getAccepted(filter, field)[0] as string
  let byValue = parts.get(field)
  if (byValue === undefined) parts.set(field, (byValue = new Map()))
  let part = byValue.get(value)
  if (part === undefined) byValue.set(value, (part = new Map()))
  return part
}

const addTo = <T>(
  bucket: Bucket<T>,
  { filter, target, place }: { filter: SubscriptionFilter; target: T; place: Field },
): void => {
  if (bucket.parts === undefined && bucket.targets.size >= dividedFrom) {
    bucket.parts = new Map()
    const before = [...bucket.targets]
    bucket.targets.clear()
    for (const [one, its] of before) getPart(bucket, its, place).set(one, its)
  }
  getPart(bucket, filter, place).set(target, filter)
}

const removeFrom = <T>(
  bucket: Bucket<T>,
  { filter, target, place }: { filter: SubscriptionFilter; target: T; place: Field },
): void => {
  const part = getPart(bucket, filter, place)
  part.delete(target)
  if (part.size > 0 || part === bucket.targets) return
  for (const [field, byValue] of bucket.parts ?? []) {
    const [value] = getAccepted(filter, field)
    if (value !== undefined && byValue.get(value) === part) byValue.delete(value)
    if (byValue.size === 0) bucket.parts?.delete(field)
  }
}

const isEmpty = <T>({ targets, parts }: Bucket<T>): boolean => targets.size === 0 && (parts?.size ?? 0) === 0

/** Creates an index without filters. */
export const createLogIndex = <T extends object>(): LogIndex<T> => {
  const buckets = new Map<Field, Map<string, Bucket<T>>>(fields.map((field) => [field, new Map()]))

  /** Finds the lists that have all targets that a log can match. */
  function* find(log: MatchableLog): Generator<Targets<T>, void> {
    for (const [field, byValue] of buckets) {
      const value = getValue(log, field)
      for (const key of field === 'address' ? [anyLog, value] : [value]) {
        const bucket = key === undefined ? undefined : byValue.get(key)
        if (bucket === undefined) continue
        yield bucket.targets
        for (const [other, parts] of bucket.parts ?? []) {
          const part = parts.get(getValue(log, other) ?? '')
          if (part !== undefined) yield part
        }
      }
    }
  }
  return {
    add: (filter, target) => {
      const { field, values } = choosePlace(filter)
      const byValue = buckets.get(field) as Map<string, Bucket<T>>
      for (const value of values) {
        let bucket = byValue.get(value)
        if (bucket === undefined) byValue.set(value, (bucket = { targets: new Map(), parts: undefined }))
        addTo(bucket, { filter, target, place: field })
      }
    },
    remove: (filter, target) => {
      const { field, values } = choosePlace(filter)
      const byValue = buckets.get(field) as Map<string, Bucket<T>>
      for (const value of values) {
        const bucket = byValue.get(value)
        if (bucket === undefined) continue
        removeFrom(bucket, { filter, target, place: field })
        if (isEmpty(bucket)) byValue.delete(value)
      }
    },
    *match(log, visit) {
      let comparisons = 0
      for (const targets of find(log)) {
        for (const [target, filter] of targets) {
          if (matchesFilter(filter, log)) visit(target)
          comparisons += 1
          if (comparisons % comparisonsPerStep === 0) yield 0
        }
      }
    },
  }
}
