import type { Address } from '@keyrail/core'
import { lower } from './hex.ts'
import { keccakText } from './keccak.ts'

/**
 * Writes an address with its checksum, as viem, ethers and web3.js do.
 *
 * @param address - 20 bytes in hex after `0x`, in any case.
 * @see EIP-55
 */
export function checksumAddress(address: Address): Address {
  const digits = lower(address).slice(2)
  const hash = keccakText(digits)
  // A letter is a capital if the hash, which starts after `0x`, has a digit of 8 or more in its place.
  return `0x${digits.replace(/./g, (digit, at: number) => (hash.charAt(at + 2) > '7' ? digit.toUpperCase() : digit))}`
}
