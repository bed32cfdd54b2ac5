import { adapters } from '@keyrail/vectors'
import { BaseError, ContractFunctionRevertedError, createPublicClient, parseAbi } from 'viem'
import type { Hex, PublicClient, Transport } from 'viem'
import { mainnet } from 'viem/chains'
import type { Subject, Target, TestClient } from './adapters/subject.ts'
import { createTestClient } from './createTestClient.ts'

/** Creates a viem transport for a target, and returns how to close it. */
export type OpenViem = (target: Target) => { readonly transport: Transport; readonly close?: () => void }

const { contract } = adapters.node
const address = contract.address as Hex

const decodeRevert: TestClient['decodeRevert'] = (error) => {
  const found = error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
  const data = (found as ContractFunctionRevertedError | null)?.data
  return found ? { name: data?.errorName, args: data?.args } : undefined
}

/** Creates a subject for viem with a transport: its actions, and `client.request`. */
export function createViemSubject(name: string, open: OpenViem): Subject {
  const openClient = (target: Target): { readonly client: PublicClient; readonly testClient: TestClient } => {
    const { transport, close = () => {} } = open(target)
    const client = createPublicClient({ ...(target.chainId ? { chain: mainnet } : {}), transport }) as PublicClient
    const request = client.request as never
    const testClient = { ...createTestClient({ request, close }, target.signal), decodeRevert, exposed: client }
    return { client, testClient }
  }
  return {
    name,
    open: {
      raw: (target) => openClient(target).testClient,
      library: (target) => {
        const { client, testClient } = openClient(target)
        return {
          ...testClient,
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
