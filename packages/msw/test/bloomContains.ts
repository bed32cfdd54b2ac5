import { hexToBytes, keccak256 } from 'viem'
import type { Hex } from 'viem'

/** Whether a bloom filter has the three bits of an address or topic. Yellow Paper, section 4.3.1. */
export function bloomContains(bloom: Hex, hex: Hex): boolean {
  const bytes = hexToBytes(bloom)
  const hash = hexToBytes(keccak256(hex))
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] as number) << 8) + (hash[at + 1] as number)) % 2_048
    return ((bytes[255 - Math.floor(bit / 8)] as number) & (1 << (bit % 8))) !== 0
  })
}
