import { contractCases } from '@keyrail/contracts/test/contractCases.ts'
import type { ContractClient, SeenEvent, Sent } from '@keyrail/contracts/test/contractClient.ts'
import { createTransport } from '@keyrail/core'
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  nonceManager,
  parseEventLogs,
} from 'viem'
import type { Abi, ContractEventName } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe } from 'vitest'
import { keyrail } from '../src/index.ts'

type Log = { eventName: string; args: unknown; blockNumber: bigint | null; logIndex: number | null }

/** Converts addresses to lower case, and the numbers that viem returns for small types to bigints. */
const normalize = (value: unknown): unknown => {
  if (typeof value === 'string') return /^0x[\da-f]{40}$/i.test(value) ? value.toLowerCase() : value
  if (typeof value === 'number') return BigInt(value)
  if (Array.isArray(value)) return value.map(normalize)
  if (Object(value) === value)
    return Object.fromEntries(Object.entries(value as object).map(([name, member]) => [name, normalize(member)]))
  return value
}

const seenEvent = ({ eventName, args, blockNumber, logIndex }: Log): SeenEvent => ({
  name: eventName,
  args: normalize(args) as SeenEvent['args'],
  blockNumber: blockNumber as bigint,
  logIndex: logIndex as number,
})

describe('viem', () => {
  contractCases({
    open: (address, privateKey): ContractClient => {
      const transport = createTransport(address)
      const account = privateKeyToAccount(privateKey, { nonceManager })
      const chain = defineChain({
        id: address.chainId,
        name: 'anvil',
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        rpcUrls: { default: { http: [] } },
      })
      const client = createPublicClient({ chain, transport: keyrail(transport), pollingInterval: 20, cacheTime: 0 })
      const wallet = createWalletClient({ account, chain, transport: keyrail(transport) })

      const sent = (hash: Sent['hash'], abi: Abi = []): Sent => ({
        hash,
        mined: async () => {
          const { status, blockNumber, gasUsed, logs } = await client.waitForTransactionReceipt({ hash })
          return {
            status,
            blockNumber,
            gasUsed,
            events: parseEventLogs({ abi, logs }).map((log) => seenEvent(log as Log)),
          }
        },
      })
      const write: ContractClient['write'] = async (contract, functionName, args = [], { valueWei, gas } = {}) => {
        const abi = contract.abi as Abi
        const call = {
          abi,
          address: contract.address,
          functionName,
          args,
          ...(valueWei && { value: valueWei }),
          ...(gas && { gas }),
        }
        return sent(await wallet.writeContract(call as never), abi)
      }

      return {
        address: account.address.toLowerCase() as `0x${string}`,
        deploy: async ({ abi, bytecode }, args) => {
          const hash = await wallet.deployContract({ abi: abi as Abi, bytecode, args })
          const { contractAddress } = await client.waitForTransactionReceipt({ hash })
          return { abi, address: contractAddress?.toLowerCase() as `0x${string}` }
        },
        read: async ({ abi, address: to }, functionName, args = []) =>
          normalize(await client.readContract({ account, abi: abi as Abi, address: to, functionName, args })),
        write,
        writeAll: (contract, name, eachArgs) => Promise.all(eachArgs.map((args) => write(contract, name, args))),
        sendValue: async (to, value) => sent(await wallet.sendTransaction({ to, value })),
        balance: (of) => client.getBalance({ address: of }),
        blockNumber: () => client.getBlockNumber(),
        events: async ({ abi, address: of }, eventName, { fromBlock, toBlock, where = {} }) => {
          const filter = { abi: abi as Abi, address: of, eventName: eventName as ContractEventName, args: where }
          return (await client.getContractEvents({ ...filter, fromBlock, toBlock } as never)).map((log) =>
            seenEvent(log as Log),
          )
        },
        watch: async ({ abi, address: of }, eventName, onEvent) => {
          const fromBlock = (await client.getBlockNumber()) + 1n
          return client.watchContractEvent({
            abi: abi as Abi,
            address: of,
            eventName,
            poll: true,
            fromBlock,
            onLogs: (logs) => logs.forEach((log) => onEvent(seenEvent(log as unknown as Log))),
          })
        },
        estimate: ({ abi, address: to }, functionName, args = [], { valueWei } = {}) =>
          client.estimateContractGas({
            account,
            abi: abi as Abi,
            address: to,
            functionName,
            args,
            ...(valueWei && { value: valueWei }),
          } as never),
        lookUp: async ({ abi, address: to }, functionName, args) =>
          client.readContract({ abi: abi as Abi, address: to, functionName, args }),
        decodeFailure: (error) => {
          const reverted =
            error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
          if (!(reverted instanceof ContractFunctionRevertedError)) return undefined
          const { data, reason, raw } = reverted
          if (data?.errorName === 'Panic') return { as: 'panic', code: data.args?.[0] as bigint }
          if (data?.errorName === 'Error') return { as: 'reason', reason: reason as string }
          if (data) return { as: 'custom', name: data.errorName, args: normalize(data.args ?? []) as unknown[] }
          return raw === undefined || raw === '0x' ? { as: 'bare' } : undefined
        },
        close: () => transport.close(),
      }
    },
  })
})
