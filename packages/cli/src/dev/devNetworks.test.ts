import { expect, test } from 'vitest'
import { defaultNetworks, readDevNetworks } from './devNetworks.ts'

test('without the option, there are a test network and a main network', () => {
  expect(readDevNetworks(undefined)).toBe(defaultNetworks)
})

test('reads well-known networks by name or alias, and the default ones', () => {
  expect(readDevNetworks('ethereum, base-sepolia,testnet')).toMatchObject([
    { name: 'ethereum', chainId: 1, testnet: false },
    { name: 'base-sepolia', chainId: 84_532, testnet: true },
    { name: 'testnet', chainId: 0x74657374, testnet: true },
  ])
})

test('neighbors have histories of different length', () => {
  const [first, second] = readDevNetworks('ethereum,base')
  expect(first?.seedRounds).not.toBe(second?.seedRounds)
})

test.each([
  ['etherium', 'unknown network "etherium" in --networks', /did you mean ethereum/],
  ['ethereum,,base', 'unknown network "" in --networks', /Use names of well-known networks/],
  ['ethereum,ethereum-mainnet', '--networks has chain 1 twice: ethereum and ethereum-mainnet', /./],
  [Array.from({ length: 21 }, () => 'base').join(','), '--networks can have at most 20 names', /./],
])('rejects %s', (text, message, hint) => {
  expect(() => readDevNetworks(text)).toThrow(
    expect.objectContaining({
      message,
      exitCode: 2,
      hint: hint.source === '.' ? undefined : expect.stringMatching(hint),
    }),
  )
})
