import { keccak256, parseGwei } from 'viem'
import type { Hex, TransactionSerializable } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { toHex } from '../bytes/hex.ts'
import { decodeRawTransaction } from './decodeTransaction.ts'
import { signTransaction } from './encodeTransaction.ts'

const account = privateKeyToAccount(generatePrivateKey())
const to: Hex = `0x${'ab'.repeat(20)}`
const slot: Hex = `0x01${'cd'.repeat(31)}`
const accessList = [{ address: to, storageKeys: [slot, slot] }]
const fees = { maxFeePerGas: parseGwei('3'), maxPriorityFeePerGas: 7n }
const common = { to, nonce: 300, gas: 90_000n, value: 2n ** 70n, data: '0x0011' as Hex }

const forms: readonly (readonly [string, TransactionSerializable])[] = [
  ['legacy', { ...common, type: 'legacy', gasPrice: 5n, chainId: 31_337 }],
  ['legacy for every chain', { ...common, type: 'legacy', gasPrice: 5n }],
  ['access list', { ...common, type: 'eip2930', gasPrice: 5n, chainId: 1, accessList }],
  ['dynamic fee', { ...common, type: 'eip1559', chainId: 1, accessList, ...fees }],
  ['the creation of a contract', { ...common, to: undefined, type: 'eip1559', chainId: 1, ...fees }],
  ['zeros', { to, nonce: 0, gas: 21_000n, value: 0n, type: 'eip1559', chainId: 1, maxFeePerGas: 0n }],
  ['blobs', { ...common, type: 'eip4844', chainId: 1, ...fees, maxFeePerBlobGas: 9n, blobVersionedHashes: [slot] }],
]

describe('a transaction that viem has signed', () => {
  test.each(forms)('%s', async (_, form) => {
    const raw = await account.signTransaction(form as never)
    const tx = decodeRawTransaction(raw)
    expect(tx.from).toBe(account.address.toLowerCase())
    expect(tx.hash).toBe(keccak256(raw))
    expect(toHex(tx.raw)).toBe(raw)
    expect(tx).toMatchObject({
      nonce: form.nonce,
      gas: Number(form.gas),
      value: form.value,
      to: form.to ?? null,
      input: form.data ?? '0x',
      chainId: form.chainId === undefined ? undefined : BigInt(form.chainId),
      accessList: form.accessList ?? [],
      maxFee: form.gasPrice ?? form.maxFeePerGas,
      maxTip: form.gasPrice ?? form.maxPriorityFeePerGas ?? 0n,
      blobHashes: form.blobVersionedHashes ?? [],
    })
  })

  test('set code, with its authorizations', async () => {
    const authorization = await account.signAuthorization({ contractAddress: to, chainId: 1, nonce: 4 })
    const raw = await account.signTransaction({
      ...common,
      type: 'eip7702',
      chainId: 1,
      ...fees,
      authorizationList: [authorization],
    })
    const tx = decodeRawTransaction(raw)
    expect(tx.hash).toBe(keccak256(raw))
    expect(tx.from).toBe(account.address.toLowerCase())
    expect(tx.authorizations).toMatchObject([{ address: to, chainId: '0x1', nonce: '0x4' }])
  })

  test('is the same if the node signs it', async () => {
    for (const [name, form] of forms.slice(0, 5)) {
      const tx = decodeRawTransaction(await account.signTransaction(form as never))
      const own = signTransaction(tx, `0x${'01'.repeat(32)}`)
      expect(decodeRawTransaction(toHex(own.raw)), name).toEqual(own)
    }
  })
})

test('blobs are dropped, and the hash is that of the transaction without them', async () => {
  const raw = await account.signTransaction(forms[6]?.[1] as never)
  const { toRlp, fromRlp } = await import('viem')
  const parts = fromRlp(`0x${raw.slice(4)}`, 'hex')
  const sent = `0x03${toRlp([parts, ['0x01'], ['0x02'], ['0x03']] as never).slice(2)}` as Hex
  expect(decodeRawTransaction(sent).hash).toBe(keccak256(raw))
})

describe('an invalid transaction is rejected', () => {
  test.each([
    ['nothing', '0x', 'transaction type not supported'],
    ['another type', '0x05c0', 'transaction type not supported'],
    ['no list', '0x0201', 'expected List'],
    ['a short list', '0x02c101', 'too few elements'],
    ['cut off', '0x02f8', 'larger than containing list'],
  ])('%s', (_, raw, message) => {
    expect(() => decodeRawTransaction(raw as Hex)).toThrow(message)
  })

  test('a signature that is malleable', async () => {
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const tx = decodeRawTransaction(await account.signTransaction(forms[3]?.[1] as never))
    const { envelope, unsignedParts } = await import('./encodeTransaction.ts')
    const { toIntegerBytes: integerBytes } = await import('../bytes/hex.ts')
    const parts = [...unsignedParts(tx), integerBytes(1 - tx.yParity), integerBytes(tx.r), integerBytes(order - tx.s)]
    expect(() => decodeRawTransaction(toHex(envelope(2, parts)))).toThrow('invalid transaction v, r, s values')
  })
})
