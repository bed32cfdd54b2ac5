import { describe, expect, test } from 'vitest'
import type { FirstCalls } from '../dev/firstCalls.ts'
import { createDevState } from '../dev/devState.ts'
import { exampleToken } from '../node/exampleToken.ts'
import { fundedAccounts } from '../node/fundedAccounts.ts'
import {
  formatChainDetails,
  formatComparison,
  formatFirstCalls,
  formatFirstCommand,
  formatNextSteps,
  formatService,
  formatServing,
  formatUrls,
} from './devReport.ts'
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

/** A running service with the default networks. */
const createService = () => {
  const { account, app, keys } = createDevState()
  const urls = { testnet: url, mainnet: url }
  return {
    description: {
      url,
      dashboard: 'http://127.0.0.1:2',
      account,
      app: { ...app, urls, wsUrls: urls },
      keys: Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, { ...key, url, wsUrl: url }])),
      nodes: urls,
      chainIds: calls.chainIds,
      fundedAccounts,
      tokens: { testnet: exampleToken },
    },
    folder: { path: '/a', keyFiles: '/a/keys', passwordFile: '/a/password', temporary: false },
    logInLink: `${url}/log-in/link#krd_code`,
  }
}

describe('formatService', () => {
  const lines = (showKey: boolean) => {
    const service = createService()
    const text = formatService(service, { style: plain, envFile: '.keyrail/local.env', showKey }).join('\n')
    return { text, apiKey: service.description.app.apiKey }
  }

  test('says what to copy, with the key in full only on a terminal', () => {
    const shown = lines(true)
    expect(shown.text).toBe(
      [
        `  Dashboard  ${url}/log-in/link#krd_code`,
        '             logs in once; after that dev@keyrail.test, password in /a/password',
        `  Base URL   ${url}/testnet`,
        `  API key    ${shown.apiKey}`,
        '  Env file   .keyrail/local.env has both, for the examples',
      ].join('\n'),
    )
    const hidden = lines(false)
    expect(hidden.text).toContain(`  API key    …${hidden.apiKey.slice(-4)}, in full in /a/keys/app\n`)
    expect(hidden.text).not.toContain(hidden.apiKey.slice(0, 12))
  })

  test('a second start shows the URL and how to log in, because only the first process can create a link', () => {
    const { logInLink: _none, ...service } = createService()
    const [dashboard, account] = formatService(service, { style: plain, envFile: undefined, showKey: true })
    expect(dashboard).toBe('  Dashboard  http://127.0.0.1:2')
    expect(account).toBe('             log in as dev@keyrail.test, password in /a/password')
  })
})

describe('formatComparison', () => {
  test('has a row for each network and kind of key, and the failures', () => {
    expect(formatComparison(calls, plain)).toEqual([
      'NETWORK  KEY      BLOCK  HASH IN THE NODE     one      two',
      'testnet  app      10     0xabababab…abababab  matches  failed',
      'mainnet  API key  10     0xabababab…abababab  differs',
      'failed  testnet, app, two: timeout: late',
      'failed  mainnet, API key, one: odd',
    ])
  })
})

test('what keyrail dev prints fits on a screen of 24 lines of 100 columns', () => {
  const service = createService()
  const libraries = ['fetch', 'ethers', 'web3', 'viem'].map((name) => `@keyrail/${name}`)
  const all = calls.nodes.flatMap(({ network }) =>
    (['app', 'API key'] as const).flatMap((shape) =>
      libraries.map((library) => ({ network, shape, library, redactedUrl: url, block, tookMs: 1 })),
    ),
  )
  const lines = [
    // npm prints four lines before it.
    ...Array.from({ length: 4 }, () => ''),
    'the title',
    '',
    ...formatService(service, { style: plain, envFile: '.keyrail/local.env', showKey: true }),
    '',
    ...formatComparison({ ...calls, calls: all }, plain),
    '',
    ...formatFirstCommand(service, plain),
    '',
    ...formatServing({ style: plain, verbose: false, blockTime: 2 }),
  ]
  expect(lines.length).toBeLessThanOrEqual(24)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
})

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
    const service = createService()
    const { account, app, keys } = service.description
    const report = formatNextSteps(service, plain)
    expect(report).toContain(
      `  Open the dashboard at http://127.0.0.1:2 and log in as ${account.email} with the password in /a/password`,
    )
    expect(report.join('\n')).toContain('try.mjs')
    for (const secret of [account.password, app.apiKey, ...Object.values(keys).map(({ apiKey }) => apiKey)])
      expect(report.join('\n')).not.toContain(secret)
  })
})
