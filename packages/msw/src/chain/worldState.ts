import type { Address, Hash, Hex } from '@keyrail/core'

/** A balance, a nonce, code, or the value of a storage slot. */
export type StateValue = bigint | number | Hex

const maxCached = 4_096
const keys = new Map<string, { readonly balance: string; readonly nonce: string; readonly code: string }>()

/** The keys of an account. Cached, because each transaction uses them many times. */
function accountKeys(address: Address): { readonly balance: string; readonly nonce: string; readonly code: string } {
  let known = keys.get(address)
  if (known === undefined) {
    known = { balance: `b${address}`, nonce: `n${address}`, code: `c${address}` }
    if (keys.size >= maxCached) keys.clear()
    keys.set(address, known)
  }
  return known
}

/** The keys of the values of the state. */
export const stateKey = {
  balance: (address: Address): string => accountKeys(address).balance,
  nonce: (address: Address): string => accountKeys(address).nonce,
  code: (address: Address): string => accountKeys(address).code,
  slot: (address: Address, slot: Hash): string => `s${address}${slot}`,
} as const

/** The value of a key that was never written. */
export function defaultValue(key: string): StateValue {
  if (key.startsWith('b')) return 0n
  if (key.startsWith('n')) return 0
  return key.startsWith('c') ? '0x' : `0x${'00'.repeat(32)}`
}

/** The state after every block: each value with its history. */
export interface WorldState {
  /** The value after a block. */
  readonly read: (key: string, block: number) => StateValue
  /** Writes the changes of the latest block. */
  readonly write: (changes: ReadonlyMap<string, StateValue>, block: number) => void
  /** Removes what was written after a block. */
  readonly rewind: (keys: Iterable<string>, block: number) => void
}

/** Stores the state of a chain with its history. */
export function createWorldState(): WorldState {
  const history = new Map<string, { readonly block: number; readonly value: StateValue }[]>()

  return {
    read(key, block) {
      const versions = history.get(key)
      if (versions === undefined) return defaultValue(key)
      // Most reads are at the latest block, so check that before the binary search.
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
      return versions[high]?.value ?? defaultValue(key)
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
