import { createHash } from 'node:crypto'
import type { Keccak256 } from '@keyrail/core'

/** Keccak-256 of nothing, by which a hash function is recognised. */
const OF_NOTHING = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/** Stands in for Keccak-256, which Node has not got: all that matters here is that client and server name a transaction alike. */
export const soakHash: Keccak256 = (hex) =>
  hex === '0x' ? OF_NOTHING : `0x${createHash('sha256').update(hex).digest('hex')}`
