import fc from 'fast-check'
import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { toHex } from './hex.ts'
import { checksumAddress } from './checksumAddress.ts'

test('addresses in any case get the same checksum as with viem', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      const address = toHex(bytes)
      expect(checksumAddress(address)).toBe(getAddress(address))
      expect(checksumAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(getAddress(address))
      expect(checksumAddress(getAddress(address))).toBe(getAddress(address))
    }),
  )
})
