import { describe, expect, test } from 'vitest'
import { snippet } from './snippet.ts'
import { snippetLanguages } from './snippetLibraries.ts'
import { snippetMethods } from './snippetMethods.ts'
import type { SnippetOptions } from './snippetOptions.ts'

const address = { baseUrl: 'https://node.example/testnet' }
const libraries = snippetLanguages.flatMap((language) => language.libraries)

test('by default: the latest block, in TypeScript, with viem', () => {
  expect(snippet({ address })).toEqual({
    text: `import { createPublicClient, http } from 'viem'

const { KEYRAIL_BASE_URL, KEYRAIL_API_KEY } = process.env
if (!KEYRAIL_BASE_URL || !KEYRAIL_API_KEY) throw new Error('Set KEYRAIL_BASE_URL and KEYRAIL_API_KEY')
const transport = http(\`\${KEYRAIL_BASE_URL}/v2/\${KEYRAIL_API_KEY}\`)
const client = createPublicClient({ transport })

const block = await client.getBlock()
console.log(\`Block \${block.number} is \${block.hash}\`)
`,
    fileName: 'latest-block.mts',
    install: 'npm install viem@2',
    run: 'node --env-file=.env latest-block.mts',
    needs: 'Node 22.18 or later',
    environment: [
      { name: 'KEYRAIL_BASE_URL', what: 'the URL without the key', value: 'https://node.example/testnet' },
      { name: 'KEYRAIL_API_KEY', what: 'the API key' },
    ],
  })
})

test.each(['viem', 'ethers', 'web3', 'fetch'] as const)(
  'the command of a %s program names the Node that can run it: an older one cannot strip types, or load the packages',
  (library) => {
    const needs = library === 'viem' ? 'Node 22.18 or later' : 'Node 22 or later'
    expect(snippet({ library, address }).needs).toBe(needs)
  },
)

describe.each(libraries)('with $id', ({ id: library, keyrail }) => {
  test.each(snippetMethods)(
    '$id reads the URL and the key from the environment, and contains neither',
    ({ id: method }) => {
      for (const withKeyrail of keyrail === undefined ? [false] : [false, true]) {
        const { text, environment } = snippet({ method, library, withKeyrail, address })
        expect(text).not.toContain('node.example')
        const names = environment.map(({ name }) => name)
        expect(names.slice(0, 2)).toEqual(['KEYRAIL_BASE_URL', 'KEYRAIL_API_KEY'])
        for (const name of names) expect(text).toContain(name)
      }
    },
  )

  test.each([false, true])('the URL of an API key has no /v2, with our package: %s', (withKeyrail) => {
    const rpcUrl = 'https://node.example/mainnet'
    const { text, environment } = snippet({ library, withKeyrail, address: { rpcUrl } })
    expect(text).not.toMatch(/v2|BASE_URL/)
    expect(environment[0]).toMatchObject({ name: 'KEYRAIL_RPC_URL', value: rpcUrl })
    expect(text).toContain('KEYRAIL_RPC_URL')
  })

  test.each(['ethereum-sepolia', 'a', '0', `${'x'.repeat(31)}-${'9'.repeat(31)}`])(
    'calls the network %s',
    (network) => {
      const baseUrl = `https://node.example/${network}`
      expect(snippet({ library, address: { baseUrl } }).environment[0]?.value).toBe(baseUrl)
    },
  )

  test('amounts have the symbol of the coin', () => {
    const write = (method: 'balance' | 'transaction', withKeyrail: boolean, symbol?: string): string =>
      snippet({ method, library, withKeyrail, address, ...(symbol !== undefined && { symbol }) }).text
    // curl prints the result as it is.
    if (library === 'curl') return
    for (const withKeyrail of [false, true]) {
      expect(write('balance', withKeyrail)).toMatch(/holds .* ETH/)
      expect(write('balance', withKeyrail, 'xDAI')).toMatch(/holds .* xDAI/)
      expect(write('transaction', withKeyrail, 'P\'O`$"L')).toMatch(/pays .* POL from/)
    }
  })

  test('no line is too long', () => {
    for (const { id: method } of snippetMethods) {
      for (const withKeyrail of [false, true]) {
        const { text } = snippet({ method, library, withKeyrail, address })
        const limit = library === 'curl' ? 200 : 120
        expect(text.split('\n').filter((line) => line.length > limit)).toEqual([])
      }
    }
  })
})

test.each([
  ['ethereum-sepolia', 'sepolia'],
  ['base-mainnet', 'base'],
])('with viem, a client of %s has its chain', (network, chain) => {
  for (const withKeyrail of [false, true])
    for (const method of ['latestBlock', 'subscribeBlocks'] as const) {
      const baseUrl = `https://node.example/${network}`
      const { text } = snippet({ library: 'viem', method, withKeyrail, address: { baseUrl } })
      expect(text).toContain(`import { ${chain} } from 'viem/chains'`)
      expect(text).toContain(`createPublicClient({ chain: ${chain}, transport`)
    }
  expect(snippet({ library: 'viem', address }).text).not.toContain('chain')
})

test('a language defaults to its first library, a library implies its language', () => {
  expect(snippet({ address, language: 'python' }).fileName).toBe('latest_block.py')
  expect(snippet({ address, library: 'viem' }).fileName).toBe('latest-block.mts')
})

describe('a given call', () => {
  const call = { method: 'eth_call', params: [{ to: '0x1', data: `'"\\ $(id) \`` }, 'latest', null, true, 1.5] }

  test.each([
    ['fetch', `await call('eth_call', ...${JSON.stringify(call.params)})`],
    ['ethers', `await provider.send('eth_call', ${JSON.stringify(call.params)})`],
    ['web3', `await web3.requestManager.send({ method: 'eth_call', params: ${JSON.stringify(call.params)} })`],
    ['viem', `await client.request({ method: 'eth_call', params: ${JSON.stringify(call.params)} } as never)`],
    [
      'web3.py',
      String.raw`w3.manager.request_blocking("eth_call", [{"to": "0x1", "data": "'\"\\ $(id) ${'`'}"}, "latest", None, True, 1.5])`,
    ],
    ['curl', String.raw`"params":[{"to":"0x1","data":"\u0027\"\\ $(id) ${'`'}"},"latest",null,true,1.5]}'`],
  ] as const)('is written with %s', (library, expected) => {
    const { text, fileName } = snippet({ library, withKeyrail: true, address, call })
    expect(text).toContain(expected)
    expect(text).not.toMatch(/@keyrail|from keyrail/)
    expect(fileName).toMatch(/^call\.\w+$/)
  })

  test('invisible characters are escaped', () => {
    const hidden = '\u202E\u009B\u{E0041}é😀'
    for (const { id: library } of libraries) {
      const { text } = snippet({ library, address, call: { method: hidden, params: [{ [hidden]: hidden }] } })
      expect(text.split(String.raw`\u202e\u009b\udb40\udc41é😀`)).toHaveLength(4)
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  test('its method cannot end a string literal', () => {
    for (const { id: library } of libraries) {
      const { text } = snippet({ library, address, call: { method: `'); exit() //"\n`, params: [] } })
      expect(text).toMatch(
        library === 'curl' ? /"method":"\\u0027\); exit\(\) \/\/\\"\\n"/ : /"'\); exit\(\) \/\/\\"\\n"/,
      )
    }
  })
})

describe('invalid options are rejected, and no value can end its string literal', () => {
  const invalid: readonly (readonly [given: object, message: string])[] = [
    [{ method: 'mine' }, 'method must be one of latestBlock, blockByNumber'],
    [{ language: 'rust' }, 'language must be one of typescript, javascript, python, shell, not "rust"'],
    [{ library: 'viem', language: 'python' }, 'library must be one of web3.py, not "viem"'],
    [{ address: { baseUrl: 'ftp://node.example' } }, 'address.baseUrl must be an http:// or https:// URL'],
    [{ address: { baseUrl: 'https://node.example/$(id)' } }, 'address.baseUrl must be'],
    [{ address: { rpcUrl: 'https://node.example/`id`' } }, 'address.rpcUrl must be'],
    [{ address: { rpcUrl: "https://node.example/'" } }, 'address.rpcUrl must be'],
    [{ address: { baseUrl: 'https://node.example/' } }, 'address.baseUrl ends with "/". Remove the slash.'],
    [{ values: { account: '0x1' } }, 'values.account must be an address'],
    [{ values: { contract: `0x${'0'.repeat(39)}"` } }, 'values.contract must be an address'],
    [{ values: { block: -1 } }, 'values.block must be an integer from 0'],
    [
      { call: { method: 'eth_call', params: { to: '0x1' } } },
      'call must have a method, a string, and params, an array',
    ],
    [{ values: { block: 1.5 } }, 'values.block must be an integer from 0'],
  ]

  test.each(invalid)('%j', (given, message) => {
    expect(() => snippet({ address, ...given } as SnippetOptions)).toThrow(message)
  })
})
