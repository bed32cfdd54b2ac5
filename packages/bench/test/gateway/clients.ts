import { batch as joinCalls } from '@keyrail/core'
import { createEthersSubject } from '@keyrail/core/test/createEthersSubject.ts'
import { createTestClient } from '@keyrail/core/test/createTestClient.ts'
import type { TestClient, Target } from '@keyrail/core/test/adapterVectors.ts'
import { createViemSubject } from '@keyrail/core/test/createViemSubject.ts'
import { createWeb3Subject } from '@keyrail/core/test/createWeb3Subject.ts'
import { KeyrailProvider as EthersProvider } from '@keyrail/ethers'
import { createClient } from '@keyrail/fetch'
import { keyrail } from '@keyrail/viem'
import { KeyrailProvider as Web3Provider } from '@keyrail/web3'
import { FetchRequest, JsonRpcProvider, Network } from 'ethers'
import { http } from 'viem'
import { Web3 } from 'web3'

/** The options of a client. */
export interface ClientOptions {
  /** The full URL, with its key. */
  readonly url: string
  readonly chainId: number
  /** Whether calls of the same tick are one batch. @default false */
  readonly batch?: boolean
  /** Whether retryable calls are retried. @default true */
  readonly retries?: boolean
}

/** A way in which users call the service: a library with its own provider or with ours. */
export interface Client {
  readonly name: string
  /** Whether Keyrail sends its calls. */
  readonly ours: boolean
  readonly open: (options: ClientOptions) => TestClient
}

const nowhere: Target = {
  origin: '',
  key: '',
  chainId: undefined,
  batch: false,
  timeoutMs: undefined,
  signal: undefined,
}

type Subject = ReturnType<typeof createViemSubject>
const raw = (subject: Subject): TestClient => subject.open.raw(nowhere) as TestClient

const toOptions = ({ url, chainId, batch = false, retries = true }: ClientOptions) => ({
  url,
  chainId,
  ...(batch ? { batch: joinCalls() } : {}),
  ...(retries ? {} : { retry: false as const }),
})

const ethersOwn = ({ url, chainId, batch = false, retries = true }: ClientOptions): JsonRpcProvider => {
  const request = new FetchRequest(url)
  if (!retries) request.setThrottleParams({ maxAttempts: 1 })
  // Without a network it would query for it every second, forever, and report failures only on the console.
  return new JsonRpcProvider(request, undefined, {
    staticNetwork: Network.from(chainId),
    ...(batch ? {} : { batchMaxCount: 1 }),
  })
}

interface RpcResponse {
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** What a user of plain fetch sees: the status, and the error in the body. */
const plainFetch = ({ url }: ClientOptions): TestClient => {
  const post = async (body: unknown): Promise<unknown> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const message = (await response.json()) as RpcResponse | RpcResponse[]
    const error = [message].flat().find((one) => one.error !== undefined)?.error
    if (error === undefined) return Array.isArray(message) ? message.map(({ result }) => result) : message.result
    const { status } = response
    throw Object.assign(new Error(`${status}: ${error.message}`), { status, error })
  }
  const call = (method: string, params: readonly unknown[], id = 1): object => ({ jsonrpc: '2.0', id, method, params })
  return {
    ...createTestClient({ request: ({ method, params }) => post(call(method, params)), close: () => {} }, undefined),
    balances: (addresses) => [
      post(addresses.map((address, at) => call('eth_getBalance', [address, 'latest'], at + 1))),
    ],
  }
}

/** All clients. */
export const clients: readonly Client[] = [
  { name: 'fetch', ours: false, open: plainFetch },
  {
    name: 'viem',
    ours: false,
    open: ({ url, batch = false, retries = true }) =>
      raw(
        createViemSubject('viem', () => ({ transport: http(url, { batch, ...(retries ? {} : { retryCount: 0 }) }) })),
      ),
  },
  {
    name: 'ethers',
    ours: false,
    open: (options) => raw(createEthersSubject('ethers', () => ({ provider: ethersOwn(options) }))),
  },
  {
    name: 'web3',
    ours: false,
    open: ({ url }) => {
      const provider = new Web3.providers.HttpProvider(url)
      return {
        ...raw(createWeb3Subject('web3', () => ({ provider }))),
        // If a batch is rejected as a whole, its calls never end: only the batch itself fails.
        balances: (addresses) => {
          const batch = new new Web3(provider).BatchRequest()
          const calls = addresses.map((address, at) =>
            batch.add({ jsonrpc: '2.0', id: at + 1, method: 'eth_getBalance', params: [address, 'latest'] }),
          )
          return [batch.execute({ timeout: 10_000 }), ...calls]
        },
      }
    },
  },
  {
    name: '@keyrail/fetch',
    ours: true,
    open: (options) => createTestClient(createClient(toOptions(options)) as never, undefined),
  },
  {
    name: '@keyrail/viem',
    ours: true,
    open: (options) => raw(createViemSubject('@keyrail/viem', () => ({ transport: keyrail(toOptions(options)) }))),
  },
  {
    name: '@keyrail/ethers',
    ours: true,
    open: (options) =>
      raw(createEthersSubject('@keyrail/ethers', () => ({ provider: new EthersProvider(toOptions(options)) }))),
  },
  {
    name: '@keyrail/web3',
    ours: true,
    open: (options) => {
      const provider = new Web3Provider(toOptions(options))
      return raw(createWeb3Subject('@keyrail/web3', () => ({ provider, close: provider.disconnect })))
    },
  },
]
