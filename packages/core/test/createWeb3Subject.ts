import { adapters } from '@keyrail/vectors'
import { Web3 } from 'web3'
import type { SupportedProviders } from 'web3'
import type { Subject, Target, TestClient } from './adapters/subject.ts'
import { createTestClient } from './createTestClient.ts'

/** A provider of web3.js for a target. */
export interface OpenedWeb3 {
  readonly provider: SupportedProviders
  /** Whether `target.signal` aborts its calls. @default false */
  readonly aborts?: boolean
  readonly close?: () => void
}

const { contract } = adapters.node
const abi = [
  { type: 'function', name: 'owner', inputs: [], outputs: [{ type: 'address' }], stateMutability: 'view' },
  { type: 'error', name: contract.revert.name, inputs: [{ type: 'address', name: 'who' }] },
] as const

interface Web3Error {
  readonly name?: string
  readonly cause?: {
    readonly errorName?: string
    readonly errorArgs?: Readonly<Record<string, unknown>>
    readonly data?: string
  }
}

const decodeRevert: TestClient['decodeRevert'] = (error) => {
  const { name, cause } = error as Web3Error
  if (!['ContractExecutionError', 'Eip838ExecutionError'].includes(String(name))) return undefined
  return { name: cause?.errorName, args: [cause?.errorArgs?.['who']], data: cause?.data }
}

/** Creates a subject for web3.js with a provider: `web3.eth`, and its request manager. Both send several calls as a `BatchRequest`. */
export function createWeb3Subject(name: string, open: (target: Target) => OpenedWeb3): Subject {
  const openWeb3 = (target: Target): { readonly web3: Web3; readonly client: TestClient } => {
    const { provider, aborts = false, close = () => {} } = open(target)
    const web3 = new Web3(provider)
    const client = createTestClient(
      { request: ({ method, params }) => web3.requestManager.send({ method, params } as never), close },
      target.signal,
    )
    const balances: TestClient['balances'] = (addresses) => {
      const batch = new web3.BatchRequest()
      const calls = addresses.map((address, at) =>
        batch.add({ jsonrpc: '2.0', id: at + 1, method: 'eth_getBalance', params: [address, 'latest'] } as never),
      )
      // The calls report its failures.
      batch.execute({ timeout: 10_000 }).catch(() => {})
      return calls
    }
    const abortable = aborts ? client.blockNumber : undefined
    return { web3, client: { ...client, balances, decodeRevert, exposed: [web3, provider], abortable } }
  }
  return {
    name,
    open: {
      raw: (target) => openWeb3(target).client,
      library: (target) => {
        const { web3, client } = openWeb3(target)
        web3.eth.transactionPollingInterval = 50
        return {
          ...client,
          blockNumber: () => web3.eth.getBlockNumber(),
          balance: (account) => web3.eth.getBalance(account),
          contractRead: () =>
            new web3.eth.Contract(abi, contract.address).methods['owner']?.().call() as Promise<unknown>,
          send: async (raw) => (await web3.eth.sendSignedTransaction(raw)).transactionHash,
          abortable: client.abortable && (() => web3.eth.getBlockNumber()),
        }
      },
    },
  }
}
