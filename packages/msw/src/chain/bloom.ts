import { fromHex } from '../bytes/hex.ts'
import { keccak } from '../bytes/keccak.ts'
import type { LogEntry } from './logEntry.ts'

/** The size of the cache of hashed addresses and topics. Most of them repeat. */
const maxCached = 4_096
const bits = new Map<string, readonly [number, number, number]>()

/** The three bloom bits of an address or a topic. Yellow Paper, section 4.3.1. */
function getBits(hex: string): readonly [number, number, number] {
  let known = bits.get(hex)
  if (known === undefined) {
    const hash = keccak(fromHex(hex))
    const bit = (at: number): number => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2_047
    known = [bit(0), bit(2), bit(4)]
    if (bits.size >= maxCached) bits.clear()
    bits.set(hex, known)
  }
  return known
}

/** The bloom filter of the addresses and topics of logs: 256 bytes. */
export function createBloom(logs: readonly LogEntry[]): Uint8Array {
  const bloom = new Uint8Array(256)
  const add = (hex: string): void => {
    for (const bit of getBits(hex)) bloom[255 - (bit >> 3)]! |= 1 << (bit & 7)
  }
  for (const { address, topics } of logs) {
    add(address)
    for (const topic of topics) add(topic)
  }
  return bloom
}

/** Whether a bloom filter may contain an address or a topic. False is certain, true is not. */
export function mayContain(bloom: Uint8Array, hex: string): boolean {
  return getBits(hex).every((bit) => ((bloom[255 - (bit >> 3)] as number) >> (bit & 7)) & 1)
}
