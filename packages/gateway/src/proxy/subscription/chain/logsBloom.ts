import { keccak_256 } from '@noble/hashes/sha3.js'
import type { FollowedLog } from '../followedChain.ts'

/** How many bytes a bloom filter has. */
export const bloomBytes = 256
/** A block can have thousands of different entries, each of which takes some microseconds: other work is done in between. */
const entriesPerTurn = 200

/**
 * Computes the bloom filter of logs.
 * @returns 256 bytes as hex in lower case: the `logsBloom` of a block with these logs.
 * @see Ethereum Yellow Paper, section 4.3.1
 */
export const createBloom = async (logs: readonly FollowedLog[]): Promise<string> => {
  const bloom = Buffer.alloc(bloomBytes)
  let entries = 0
  for (const entry of new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))) {
    entries += 1
    if (entries % entriesPerTurn === 0)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    addToBloom(bloom, entry)
  }
  return toBloomHex(bloom)
}

/** Sets the bits of an address or a topic. @param entry - Hex. */
export const addToBloom = (bloom: Buffer, entry: string): void => {
  const hash = keccak_256(Buffer.from(entry.slice(2), 'hex'))
  for (const at of [0, 2, 4]) {
    const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047
    const byte = bloomBytes - 1 - (bit >> 3)
    bloom[byte] = (bloom[byte] as number) | (1 << (bit & 7))
  }
}

/** Gets a bloom filter as it is in a block. */
export const toBloomHex = (bloom: Buffer): string => `0x${bloom.toString('hex')}`
