import type { Address, Hash, Hex } from '@keyrail/core'

/** A balance, a nonce, code, or what a slot holds. */
export type StateValue = bigint | number | Hex

/** Where a value of the state is found. */
export const at = {
  balance: (address: Address): string => `b${address}`,
  nonce: (address: Address): string => `n${address}`,
  code: (address: Address): string => `c${address}`,
  slot: (address: Address, slot: Hash): string => `s${address}${slot}`,
} as const

/** What a value is where nothing was written. */
export function defaultOf(key: string): StateValue {
  if (key.startsWith('b')) return 0n
  if (key.startsWith('n')) return 0
  return key.startsWith('c') ? '0x' : `0x${'00'.repeat(32)}`
}

/** The state at every block: of each value, when it became what. */
export interface WorldState {
  /** The value as it is after a block. */
  readonly read: (key: string, block: number) => StateValue
  /** Writes at a block, which is the last one so far. */
  readonly write: (changes: ReadonlyMap<string, StateValue>, block: number) => void
  /** Forgets what was written after a block. */
  readonly rewind: (keys: Iterable<string>, block: number) => void
}

/** Keeps the state of a chain, block by block. */
export function createWorldState(): WorldState {
  const history = new Map<string, { readonly block: number; readonly value: StateValue }[]>()

  return {
    read(key, block) {
      const versions = history.get(key)
      if (versions === undefined) return defaultOf(key)
      // Asked for mostly at the last block, so the search begins at the end before it halves.
      let high = versions.length - 1
      if (high >= 0 && (versions[high] as { block: number }).block > block) {
        let low = -1
        while (high - low > 1) {
          const middle = (low + high) >> 1
          if ((versions[middle] as { block: number }).block > block) high = middle
          else low = middle
        }
        high = low
      }
      return versions[high]?.value ?? defaultOf(key)
    },
    write(changes, block) {
      for (const [key, value] of changes) {
        let versions = history.get(key)
        if (versions === undefined) history.set(key, (versions = []))
        if (versions.at(-1)?.block === block) versions.pop()
        versions.push({ block, value })
      }
    },
    rewind(keys, block) {
      for (const key of keys) {
        const versions = history.get(key)
        while (versions?.length && (versions.at(-1) as { block: number }).block > block) versions.pop()
        if (versions?.length === 0) history.delete(key)
      }
    },
  }
}
