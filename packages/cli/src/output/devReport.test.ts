import { describe, expect, test } from 'vitest'
import type { FirstCalls } from '../dev/firstCalls.ts'
import { createDevState } from '../dev/devState.ts'
import { exampleToken } from '../node/exampleToken.ts'
import { fundedAccounts } from '../node/fundedAccounts.ts'
import { formatChainDetails, formatUrls, formatFirstCalls, formatNextSteps } from './devReport.ts'
import { colored, plain } from './style.ts'

const hash = `0x${'ab'.repeat(32)}`
const block = { number: '0xa', hash }
const url = 'http://127.0.0.1:1'
const calls: FirstCalls = {
  chainIds: { testnet: 1952805748, mainnet: 1835100526 },
  nodes: [
    { network: 'testnet', url, block },
    { network: 'mainnet', url, block },
  ],
  calls: [
    { network: 'testnet', shape: 'app', library: 'one', redactedUrl: `${url}/testnet/v2/…wxyz`, block, tookMs: 1.25 },
    {
      network: 'testnet',
      shape: 'app',
      library: 'two',
      redactedUrl: `${url}/testnet/v2/…wxyz`,
      tookMs: 2,
      failure: 'timeout: late',
    },
    {
      network: 'mainnet',
      shape: 'API key',
      library: 'one',
      redactedUrl: `${url}/mainnet/…wxyz`,
      block,
      tookMs: 3,
      failure: 'odd',
    },
  ],
  allMatch: false,
}

describe('formatFirstCalls', () => {
  test('lists each call after the node, and failures at the end', () => {
    expect(formatFirstCalls(calls, plain)).toEqual([
      `NETWORK  CLIENT        BLOCK   ${'HASH'.padEnd(66)}  NODE     TIME`,
      `testnet  node          10      ${hash}`,
      `testnet  app, one      10      ${hash}  matches  1.3 ms`,
      `testnet  app, two      failed  ${' '.repeat(66)}           2.0 ms`,
      `mainnet  node          10      ${hash}`,
      `mainnet  API key, one  10      ${hash}  differs  3.0 ms`,
      'failed  testnet, app, two: timeout: late',
      'failed  mainnet, API key, one: odd',
    ])
  })

  test('shortens hashes only on a narrow terminal', () => {
    expect(formatFirstCalls(calls, colored, 80).join('\n')).toContain('0xabababab…abababab')
    expect(formatFirstCalls(calls, colored, 80).join('\n')).not.toContain(hash)
    expect(formatFirstCalls(calls, colored, 140).join('\n')).toContain(hash)
  })
})

describe('formatUrls', () => {
  test('lists each URL once', () => {
    expect(formatUrls(calls, plain)).toEqual([
      'URLs, with their keys masked:',
      `  testnet  app      ${url}/testnet/v2/…wxyz  chain 1952805748`,
      `  mainnet  API key  ${url}/mainnet/…wxyz     chain 1835100526`,
      'For WebSockets, the same URLs with ws:// in place of http://',
    ])
  })
})

describe('formatChainDetails', () => {
  test('lists the accounts with their keys, and the address of the token on each network', () => {
    const tokens = { testnet: exampleToken, base: { ...exampleToken, address: '0xother' } }
    const [account] = fundedAccounts
    expect(formatChainDetails({ fundedAccounts: fundedAccounts.slice(0, 1), tokens }, plain)).toEqual([
      'Funded accounts with 10,000 of the native currency on every network. The private keys are public: never use them on a real network.',
      `  ${account?.address}  ${account?.privateKey}`,
      '',
      'ERC-20 token Test Token (TEST, 18 decimals), owned by the first account, with transfers in several blocks',
      `  testnet  ${exampleToken.address}`,
      '  base     0xother',
    ])
  })
})

describe('formatNextSteps', () => {
  test('names the dashboard and its login, without any secret', () => {
    const { account, app, keys } = createDevState()
    const urls = { testnet: url, mainnet: url }
    const keyUrls = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, { ...key, url, wsUrl: url }]))
    const report = formatNextSteps(
      {
        description: {
          url,
          dashboard: 'http://127.0.0.1:2',
          account,
          app: { ...app, urls, wsUrls: urls },
          keys: keyUrls,
          nodes: urls,
          chainIds: calls.chainIds,
          fundedAccounts,
          tokens: { testnet: exampleToken },
        },
        folder: { path: '/a', keyFiles: '/a/keys', passwordFile: '/a/password', temporary: false },
      },
      plain,
    )
    expect(report).toContain(
      `  Open the dashboard at http://127.0.0.1:2 and log in as ${account.email} with the password in /a/password`,
    )
    expect(report.join('\n')).toContain('try.mjs')
    for (const secret of [account.password, app.apiKey, ...Object.values(keys).map(({ apiKey }) => apiKey)])
      expect(report.join('\n')).not.toContain(secret)
  })
})
