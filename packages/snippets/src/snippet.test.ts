import { describe, expect, test } from 'vitest'
import { snippet } from './snippet.ts'
import { snippetLanguages } from './snippetLibraries.ts'
import { snippetMethods } from './snippetMethods.ts'
import type { SnippetOptions } from './snippetOptions.ts'

const address = { baseUrl: 'https://node.example/testnet' }
const libraries = snippetLanguages.flatMap((language) => language.libraries)

test('without a choice: get the latest block, in JavaScript, by ethers', () => {
  expect(snippet({ address, apiKey: 'kr_a…3fQ9' })).toEqual({
    text: `import { JsonRpcProvider } from 'ethers'

const apiKey = 'kr_a…3fQ9'
const provider = new JsonRpcProvider(\`https://node.example/testnet/v2/\${apiKey}\`)

const block = await provider.getBlock('latest')
console.log(\`Block \${block.number} is \${block.hash}\`)

provider.destroy()
`,
    fileName: 'latest-block.mjs',
    install: 'npm install ethers@6',
    run: 'node latest-block.mjs',
    environment: [],
  })
})

test('says which Node a TypeScript program needs', () => {
  expect(snippet({ library: 'viem', address })).toMatchObject({ run: 'node latest-block.mts', needs: 'Node 24' })
  expect(snippet({ library: 'ethers', address })).not.toHaveProperty('needs')
})

describe.each(libraries)('by $id', ({ id: library, keyrail }) => {
  test.each(snippetMethods)('$id holds the key once and the address once, at the top', ({ id: method }) => {
    for (const withKeyrail of keyrail === undefined ? [false] : [false, true]) {
      const { text } = snippet({ method, library, withKeyrail, address, apiKey: 'kr_aSECRET' })
      expect(text.split('kr_aSECRET')).toHaveLength(2)
      expect(text.split('https://node.example/testnet')).toHaveLength(2)
      expect(text.indexOf('kr_aSECRET')).toBeLessThan(200)
    }
  })

  test('without a key, reads it from the environment and says so', () => {
    const { text, environment } = snippet({ library, address })
    expect(text).toContain('KEYRAIL_API_KEY')
    expect(environment.map(({ name }) => name)).toEqual(['KEYRAIL_API_KEY'])
  })

  test("an API key's address has no /v2", () => {
    const rpcUrl = 'https://node.example/mainnet'
    expect(snippet({ library, address: { rpcUrl }, apiKey: 'kr_m' }).text).not.toContain('/v2')
  })

  test('no line is too long to read beside a page', () => {
    for (const { id: method } of snippetMethods) {
      for (const withKeyrail of [false, true]) {
        const { text } = snippet({ method, library, withKeyrail, address, apiKey: 'kr_a' })
        const limit = library === 'curl' ? 200 : 120
        expect(text.split('\n').filter((line) => line.length > limit)).toEqual([])
      }
    }
  })
})

test('a language alone takes its first library, a library alone its language', () => {
  expect(snippet({ address, language: 'python' }).fileName).toBe('latest_block.py')
  expect(snippet({ address, library: 'viem' }).fileName).toBe('latest-block.mts')
})

describe('what cannot be right is refused, and nothing gets out of its quotes', () => {
  const refused: readonly (readonly [given: object, says: string])[] = [
    [{ method: 'mine' }, 'method is not one of latestBlock, blockByNumber'],
    [{ language: 'rust' }, 'language is not one of javascript, typescript, python, shell'],
    [{ library: 'viem', language: 'python' }, 'library is not one of web3.py'],
    [{ apiKey: "'; process.exit() //" }, 'apiKey holds a character'],
    [{ apiKey: 'https://node.example/v2/kr_a' }, 'did you paste the whole address'],
    [{ address: { baseUrl: 'ftp://node.example' } }, 'address.baseUrl is no http or https URL'],
    [{ address: { baseUrl: 'https://node.example/$(id)' } }, 'address.baseUrl is no'],
    [{ address: { rpcUrl: 'https://node.example/`id`' } }, 'address.rpcUrl is no'],
    [{ address: { rpcUrl: "https://node.example/'" } }, 'address.rpcUrl is no'],
    [{ address: { baseUrl: 'https://node.example/' } }, "address.baseUrl ends with '/'"],
    [{ values: { account: '0x1' } }, 'values.account is no address'],
    [{ values: { contract: `0x${'0'.repeat(39)}"` } }, 'values.contract is no address'],
    [{ values: { block: -1 } }, 'values.block is no block number'],
    [{ values: { block: 1.5 } }, 'values.block is no block number'],
  ]

  test.each(refused)('%j', (given, says) => {
    expect(() => snippet({ address, ...given } as SnippetOptions)).toThrow(says)
  })

  test('a key is never repeated by the error that refuses it', () => {
    expect(() => snippet({ address, apiKey: 'kr_aSECRET"' })).toThrow(/^(?!.*SECRET)/)
  })
})
