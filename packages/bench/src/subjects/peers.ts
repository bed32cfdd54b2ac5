import type { OpenSubject, Subject } from './subject.ts'

// The peers are not dependencies of the workspace: the bench installs them into peers/ with --peers.
const load = async (name: string): Promise<unknown> => {
  const peers = (await import(new URL('../../peers/load.mjs', import.meta.url).href)) as {
    readonly load: (name: string) => Promise<unknown>
  }
  return peers.load(name)
}

interface ViemClient {
  readonly request: (args: object) => Promise<unknown>
}
interface Viem {
  readonly createClient: (options: object) => ViemClient
  readonly http: (url: string, options: object) => unknown
}
interface EthersProvider {
  readonly send: (method: string, params: readonly unknown[]) => Promise<unknown>
  readonly destroy: () => void
}
interface Ethers {
  readonly JsonRpcProvider: new (url: string, network: unknown, options: object) => EthersProvider
  readonly Network: { readonly from: (chainId: number) => unknown }
}
interface Web3 {
  readonly HttpProvider: new (url: string) => {
    readonly request: (payload: object) => Promise<{ result?: unknown }>
  }
}
interface Micro {
  readonly ftch: (fetch: unknown, options: object) => unknown
  readonly jsonrpc: (
    fetch: unknown,
    url: string,
    options?: object,
  ) => { readonly call: (method: string, ...params: readonly unknown[]) => Promise<unknown> }
}

const close = (): void => {}

const viem = async (url: string, batch: boolean): Promise<Subject> => {
  const { createClient, http } = (await load('viem')) as Viem
  const client = createClient({ transport: http(url, batch ? { batch: { batchSize: 100 } } : {}) })
  return { call: (method, params) => client.request({ method, params }), close }
}

const ethers = async (url: string, batchMaxCount: number): Promise<Subject> => {
  const { JsonRpcProvider, Network } = (await load('ethers')) as Ethers
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: Network.from(1), batchMaxCount })
  return { call: (method, params) => provider.send(method, params), close: () => provider.destroy() }
}

const web3 = async (url: string): Promise<Subject> => {
  const { HttpProvider } = (await load('web3')) as Web3
  const provider = new HttpProvider(url)
  let lastId = 0
  return {
    call: async (method, params) =>
      (await provider.request({ jsonrpc: '2.0', id: ++lastId, method, params: [...params] })).result,
    close,
  }
}

const micro = async (url: string, options?: object): Promise<Subject> => {
  const { ftch, jsonrpc } = (await load('micro-ftch')) as Micro
  const rpc = jsonrpc(ftch(fetch, { timeout: 10_000 }), url, options)
  return { call: (method, params) => rpc.call(method, ...params), close }
}

/** Other libraries, each with its raw request, and with its own batching if it has any. */
export const openPeer: Readonly<
  Record<'viem' | 'viemBatch' | 'ethers' | 'ethersBatch' | 'web3' | 'micro' | 'microBatch', OpenSubject>
> = {
  viem: (url) => viem(url, false),
  viemBatch: (url) => viem(url, true),
  ethers: (url) => ethers(url, 1),
  ethersBatch: (url) => ethers(url, 100),
  web3,
  micro: (url) => micro(url),
  microBatch: (url) => micro(url, { batchSize: 100 }),
}
