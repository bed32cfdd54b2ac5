import { contractCases } from '@keyrail/contracts/test/contractCases.ts'
import type {
  ContractClient,
  Deployed,
  Hex,
  SeenEvent,
  Sent,
  WriteOptions,
} from '@keyrail/contracts/test/contractClient.ts'
import { describe } from 'vitest'
import { eth, Web3 } from 'web3'
import type { Contract, ContractAbi, EventLog, TransactionReceipt, Web3PromiEvent } from 'web3'
import { KeyrailProvider } from '../src/index.ts'

type Sending = Web3PromiEvent<TransactionReceipt, { transactionHash: string }>
interface Method {
  readonly call: (options?: object) => Promise<unknown>
  readonly estimateGas: (options?: object) => Promise<bigint>
  readonly send: (options?: object) => Sending
}
interface Failed {
  readonly name: string
  readonly cause?: { data?: string; errorName?: string; errorArgs?: Record<string, unknown> }
}

const isHexAddress = /^0x[\da-f]{40}$/i

/** Converts addresses to lower case. */
const normalize = (value: unknown): unknown =>
  typeof value === 'string' && isHexAddress.test(value) ? value.toLowerCase() : value

/** Returns the values of a web3 result, which has them by position and by name, in order of position. */
const toList = ({ __length__: length, ...values }: Record<string, unknown>): unknown[] =>
  Array.from({ length: Number(length) }, (_, at) => normalize(values[at]))
/** Returns the values of a web3 result by name. */
const toNamed = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !/^(\d+|__length__)$/.test(name))
      .map(([name, value]) => [name, normalize(value)]),
  )

const seenEvent = ({ event, returnValues, blockNumber, logIndex }: EventLog): SeenEvent => ({
  name: event,
  args: toNamed(returnValues),
  blockNumber: BigInt(blockNumber as bigint),
  logIndex: Number(logIndex),
})

describe('web3', () => {
  contractCases({
    cannot: {
      // web3 4.16 does not support EIP-3668, and does not poll for events: apps call `getPastEvents` in a timer.
      lookUp: true,
      watch: /Failed to subscribe/,
    },
    open: (address, privateKey): ContractClient => {
      const provider = new KeyrailProvider(address)
      const web3 = new Web3({ provider, config: { transactionPollingInterval: 20 } })
      const from = web3.eth.accounts.wallet.add(privateKey)[0]?.address as Hex
      const createContract = ({ abi, address: at }: Deployed): Contract<ContractAbi> => {
        const contract = new web3.eth.Contract(abi as ContractAbi, at)
        // The only setting that a contract does not inherit.
        contract.config.transactionPollingInterval = 20
        return contract
      }
      const getMethod = (contract: Deployed, name: string, args: readonly unknown[] = []): Method =>
        (createContract(contract).methods as Record<string, (...all: unknown[]) => Method>)[name]?.(...args) as Method
      const options = ({ valueWei, gas }: WriteOptions = {}): object => ({
        from,
        ...(valueWei && { value: valueWei.toString() }),
        ...(gas && { gas: gas.toString() }),
      })

      const sent = async (sending: Sending): Promise<Sent> => {
        const hash = new Promise<Hex>((resolve, reject) => {
          void sending.once('transactionHash', (found) => resolve(found as Hex))
          sending.catch(reject)
        })
        return {
          hash: await hash,
          mined: async () => {
            const receipt = await sending.catch((error: unknown) => {
              const { receipt: failed } = error as { readonly receipt?: TransactionReceipt }
              if (!failed) throw error
              return failed
            })
            return {
              status: receipt.status === 1n ? 'success' : 'reverted',
              blockNumber: BigInt(receipt.blockNumber),
              gasUsed: BigInt(receipt.gasUsed),
              events: Object.values(receipt.events ?? {})
                .flat()
                .map((event) => seenEvent(event as EventLog)),
            }
          },
        }
      }

      return {
        address: from.toLowerCase() as Hex,
        deploy: async ({ abi, bytecode }, args) => {
          const contract = new web3.eth.Contract(abi as ContractAbi)
          contract.config.transactionPollingInterval = 20
          const deployed = await contract.deploy({ data: bytecode, arguments: args as never }).send({ from })
          return { abi, address: deployed.options.address?.toLowerCase() as Hex }
        },
        read: async (contract, name, args) => normalize(await getMethod(contract, name, args).call({ from })),
        write: (contract, name, args, given) => sent(getMethod(contract, name, args).send(options(given))),
        writeAll: async (contract, name, eachArgs) => {
          // For each transaction, web3 would use the nonce of the latest block.
          const nonce = await web3.eth.getTransactionCount(from, 'pending')
          return Promise.all(
            eachArgs.map((args, at) =>
              sent(getMethod(contract, name, args).send({ ...options(), nonce: nonce + BigInt(at) })),
            ),
          )
        },
        sendValue: (to, valueWei) =>
          sent(web3.eth.sendTransaction({ ...options({ valueWei }), to }) as unknown as Sending),
        balance: (of) => web3.eth.getBalance(of),
        blockNumber: () => web3.eth.getBlockNumber(),
        events: async (contract, name, { fromBlock, toBlock, where }) => {
          const range = { fromBlock, toBlock, ...(where && { filter: where }) }
          return (await createContract(contract).getPastEvents(name as never, range as never)).map((event) =>
            seenEvent(event as EventLog),
          )
        },
        watch: (contract, name, onEvent) =>
          new Promise((resolve, reject) => {
            const watching = (
              createContract(contract).events as Record<
                string,
                () => ReturnType<Contract<ContractAbi>['events']['allEvents']>
              >
            )[name]?.()
            watching?.once('error', reject)
            watching?.once('connected', () => resolve(() => {}))
            watching?.on('data', (event) => onEvent(seenEvent(event)))
          }),
        estimate: (contract, name, args, given) => getMethod(contract, name, args).estimateGas(options(given)),
        lookUp: (contract, name, args) => getMethod(contract, name, args).call({ from }),
        decodeFailure: (error, { abi }) => {
          const { name, cause } = error as Failed
          if (name !== 'ContractExecutionError' || !cause) return undefined
          // web3 decodes the revert of a call. Decode that of an estimate with the ABI.
          if (!cause.errorName)
            eth.abi.decodeContractErrorData(
              abi.filter((item) => (item as { type: string }).type === 'error') as never,
              cause as never,
            )
          const { errorName, errorArgs = {}, data } = cause
          if (errorName === 'Panic') return { as: 'panic', code: errorArgs['code'] as bigint }
          if (errorName === 'Error') return { as: 'reason', reason: errorArgs['message'] as string }
          if (errorName) return { as: 'custom', name: errorName, args: toList(errorArgs) }
          return data === undefined || data === '0x' ? { as: 'bare' } : undefined
        },
        close: () => provider.disconnect(),
      }
    },
  })
})
