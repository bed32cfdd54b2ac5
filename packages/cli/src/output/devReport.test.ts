import { describe, expect, test } from 'vitest'
import type { FirstCalls } from '../dev/firstCalls.ts'
import { createDevState } from '../dev/devState.ts'
import { formatUrls, formatFirstCalls, formatNextSteps } from './devReport.ts'
import { coloured, plain } from './style.ts'

const hash = `0x${'ab'.repeat(32)}`
const block = { number: '0xa', hash }
const url = 'http://127.0.0.1:1'
const calls: FirstCalls = {
  nodes: [
    { network: 'testnet', url, block },
    { network: 'mainnet', url, block },
  ],
  calls: [
    { network: 'testnet', shape: 'app', library: 'one', label: `${url}/testnet/v2/…wxyz`, block, tookMs: 1.25 },
    {
      network: 'testnet',
      shape: 'app',
      library: 'two',
      label: `${url}/testnet/v2/…wxyz`,
      tookMs: 2,
      failure: 'timeout: late',
    },
    {
      network: 'mainnet',
      shape: 'API key',
      library: 'one',
      label: `${url}/mainnet/…wxyz`,
      block,
      tookMs: 3,
      failure: 'odd',
    },
  ],
  allMatch: false,
}

describe('formatFirstCalls', () => {
  test('sets each call under what the node itself says, and tells failures below', () => {
    expect(formatFirstCalls(calls, plain)).toEqual([
      `NETWORK  ASKED            BLOCK   ${'HASH'.padEnd(66)}  NODE SAYS  TIME`,
      `testnet  the node itself  10      ${hash}`,
      `testnet  app, one         10      ${hash}  the same   1.3 ms`,
      `testnet  app, two         failed  ${' '.repeat(66)}             2.0 ms`,
      `mainnet  the node itself  10      ${hash}`,
      `mainnet  API key, one     10      ${hash}  otherwise  3.0 ms`,
      'failed  testnet, app, two: timeout: late',
      'failed  mainnet, API key, one: odd',
    ])
  })

  test('shortens hashes on a terminal that is too narrow for them, and only there', () => {
    expect(formatFirstCalls(calls, coloured, 80).join('\n')).toContain('0xabababab…abababab')
    expect(formatFirstCalls(calls, coloured, 80).join('\n')).not.toContain(hash)
    expect(formatFirstCalls(calls, coloured, 140).join('\n')).toContain(hash)
  })
})

describe('formatUrls', () => {
  test('names each address once', () => {
    expect(formatUrls(calls, plain)).toEqual([
      'The addresses, each with its key masked:',
      `  testnet  app      ${url}/testnet/v2/…wxyz  chain 1952805748`,
      `  mainnet  API key  ${url}/mainnet/…wxyz     chain 1835100526`,
    ])
  })
})

describe('formatNextSteps', () => {
  test('names the dashboard and what logs in there, and holds no secret', () => {
    const { account, app, keys } = createDevState()
    const addresses = { testnet: url, mainnet: url }
    const report = formatNextSteps(
      {
        description: {
          url,
          dashboard: 'http://127.0.0.1:2',
          account,
          app: { ...app, addresses },
          keys: { testnet: { ...keys.testnet, address: url }, mainnet: { ...keys.mainnet, address: url } },
          nodes: addresses,
        },
        folder: { path: '/a', keyFiles: '/a/keys', passwordFile: '/a/password', temporary: false },
      },
      plain,
    )
    expect(report).toContain(
      `  Dashboard: http://127.0.0.1:2, log in as ${account.email} with the password in /a/password`,
    )
    expect(report.join('\n')).toContain('examples/latest-block-fetch/try.js')
    for (const secret of [account.password, app.apiKey, keys.testnet.apiKey, keys.mainnet.apiKey])
      expect(report.join('\n')).not.toContain(secret)
  })
})
