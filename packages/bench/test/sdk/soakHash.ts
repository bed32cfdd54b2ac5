import { createHash } from 'node:crypto'
import type { Keccak256 } from '@keyrail/core'

/** Keccak-256 of no bytes. Keyrail verifies hash functions with it. */
const EMPTY_HASH = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/** A substitute for Keccak-256, which Node lacks. Client and server only need the same hash for the same transaction. */
export const soakHash: Keccak256 = (hex) =>
  hex === '0x' ? EMPTY_HASH : `0x${createHash('sha256').update(hex).digest('hex')}`
