import type { Address, Hash, Hex } from '@keyrail/core'

/** A balance, a nonce, code, or what a slot holds. */
export type StateValue = bigint | number | Hex

const most = 4_096
const keys = new Map<string, { readonly balance: string; readonly nonce: string; readonly code: string }>()

/** The keys of an account, made once: each transaction goes by them many times. */
function keysOf(address: Address): { readonly balance: string; readonly nonce: string; readonly code: string } {
  let known = keys.get(address)
  if (known === undefined) {
    known = { balance: `b${address}`, nonce: `n${address}`, code: `c${address}` }
    if (keys.size >= most) keys.clear()
    keys.set(address, known)
  }
  return known
}

/** Where a value of the state is found. */
export const at = {
  balance: (address: Address): string => keysOf(address).balance,
  nonce: (address: Address): string => keysOf(address).nonce,
  code: (address: Address): string => keysOf(address).code,
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
