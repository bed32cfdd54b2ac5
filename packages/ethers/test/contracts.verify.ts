import { contractCases } from '@keyrail/contracts/test/contractCases.ts'
import type {
  ContractClient,
  Deployed,
  Hex,
  SeenEvent,
  Sent,
  WriteOptions,
} from '@keyrail/contracts/test/contractClient.ts'
import { Contract, ContractFactory, EventLog, Interface, isError, NonceManager, Result, Wallet } from 'ethers'
import type { ContractEventPayload, InterfaceAbi, Log, LogDescription, TransactionResponse } from 'ethers'
import { describe } from 'vitest'
import { KeyrailProvider } from '../src/index.ts'

/** Converts addresses to lower case, and ethers' results to arrays. */
const normalize = (value: unknown): unknown => {
  if (typeof value === 'string') return /^0x[\da-f]{40}$/i.test(value) ? value.toLowerCase() : value
  return value instanceof Result ? value.toArray().map(normalize) : value
}

const seenEvent = (
  { blockNumber, index }: Log,
  { name, fragment, args }: Pick<LogDescription, 'name' | 'fragment' | 'args'>,
): SeenEvent => ({
  name,
  args: Object.fromEntries(fragment.inputs.map((input, at) => [input.name, normalize(args[at])])),
  blockNumber: BigInt(blockNumber),
  logIndex: index,
})

const overrides = ({ valueWei, gas }: WriteOptions = {}): object => ({
  ...(valueWei && { value: valueWei }),
  ...(gas && { gasLimit: gas }),
})

describe('ethers', () => {
  contractCases({
    open: (address, privateKey): ContractClient => {
      const provider = new KeyrailProvider(address, { pollingInterval: 20 })
      const wallet = new Wallet(privateKey, provider)
      const signer = new NonceManager(wallet)
      const createContract = ({ abi, address: at }: Deployed): Contract => new Contract(at, abi as InterfaceAbi, signer)
      const getMethod = (contract: Deployed, name: string): ReturnType<Contract['getFunction']> =>
        createContract(contract).getFunction(name)

      const sent = (response: TransactionResponse, abi: readonly unknown[] = []): Sent => ({
        hash: response.hash as Hex,
        mined: async () => {
          let receipt
          try {
            receipt = await response.wait()
          } catch (error) {
            if (!isError(error, 'CALL_EXCEPTION')) throw error
            receipt = error.receipt
          }
          if (!receipt) throw new Error('no receipt')
          const parser = new Interface(abi as InterfaceAbi)
          return {
            status: receipt.status === 1 ? 'success' : 'reverted',
            blockNumber: BigInt(receipt.blockNumber),
            gasUsed: receipt.gasUsed,
            events: receipt.logs.map((log) =>
              seenEvent(
                log,
                log instanceof EventLog
                  ? { name: log.eventName, fragment: log.fragment, args: log.args }
                  : (parser.parseLog(log) as LogDescription),
              ),
            ),
          }
        },
      })
      const write: ContractClient['write'] = async (contract, name, args = [], options) => {
        try {
          return sent(
            (await getMethod(contract, name).send(...args, overrides(options))) as TransactionResponse,
            contract.abi,
          )
        } catch (error) {
          // NonceManager counts a nonce for a transaction that was rejected before it was sent.
          signer.reset()
          throw error
        }
      }

      return {
        address: wallet.address.toLowerCase() as Hex,
        deploy: async ({ abi, bytecode }, args) => {
          const contract = await new ContractFactory(abi as InterfaceAbi, bytecode, signer).deploy(...args)
          await contract.waitForDeployment()
          return { abi, address: (await contract.getAddress()).toLowerCase() as Hex }
        },
        read: async (contract, name, args = []) => normalize(await getMethod(contract, name).staticCall(...args)),
        write,
        writeAll: (contract, name, eachArgs) => Promise.all(eachArgs.map((args) => write(contract, name, args))),
        sendValue: async (to, value) => sent(await signer.sendTransaction({ to, value })),
        balance: (of) => provider.getBalance(of),
        blockNumber: async () => BigInt(await provider.getBlockNumber()),
        events: async (deployed, name, { fromBlock, toBlock, where = {} }) => {
          const contract = createContract(deployed)
          const { inputs } = contract.interface.getEvent(name) as NonNullable<ReturnType<Interface['getEvent']>>
          const filter = contract.getEvent(name)(
            ...inputs.filter(({ indexed }) => indexed).map((input) => where[input.name] ?? null),
          )
          const found = (await contract.queryFilter(filter, fromBlock, toBlock)) as EventLog[]
          return found.map((log) => seenEvent(log, { name: log.eventName, fragment: log.fragment, args: log.args }))
        },
        watch: async (deployed, name, onEvent) => {
          const contract = createContract(deployed)
          const listener = (...values: unknown[]): void => {
            const { log, eventName, fragment, args } = values.at(-1) as ContractEventPayload
            onEvent(seenEvent(log, { name: eventName, fragment, args }))
          }
          await contract.on(name, listener)
          return () => void contract.off(name, listener)
        },
        estimate: (contract, name, args = [], options) =>
          getMethod(contract, name).estimateGas(...args, overrides(options)),
        lookUp: async (contract, name, args) => getMethod(contract, name).staticCall(...args, { enableCcipRead: true }),
        decodeFailure: (error, { abi }) => {
          if (!isError(error, 'CALL_EXCEPTION')) return undefined
          const { data } = error
          // ethers decodes the revert of a read. Decode that of an estimate with the ABI.
          const revert =
            error.revert ?? (data && data !== '0x' ? new Interface(abi as InterfaceAbi).parseError(data) : null)
          if (revert?.name === 'Panic') return { as: 'panic', code: BigInt(revert.args[0] as number) }
          if (revert?.name === 'Error') return { as: 'reason', reason: revert.args[0] as string }
          if (revert) return { as: 'custom', name: revert.name, args: normalize(revert.args) as unknown[] }
          return data === '0x' ? { as: 'bare' } : undefined
        },
        close: () => provider.destroy(),
      }
    },
  })
})
