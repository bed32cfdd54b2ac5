import { keccak_256 } from '@noble/hashes/sha3.js'
import type { FollowedLog } from '../followedChain.ts'

const bloomBytes = 256

/**
 * Computes the bloom filter of logs.
 * @returns 256 bytes as hex in lower case: the `logsBloom` of a block with these logs.
 * @see Ethereum Yellow Paper, section 4.3.1
 */
export const createBloom = (logs: readonly FollowedLog[]): string => {
  const bloom = Buffer.alloc(bloomBytes)
  for (const entry of new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))) {
    const hash = keccak_256(Buffer.from(entry.slice(2), 'hex'))
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047
      const byte = bloomBytes - 1 - (bit >> 3)
      bloom[byte] = (bloom[byte] as number) | (1 << (bit & 7))
    }
  }
  return `0x${bloom.toString('hex')}`
}
