import { adapters } from '@keyrail/vectors'
import { Web3 } from 'web3'
import type { SupportedProviders } from 'web3'
import type { Face, Subject, Target } from './adapters/subject.ts'
import { requestFace } from './requestFace.ts'

/** How a provider of web3.js is made for a target. */
export interface OpenedWeb3 {
  readonly provider: SupportedProviders
  /** Whether `target.signal` ends its calls. @default false */
  readonly aborts?: boolean
  readonly close?: () => void
}

const { contract } = adapters.node
const abi = [
  { type: 'function', name: 'owner', inputs: [], outputs: [{ type: 'address' }], stateMutability: 'view' },
  { type: 'error', name: contract.revert.name, inputs: [{ type: 'address', name: 'who' }] },
] as const

interface Shown {
  readonly name?: string
  readonly cause?: {
    readonly errorName?: string
    readonly errorArgs?: Readonly<Record<string, unknown>>
    readonly data?: string
  }
}

const revertOf: Face['revertOf'] = (error) => {
  const { name, cause } = error as Shown
  if (!['ContractExecutionError', 'Eip838ExecutionError'].includes(String(name))) return undefined
  return { name: cause?.errorName, args: [cause?.errorArgs?.['who']], data: cause?.data }
}

/** web3.js with a provider: `web3.eth`, and its request manager. Calls that go together are a `BatchRequest` in both. */
export function web3Subject(name: string, open: (target: Target) => OpenedWeb3): Subject {
  const web3For = (target: Target): { readonly web3: Web3; readonly face: Face } => {
    const { provider, aborts = false, close = () => {} } = open(target)
    const web3 = new Web3(provider)
    const face = requestFace(
      { request: ({ method, params }) => web3.requestManager.send({ method, params } as never), close },
      target.signal,
    )
    const balances: Face['balances'] = (addresses) => {
      const batch = new web3.BatchRequest()
      const calls = addresses.map((address, at) =>
        batch.add({ jsonrpc: '2.0', id: at + 1, method: 'eth_getBalance', params: [address, 'latest'] } as never),
      )
      // What it says belongs to the calls, where it says it to them.
      batch.execute({ timeout: 10_000 }).catch(() => {})
      return calls
    }
    const held = [web3, provider]
    return { web3, face: { ...face, balances, revertOf, held, abortable: aborts ? face.blockNumber : undefined } }
  }
  return {
    name,
    open: {
      raw: (target) => web3For(target).face,
      library: (target) => {
        const { web3, face } = web3For(target)
        web3.eth.transactionPollingInterval = 50
        return {
          ...face,
          blockNumber: () => web3.eth.getBlockNumber(),
          balance: (account) => web3.eth.getBalance(account),
          contractRead: () =>
            new web3.eth.Contract(abi, contract.address).methods['owner']?.().call() as Promise<unknown>,
          send: async (raw) => (await web3.eth.sendSignedTransaction(raw)).transactionHash,
          abortable: face.abortable && (() => web3.eth.getBlockNumber()),
        }
      },
    },
  }
}
