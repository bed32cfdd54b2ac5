import { monotonicClock } from '../../lib/clock.ts'
import { toQuantityId } from '../../lib/rpc/quantity.ts'
import { randomBytes } from 'node:crypto'
import type { GroupMember } from './groupMember.ts'

/** A filter that a node created for a key. */
export interface Filter {
  readonly keyId: string
  /** The version of the key's settings when the filter was created. The current settings may allow less. */
  readonly keyVersion?: number | undefined
  readonly member: GroupMember
  /** The source text of the node's id. */
  readonly nodeId: string
}

/** The filters of one network's callers, under ids of the gateway: a node's ids count up, so another caller could guess them. */
export interface Filters {
  /** @returns The id for the caller, 127 random bits, and the filter that was evicted to make room, if any. */
  readonly add: (filter: Filter) => { readonly id: string; readonly dropped: Filter | undefined }
  /** Finds a filter by id; `undefined` if it belongs to another key or has expired. */
  readonly find: (id: string, keyId: string) => Filter | undefined
  readonly remove: (id: string) => void
  readonly size: () => number
}

/** Nodes drop unused filters after the same time. */
const expiryMs = 5 * 60_000
const maxFilters = 100_000

interface StoredFilter extends Filter {
  usedAt: number
}

/**
 * Creates the registry of filters.
 * @param options.maxPerKey - One more evicts the least recently used filter of the key.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createFilters = (options: { maxPerKey: number; now?: () => number }): Filters => {
  const { maxPerKey, now = monotonicClock() } = options
  /** In the order of their last use, as a map iterates in insertion order. */
  const filters = new Map<string, StoredFilter>()
  const idsByKey = new Map<string, Set<string>>()

  const remove = (id: string): StoredFilter | undefined => {
    const filter = filters.get(id)
    if (filter === undefined) return undefined
    filters.delete(id)
    const ids = idsByKey.get(filter.keyId)
    ids?.delete(id)
    if (ids?.size === 0) idsByKey.delete(filter.keyId)
    return filter
  }
  const sweep = (): void => {
    for (const [id, { usedAt }] of filters) {
      if (now() - usedAt < expiryMs && filters.size < maxFilters) return
      remove(id)
    }
  }

  return {
    add: (filter) => {
      sweep()
      const ids = idsByKey.get(filter.keyId) ?? new Set()
      const [oldest] = ids
      const dropped = ids.size >= maxPerKey && oldest !== undefined ? remove(oldest) : undefined
      const id = toQuantityId(randomBytes(16))
      filters.set(id, { ...filter, usedAt: now() })
      ids.add(id)
      idsByKey.set(filter.keyId, ids)
      return { id, dropped }
    },
    find: (id, keyId) => {
      const filter = filters.get(id)
      if (filter === undefined || filter.keyId !== keyId) return undefined
      if (now() - filter.usedAt >= expiryMs) {
        remove(id)
        return undefined
      }
      filter.usedAt = now()
      filters.delete(id)
      filters.set(id, filter)
      const ids = idsByKey.get(keyId)
      ids?.delete(id)
      ids?.add(id)
      return filter
    },
    remove: (id) => void remove(id),
    size: () => filters.size,
  }
}
