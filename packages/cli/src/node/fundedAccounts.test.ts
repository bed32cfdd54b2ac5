import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { fundedAccounts } from './fundedAccounts.ts'

test.each(fundedAccounts)('the private key of $address is its own', ({ address, privateKey }) => {
  expect(privateKeyToAccount(privateKey as `0x${string}`).address).toBe(address)
})
