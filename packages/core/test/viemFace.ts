import { adapters } from '@keyrail/vectors'
import { BaseError, ContractFunctionRevertedError, createPublicClient, parseAbi } from 'viem'
import type { Hex, PublicClient, Transport } from 'viem'
import { mainnet } from 'viem/chains'
import type { Face, Subject, Target } from './adapters/subject.ts'
import { requestFace } from './requestFace.ts'

/** How a viem transport is made for a target, and let go of. */
export type OpenViem = (target: Target) => { readonly transport: Transport; readonly close?: () => void }

const { contract } = adapters.node
const address = contract.address as Hex

const revertOf: Face['revertOf'] = (error) => {
  const found = error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
  const data = (found as ContractFunctionRevertedError | null)?.data
  return found ? { name: data?.errorName, args: data?.args } : undefined
}

/** viem with a transport: its actions, and `client.request`. */
export function viemSubject(name: string, open: OpenViem): Subject {
  const clientFor = (target: Target): { readonly client: PublicClient; readonly face: Face } => {
    const { transport, close = () => {} } = open(target)
    const client = createPublicClient({ ...(target.chainId ? { chain: mainnet } : {}), transport }) as PublicClient
    const request = client.request as never
    return { client, face: { ...requestFace({ request, close }, target.signal), revertOf, held: client } }
  }
  return {
    name,
    open: {
      raw: (target) => clientFor(target).face,
      library: (target) => {
        const { client, face } = clientFor(target)
        return {
          ...face,
          blockNumber: () => client.getBlockNumber(),
          balance: (account) => client.getBalance({ address: account as Hex }),
          contractRead: () =>
            client.readContract({ abi: parseAbi(contract.abi), address, functionName: contract.read as never }),
          send: (raw) => client.sendRawTransaction({ serializedTransaction: raw as Hex }),
        }
      },
    },
  }
}
