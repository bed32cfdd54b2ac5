import { fromHex } from '../bytes/hex.ts'
import { keccak } from '../bytes/keccak.ts'
import type { LogEntry } from './logEntry.ts'

/** How many hashes of addresses and topics are remembered: most of them come again and again. */
const kept = 4_096
const bits = new Map<string, readonly [number, number, number]>()

/** The three bits that stand for an address or a topic. Yellow Paper, section 4.3.1. */
function bitsOf(hex: string): readonly [number, number, number] {
  let known = bits.get(hex)
  if (known === undefined) {
    const hash = keccak(fromHex(hex))
    const bit = (at: number): number => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2_047
    known = [bit(0), bit(2), bit(4)]
    if (bits.size >= kept) bits.clear()
    bits.set(hex, known)
  }
  return known
}

/** The bloom of logs: 256 bytes in which their addresses and topics leave a trace. */
export function bloomOf(logs: readonly LogEntry[]): Uint8Array {
  const bloom = new Uint8Array(256)
  const add = (hex: string): void => {
    for (const bit of bitsOf(hex)) bloom[255 - (bit >> 3)]! |= 1 << (bit & 7)
  }
  for (const { address, topics } of logs) {
    add(address)
    for (const topic of topics) add(topic)
  }
  return bloom
}

/** Whether a bloom may hold an address or a topic; where it says no, it does not. */
export function mayHold(bloom: Uint8Array, hex: string): boolean {
  return bitsOf(hex).every((bit) => ((bloom[255 - (bit >> 3)] as number) >> (bit & 7)) & 1)
}
