import { adapters } from '@keyrail/vectors'
import { Contract, isCallException } from 'ethers'
import type { JsonRpcApiProvider } from 'ethers'
import type { Face, Subject, Target } from './adapters/subject.ts'
import { requestFace } from './requestFace.ts'

/** How a provider of ethers is made for a target. */
export interface OpenedEthers {
  readonly provider: JsonRpcApiProvider
  /** Whether `target.signal` ends its calls. @default false */
  readonly aborts?: boolean
  readonly close?: () => void
}

const { contract } = adapters.node

const revertOf: Face['revertOf'] = (error) =>
  isCallException(error)
    ? { name: error.revert?.name, args: error.revert?.args.map(String), data: error.data ?? undefined }
    : undefined

/** ethers with a provider: its functions, and `provider.send`. */
export function ethersSubject(name: string, open: (target: Target) => OpenedEthers): Subject {
  const providerFor = (target: Target): { readonly provider: JsonRpcApiProvider; readonly face: Face } => {
    const { provider, aborts = false, close } = open(target)
    const face = requestFace(
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
      face: { ...face, revertOf, held: provider, abortable: aborts ? face.blockNumber : undefined },
    }
  }
  return {
    name,
    open: {
      raw: (target) => providerFor(target).face,
      library: (target) => {
        const { provider, face } = providerFor(target)
        return {
          ...face,
          blockNumber: () => provider.getBlockNumber(),
          balance: (account) => provider.getBalance(account),
          contractRead: () =>
            (
              new Contract(contract.address, contract.abi, provider)[contract.read] as never as () => Promise<unknown>
            )(),
          send: async (raw) => (await provider.broadcastTransaction(raw)).hash,
          abortable: face.abortable && (() => provider.getBlockNumber()),
        }
      },
    },
  }
}
