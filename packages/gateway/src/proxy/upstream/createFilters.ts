import { monotonicClock } from '../../lib/clock.ts'
import { randomBytes } from 'node:crypto'
import type { GroupMember } from './groupMember.ts'

/** A filter that a node made for a key. */
export interface Filter {
  readonly keyId: string
  /** Of the settings that it was made under: what they allow may be less by now. */
  readonly keyVersion?: number | undefined
  readonly member: GroupMember
  /** The source text of the node's own id. */
  readonly nodeId: string
}

/** The filters of one network's callers, under ids of our own: a node's ids count up, so a stranger could guess them. */
export interface Filters {
  /** @returns The id to hand out, 128 random bits, and the filter that had to make room for it. */
  readonly add: (filter: Filter) => { readonly id: string; readonly dropped: Filter | undefined }
  /** The filter of this id, where it is this key's and was used lately. */
  readonly find: (id: string, keyId: string) => Filter | undefined
  readonly remove: (id: string) => void
  readonly size: () => number
}

/** As long as nodes keep one that nobody reads. */
const expiresMs = 5 * 60_000
const maxOfAll = 100_000
const idBytes = 16

interface Held extends Filter {
  usedAt: number
}

/**
 * Makes the book of filters.
 * @param options.maxPerKey - The one unused for longest makes room for one more.
 * @param options.now - Milliseconds of a clock that never goes back. @default performance.now
 */
export const createFilters = (options: { maxPerKey: number; now?: () => number }): Filters => {
  const { maxPerKey, now = monotonicClock() } = options
  /** In the order of their last use, since a map keeps the order in which entries came. */
  const held = new Map<string, Held>()
  const idsOf = new Map<string, Set<string>>()

  const remove = (id: string): Held | undefined => {
    const filter = held.get(id)
    if (filter === undefined) return undefined
    held.delete(id)
    const ids = idsOf.get(filter.keyId)
    ids?.delete(id)
    if (ids?.size === 0) idsOf.delete(filter.keyId)
    return filter
  }
  const sweep = (): void => {
    for (const [id, { usedAt }] of held) {
      if (now() - usedAt < expiresMs && held.size < maxOfAll) return
      remove(id)
    }
  }

  return {
    add: (filter) => {
      sweep()
      const ids = idsOf.get(filter.keyId) ?? new Set()
      const [oldest] = ids
      const dropped = ids.size >= maxPerKey && oldest !== undefined ? remove(oldest) : undefined
      const id = `0x${randomBytes(idBytes).toString('hex')}`
      held.set(id, { ...filter, usedAt: now() })
      ids.add(id)
      idsOf.set(filter.keyId, ids)
      return { id, dropped }
    },
    find: (id, keyId) => {
      const filter = held.get(id)
      if (filter === undefined || filter.keyId !== keyId) return undefined
      if (now() - filter.usedAt >= expiresMs) {
        remove(id)
        return undefined
      }
      filter.usedAt = now()
      held.delete(id)
      held.set(id, filter)
      const ids = idsOf.get(keyId)
      ids?.delete(id)
      ids?.add(id)
      return filter
    },
    remove: (id) => void remove(id),
    size: () => held.size,
  }
}
