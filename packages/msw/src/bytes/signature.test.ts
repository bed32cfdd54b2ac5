import fc from 'fast-check'
import { hexToBytes, recoverAddress as recoverByViem, serializeSignature, toHex as toHexByViem } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { keccak } from './keccak.ts'
import { privateKeyToAddress, recoverAddress, signHash } from './signature.ts'

const key = fc.uint8Array({ minLength: 31, maxLength: 31 }).map((bytes) => toHexByViem(new Uint8Array([1, ...bytes])))
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('the address of a key and the recovered signer equal those of viem', async () => {
  await fc.assert(
    fc.asyncProperty(key, hash, async (privateKey, signed) => {
      const { address } = privateKeyToAccount(privateKey)
      expect(privateKeyToAddress(privateKey)).toBe(address.toLowerCase())
      const { r, s, yParity } = await sign({ hash: toHexByViem(signed), privateKey })
      expect(recoverAddress(signed, { r: BigInt(r), s: BigInt(s), yParity: yParity as 0 | 1 })).toBe(
        address.toLowerCase(),
      )
    }),
    { numRuns: 25 },
  )
})

test('signatures are valid for viem', async () => {
  await fc.assert(
    fc.asyncProperty(key, hash, async (privateKey, signed) => {
      const { r, s, yParity } = signHash(signed, privateKey)
      const signature = serializeSignature({
        r: toHexByViem(r, { size: 32 }),
        s: toHexByViem(s, { size: 32 }),
        yParity,
      })
      const found = await recoverByViem({ hash: toHexByViem(signed), signature })
      expect(found.toLowerCase()).toBe(privateKeyToAddress(privateKey))
      expect(recoverAddress(signed, { r, s, yParity })).toBe(privateKeyToAddress(privateKey))
    }),
    { numRuns: 25 },
  )
})

test('an impossible signature is rejected', () => {
  const signed = keccak(new Uint8Array(1))
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const good = signHash(signed, `0x${'01'.repeat(32)}`)
  for (const bad of [{ r: 0n }, { r: order }, { s: 0n }, { s: order - good.s }, { r: 5n }, { yParity: 2 as 0 }]) {
    expect(() => recoverAddress(signed, { ...good, ...bad })).toThrow('invalid transaction v, r, s values')
  }
})

test('keccak equals that of viem', async () => {
  const { keccak256 } = await import('viem')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(keccak(bytes)).toEqual(hexToBytes(keccak256(bytes)))
    }),
  )
})
