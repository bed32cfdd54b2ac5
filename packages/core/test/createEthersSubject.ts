import { adapters } from '@keyrail/vectors'
import { Contract, isCallException } from 'ethers'
import type { JsonRpcApiProvider } from 'ethers'
import type { Subject, Target, TestClient } from './adapters/subject.ts'
import { createTestClient } from './createTestClient.ts'

/** A provider of ethers for a target. */
export interface OpenedEthers {
  readonly provider: JsonRpcApiProvider
  /** Whether `target.signal` aborts its calls. @default false */
  readonly aborts?: boolean
  readonly close?: () => void
}

const { contract } = adapters.node

const decodeRevert: TestClient['decodeRevert'] = (error) =>
  isCallException(error)
    ? { name: error.revert?.name, args: error.revert?.args.map(String), data: error.data ?? undefined }
    : undefined

/** Creates a subject for ethers with a provider: its functions, and `provider.send`. */
export function createEthersSubject(name: string, open: (target: Target) => OpenedEthers): Subject {
  const openProvider = (target: Target): { readonly provider: JsonRpcApiProvider; readonly client: TestClient } => {
    const { provider, aborts = false, close } = open(target)
    const client = createTestClient(
      {
        request: ({ method, params }) => provider.send(method, [...params]),
        close: () => {
          provider.destroy()
          close?.()
        },
      },
      target.signal,
    )
    return {
      provider,
      client: { ...client, decodeRevert, exposed: provider, abortable: aborts ? client.blockNumber : undefined },
    }
  }
  return {
    name,
    open: {
      raw: (target) => openProvider(target).client,
      library: (target) => {
        const { provider, client } = openProvider(target)
        return {
          ...client,
          blockNumber: () => provider.getBlockNumber(),
          balance: (account) => provider.getBalance(account),
          contractRead: () =>
            (
              new Contract(contract.address, contract.abi, provider)[contract.read] as never as () => Promise<unknown>
            )(),
          send: async (raw) => (await provider.broadcastTransaction(raw)).hash,
          abortable: client.abortable && (() => provider.getBlockNumber()),
        }
      },
    },
  }
}
