import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { startService } from '@keyrail/contracts/test/startService.ts'
import type { Service } from '@keyrail/contracts/test/startService.ts'
import { ContractFactory, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { needsPython, setUpPython } from '../../../scripts/setUpPython.ts'
import { snippet } from '../src/snippet.ts'
import { snippetLanguages } from '../src/snippetLibraries.ts'
import type { SnippetLibraryEntry } from '../src/snippetLibraries.ts'
import { snippetMethods } from '../src/snippetMethods.ts'
import type { SnippetMethod } from '../src/snippetMethods.ts'
import type { SnippetOptions } from '../src/snippetOptions.ts'
import { startPython } from './startPython.ts'
import type { RunningPython } from './startPython.ts'

// Writes every program to a file and runs it like a reader would, against the service in front of a node.

// Five interpreters at a time start slowly on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

const workspace = join(import.meta.dirname, '../../..')
/** In the package, so that libraries are resolved. Ignored by git. */
const room = join(import.meta.dirname, '../.keyrail', randomBytes(6).toString('hex'))
const compileCache = mkdtempSync(join(tmpdir(), 'keyrail-snippets-'))

const python = await setUpPython()
const needsOf = ({ language }: SnippetLibraryEntry): ReturnType<typeof needs> => {
  if (language === 'python') return needsPython(python)
  return language === 'shell' ? needs('curl') : needs()
}

let service: Service
let token: string
/** Runs most Python programs in an interpreter that has imported web3.py. Those of latestBlock start their own interpreter. */
let readyPython: RunningPython | undefined
const rich = `0x${'a1'.repeat(20)}`

beforeAll(async () => {
  mkdirSync(room, { recursive: true })
  if ('python' in python) readyPython = startPython(python.python)
  service = await startService()
  await service.node('anvil_setBalance', [rich, '0x1bc16d674ec80000']) // 2 ether
  token = await deployToken()
})

afterAll(async () => {
  readyPython?.stop()
  await service.stop()
  for (const folder of [room, compileCache]) rmSync(folder, { recursive: true, force: true })
})

interface Block {
  readonly hash: string
  readonly transactions: readonly string[]
}

const hex = (value: number): string => `0x${value.toString(16)}`
const blockAt = async (number: number): Promise<Block> =>
  (await service.node('eth_getBlockByNumber', [hex(number), false])) as Block

/** Deploys a token, which emits one log in its first block. Returns its address. */
async function deployToken(): Promise<string> {
  const [sender] = (await service.node('eth_accounts')) as string[]
  const { data } = await new ContractFactory(tokenAbi, tokenBytecode).getDeployTransaction('Token', 'TKN', 12_345n)
  const hash = await service.node('eth_sendTransaction', [{ from: sender, data, gas: '0x1e8480' }])
  // The node responds before it has mined the transaction.
  return vi.waitFor(async () => {
    const receipt = (await service.node('eth_getTransactionReceipt', [hash])) as { contractAddress: string } | null
    if (receipt === null) throw new Error('not mined yet')
    return receipt.contractAddress
  }, 20_000)
}

/** Creates a funded account, so that no two runs use the same nonce. */
async function createPayer(): Promise<Record<string, string>> {
  const { privateKey: made } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const key = Buffer.from(made.export({ format: 'jwk' }).d ?? '', 'base64url')
  const privateKey = `0x${key.toString('hex').padStart(64, '0')}`
  const wallet = new Wallet(privateKey)
  await service.node('anvil_setBalance', [wallet.address, '0xde0b6b3a7640000'])
  const signed = await wallet.signTransaction({
    to: wallet.address,
    gasLimit: 21_000n,
    maxFeePerGas: 20_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    chainId: service.chainId,
    nonce: 0,
    type: 2,
  })
  return { PRIVATE_KEY: privateKey, SIGNED_TRANSACTION: signed }
}

/** Runs a program that subscribes, until it has printed a block. Returns that line, without a notification's envelope. */
async function runUntilBlock(program: string, words: readonly string[], options: object): Promise<string> {
  const [sender] = (await service.node('eth_accounts')) as string[]
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const ended = once(child, 'exit')
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const findLine = (): string | undefined =>
    stdout.split('\n').find((line) => line.startsWith('Block ') || line.includes('eth_subscription'))
  // Detached, so that it has a group of its own: a shell's child would otherwise go on.
  const kill = (): boolean => child.exitCode === null && process.kill(-(child.pid ?? 0), 'SIGKILL')
  try {
    await vi.waitFor(
      async () => {
        // Not an empty block: programs that run at the same time use the transactions of the latest one.
        await service.node('eth_sendTransaction', [{ from: sender, to: sender }])
        expect(findLine(), stderr).toBeDefined()
      },
      { timeout: 60_000, interval: 500 },
    )
  } finally {
    kill()
    await ended
  }
  expect(stderr).toBe('')
  return findLine() ?? ''
}

/** Runs one program in its own folder, by the command that its page shows and with its `.env`. Returns its output. */
async function run(options: Omit<SnippetOptions, 'address'>, at: 'app' | 'key' = 'app'): Promise<string> {
  const { text, fileName, run: command, environment } = snippet({ ...options, address: service[at] })
  const folder = mkdtempSync(join(room, 'run-'))
  writeFileSync(join(folder, fileName), text)
  const payer = environment.length > 2 ? await createPayer() : {}
  const secrets: Record<string, string> = { ...payer, KEYRAIL_API_KEY: service[at].apiKey }
  const variables = Object.fromEntries(environment.map(({ name, value }) => [name, value ?? secrets[name] ?? '']))
  const dotEnv = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(folder, '.env'), dotEnv.join(''))
  const env = {
    PATH: [join(workspace, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    NODE_OPTIONS: '--conditions=@keyrail/source',
    NODE_COMPILE_CACHE: compileCache,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const isPython = fileName.endsWith('.py')
  const words = ['-c', 'python' in python ? command.replace('python3', python.python) : command]
  if (options.method === 'subscribeBlocks') {
    const printed = await runUntilBlock('sh', words, { cwd: folder, env })
    expect(printed).not.toContain(service[at].apiKey)
    return printed
  }
  const ended =
    isPython && options.method !== 'latestBlock' && readyPython
      ? readyPython.run(folder, fileName, { ...env, ...variables })
      : promisify(execFile)('sh', words, { cwd: folder, env, timeout: 60_000 })
  const { stdout, stderr } = await ended
  // An example must not print warnings.
  expect(stderr).toBe('')
  expect(stdout).not.toContain(service[at].apiKey)
  return stdout.trimEnd()
}

/** Checks the output of a program against the node, for every library except curl. */
const checkOutput: Readonly<Record<SnippetMethod, (printed: string) => Promise<void>>> = {
  latestBlock: async (printed) => {
    const [, number, hash] = /^Block (\d+) is (0x[0-9a-f]{64})$/.exec(printed) ?? []
    expect(hash, printed).toBe((await blockAt(Number(number))).hash)
  },
  blockByNumber: async (printed) => {
    const { hash, transactions } = await blockAt(1)
    expect(printed).toBe(`Block 1 is ${hash}, with ${transactions.length} transactions`)
  },
  balance: (printed) => {
    expect(printed.toLowerCase()).toMatch(new RegExp(`^${rich} holds 2(\\.0)? eth$`))
    return Promise.resolve()
  },
  transaction: async (printed) => {
    const [, hash, value, from, to] =
      /^(0x[0-9a-f]{64}) pays ([\d.]+) ETH from (0x\w{40}) to (\w+)$/.exec(printed) ?? []
    const found = (await service.node('eth_getTransactionByHash', [hash])) as Record<string, string | null>
    expect(from?.toLowerCase(), printed).toBe(found['from'])
    if (found['to']) expect(to?.toLowerCase()).toBe(found['to'])
    expect(Number(value)).toBe(Number(found['value']) / 1e18)
  },
  receipt: async (printed) => {
    const [, hash, block, gas] = /^(0x[0-9a-f]{64}) succeeded in block (\d+) and used (\d+) gas$/.exec(printed) ?? []
    const found = (await service.node('eth_getTransactionReceipt', [hash])) as Record<string, string>
    expect({ block: Number(block), gas: Number(gas) }, printed).toEqual({
      block: Number(found['blockNumber']),
      gas: Number(found['gasUsed']),
    })
  },
  contractLogs: (printed) => {
    expect(printed).toMatch(/^1 logs in the latest 100 blocks\nBlock \d+: 0xddf252ad[0-9a-f]{56}$/)
    return Promise.resolve()
  },
  contractRead: (printed) => {
    expect(printed).toBe('Total supply: 12345 of the smallest unit')
    return Promise.resolve()
  },
  gasPrice: (printed) => {
    expect(printed).toMatch(/^Gas price: [1-9]\d* wei\nPriority fee: \d+ wei(, at most [1-9]\d* wei in all)?$/)
    return Promise.resolve()
  },
  sendRawTransaction: async (printed) => {
    const [, hash, block] = /Sent (0x[0-9a-f]{64})\nIt is in block (\d+)$/.exec(printed) ?? []
    expect((await blockAt(Number(block))).transactions, printed).toContain(hash)
  },
  chainId: (printed) => {
    expect(printed).toBe(`Chain id: ${service.chainId}`)
    return Promise.resolve()
  },
  subscribeBlocks: (printed) => checkOutput.latestBlock(printed),
}

/** The sender of a mint. */
const zeroTopic = `0x${'0'.repeat(64)}`

interface RpcResponse {
  readonly params?: { readonly result: Readonly<Record<string, string>> }
  readonly result?: string | Record<string, string | null> | readonly unknown[] | null
}

/** Checks the output of curl, which is the response itself. */
const checkResponses: Readonly<Record<SnippetMethod, (responses: readonly RpcResponse[]) => Promise<void>>> = {
  latestBlock: async ([response]) => {
    const { number, hash } = (response?.result ?? {}) as Record<string, string>
    expect(hash).toBe((await blockAt(Number(number))).hash)
  },
  blockByNumber: async ([response]) => expect(response?.result).toMatchObject({ hash: (await blockAt(1)).hash }),
  balance: async ([response]) => expect(response?.result).toBe('0x1bc16d674ec80000'),
  transaction: async ([response]) => {
    const { hash } = (response?.result ?? {}) as Record<string, string>
    expect(response?.result).toEqual(await service.node('eth_getTransactionByHash', [hash]))
  },
  receipt: async ([response]) => {
    const { transactionHash } = (response?.result ?? {}) as Record<string, string>
    expect(response?.result).toEqual(await service.node('eth_getTransactionReceipt', [transactionHash]))
  },
  contractLogs: async ([response]) => {
    expect(response?.result).toMatchObject([
      { topics: [expect.stringMatching(/^0xddf252ad/), zeroTopic, expect.any(String)] },
    ])
  },
  contractRead: async ([response]) => expect(Number(response?.result)).toBe(12_345),
  gasPrice: async (responses) => {
    expect(responses).toHaveLength(2)
    for (const { result } of responses) expect(Number(result)).toBeGreaterThan(0)
  },
  sendRawTransaction: async ([response]) =>
    expect(await service.node('eth_getTransactionByHash', [response?.result])).toMatchObject({
      hash: response?.result,
    }),
  chainId: async ([response]) => expect(Number(response?.result)).toBe(service.chainId),
  subscribeBlocks: async ([response]) => {
    const { number, hash } = response?.params?.result ?? {}
    expect(hash).toBe((await blockAt(Number(number))).hash)
  },
}

const expectCorrect = (library: SnippetLibraryEntry, method: SnippetMethod, printed: string): Promise<void> =>
  library.id === 'curl'
    ? checkResponses[method]([JSON.parse(printed)].flat() as RpcResponse[])
    : checkOutput[method](printed)

const libraries = snippetLanguages.flatMap((language) => language.libraries)

describe.each(libraries)('$language, $title', (library) => {
  const options = needsOf(library)
  const methods = snippetMethods.map(({ id }) => id)

  describe.concurrent.each([false, true].filter((ours) => !ours || library.keyrail !== undefined))(
    'with our package: %s',
    (withKeyrail) => {
      const choice = { language: library.language, library: library.id, withKeyrail }

      test.each(methods)('%s runs, and prints the correct result', options, async (method) => {
        // Programs that subscribe mine more than 100 blocks on a busy machine: logs are those of a new token.
        const contract = method === 'contractLogs' ? await deployToken() : token
        const values = { account: rich, block: 1, contract }
        await expectCorrect(library, method, await run({ ...choice, method, values }))
      })

      test('runs with the URL of an API key', options, async () => {
        await expectCorrect(library, 'latestBlock', await run(choice, 'key'))
      })
    },
  )
})

describe.concurrent.each(libraries)('a given call with $title', (library) => {
  const options = needsOf(library)
  test('prints its result', options, async () => {
    const call = { method: 'eth_call', params: [{ to: token, data: '0x18160ddd' }, 'latest'] }
    const printed = await run({ library: library.id, call })
    const parsed = JSON.parse(printed) as string | RpcResponse
    expect(Number(typeof parsed === 'string' ? parsed : parsed.result)).toBe(12_345)
  })
})

// On an empty chain, examples must still print something correct.
describe('on an empty chain', () => {
  let empty: Service
  let full: Service

  beforeAll(async () => {
    empty = await startService()
    full = service
    service = empty
  })

  afterAll(async () => {
    service = full
    await empty.stop()
  })

  const nothing: Partial<Record<SnippetMethod, readonly [output: RegExp, result: unknown]>> = {
    blockByNumber: [/^Block 0 is 0x[0-9a-f]{64}, with 0 transactions$/, { number: '0x0' }],
    balance: [/^0x0{40} holds 0(\.0)? ETH$/, '0x0'],
    transaction: [/^The latest block has no transactions$/, null],
    receipt: [/^The latest block has no transactions$/, null],
    contractLogs: [/^0 logs in the latest 100 blocks$/, []],
    contractRead: [/^There is no contract at 0xcA11bde05977b3631167028862bE2a173976CA11$/, '0x'],
  }

  describe.concurrent.each(libraries)('$language, $title', (library) => {
    const options = needsOf(library)
    test.each(Object.entries(nothing))('%s', options, async (method, [output, result]) => {
      // fetch is the only library whose programs differ with our package.
      for (const withKeyrail of library.id === 'fetch' ? [false, true] : [false]) {
        const choice = { language: library.language, library: library.id, withKeyrail }
        const printed = await run({ ...choice, method: method as SnippetMethod })
        if (library.id !== 'curl') expect(printed).toMatch(output)
        else if (result === null || typeof result === 'string')
          expect((JSON.parse(printed) as RpcResponse).result).toBe(result)
        else expect((JSON.parse(printed) as RpcResponse).result).toMatchObject(result as object)
      }
    })
  })
})

test('TypeScript programs have no type errors', async () => {
  const folder = mkdtempSync(join(room, 'types-'))
  const call = { method: 'my_method', params: [{ block: 1 }] }
  for (const { id, ...options } of [
    ...snippetMethods.map(({ id: method }) => ({ id: method, method })),
    { id: 'call', call },
  ]) {
    for (const withKeyrail of [false, true]) {
      const { text } = snippet({
        ...options,
        language: 'typescript',
        withKeyrail,
        address: { baseUrl: 'https://a.example' },
      })
      writeFileSync(join(folder, `${id}${withKeyrail ? 'Ours' : ''}.mts`), text)
    }
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        customConditions: ['@keyrail/source'],
        types: ['node'],
      },
    }),
  )
  const { stdout } = await promisify(execFile)(join(workspace, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})
