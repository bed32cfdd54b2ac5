import type { Address, Hash, Hex } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import { checksumAddress } from '../bytes/checksumAddress.ts'
import { isHexData, lower, word, toWord } from '../bytes/hex.ts'
import type { LogEntry } from '../chain/logEntry.ts'
import type { Message, MessageBlock, Outcome } from '../chain/message.ts'
import { stateKey } from '../chain/worldState.ts'
import { logGas } from '../chain/buildBlock.ts'
import { describeValue, invalidInput } from '../invalidInput.ts'
import type { Abi, AbiResult, AbiEventArgs, AbiInterface, AbiItem, AbiName, AbiNamed, AbiValues } from './abi.ts'
import { decodeAbi, encodeAbi, encodeEvent, toSelector, toSignature } from './abiCodec.ts'

/**
 * The call or transaction that a handler responds to.
 * Addresses have the checksum of EIP-55, also in the arguments of the handler, so that they equal those of viem, ethers and web3.js.
 */
export interface ContractCall {
  readonly from: Address
  readonly to: Address
  /** In wei. */
  readonly value: bigint
  /** The full call data, including the selector. */
  readonly data: Bytes
  readonly block: MessageBlock
  /** Whether it is a transaction. State changes of `eth_call` and `eth_estimateGas` are discarded. */
  readonly isTransaction: boolean
  /** Reads a storage slot of the contract. */
  readonly getStorage: (slot: Hash) => Hash
  /** Writes a storage slot of the contract. Reverts, reorganizations and snapshots undo it. */
  readonly setStorage: (slot: Hash, value: Hash) => void
  /**
   * Reverts: with an error of the ABI if you pass its name and arguments, with a reason for any other text, or without data.
   * @throws always.
   * @example
   * const node = createMockNode({ url: 'http://127.0.0.1:8545' })
   * const abi = [{ type: 'function', name: 'pause', inputs: [], outputs: [], stateMutability: 'nonpayable' }] as const
   * node.mockContract('0x00000000219ab540356cbb839cbe05303d7705fa', abi, { pause: (_, { revert }) => revert('not the owner') })
   */
  readonly revert: (reasonOrError?: string, args?: readonly unknown[]) => never
  /**
   * Reverts with a panic code of Solidity: 0x01 is a failed assertion, 0x11 an overflow, 0x12 a division by zero, 0x32 an index out of bounds.
   * @throws always.
   */
  readonly panic: (code: number) => never
  /** Emits an event of the ABI. Pass its arguments by name or in order. */
  readonly emit: (event: string, args?: unknown) => void
  /** Emits a raw log. */
  readonly log: (topics: readonly Hash[], data?: Bytes) => void
}

/** Implements one function of a contract. Synchronous. */
export type FunctionHandler<Args, Result> = (args: Args, call: ContractCall) => Result

/** Handlers for some or all functions of an ABI. For an overloaded function, use the signature `name(type,…)` as the key. */
export type ContractHandlers<A> = A extends Abi
  ? {
      readonly [N in AbiName<A, 'function'>]?: FunctionHandler<
        AbiValues<NonNullable<AbiNamed<A, 'function', N>['inputs']>>,
        AbiResult<NonNullable<AbiNamed<A, 'function', N>['outputs']>>
      >
    } & { readonly [signature: `${string}(${string})`]: FunctionHandler<readonly unknown[], unknown> }
  : { readonly [name: string]: FunctionHandler<readonly unknown[], unknown> }

/** Implements a contract without an ABI: returns the bytes of the result, or nothing for empty bytes. */
export type RawHandler = (call: ContractCall) => Bytes | void

/** One raw handler for all calls, or one for each selector. */
export type RawHandlers = RawHandler | { readonly [selector: Hex]: RawHandler }

/** A contract that `mockContract` defined. */
export interface MockContract<A> {
  /** The address, with the checksum of EIP-55. */
  readonly address: Address
  /** Emits an event in a transaction that the node sends itself. @returns the hash of the transaction. */
  readonly emit: A extends Abi
    ? <N extends AbiName<A, 'event'>>(
        event: N,
        args?: AbiEventArgs<NonNullable<AbiNamed<A, 'event', N>['inputs']>>,
      ) => Hash
    : (event: string, args?: unknown) => Hash
}

/** A contract inside the mock node. */
export interface Contract {
  readonly run: (message: Message) => Outcome
  readonly encodeLog: (event: string, args: unknown) => LogEntry
}

class Revert extends Error {
  readonly data: Hex

  constructor(reason: string, data: Hex) {
    super(reason)
    this.data = data
  }
}

/** The selector of `Error(string)`, with which Solidity encodes a reason. */
const errorSelector = '0x08c379a0'
/** The selector of `Panic(uint256)`. */
const panicSelector = '0x4e487b71'
/** The gas assumed for a handler, besides its logs and storage writes. */
const handlerGas = 5_000

function findItem(abi: Abi, type: string, name: string): AbiItem | undefined {
  const named = abi.filter((item) => item.type === type && (item.name === name || toSignature(item) === name))
  if (named.length > 1) {
    throw invalidInput(
      `The ABI has ${named.length} overloads of ${type} ${name}. Use a signature as the name: ${named.map(toSignature).join(' or ')}`,
    )
  }
  return named[0]
}

/** The message about a name that the ABI does not have, with the names that it has. */
function unknownItem(abi: Abi, type: string, name: string): string {
  const known = abi.filter((item) => item.type === type).map(toSignature)
  return `The ABI has no ${type} ${name}. It has ${known.join(', ') || `no ${type}s`}`
}

/** Returns a JSON ABI, also from an `Interface` of ethers. */
export function parseAbi(abi: Abi | AbiInterface): Abi {
  return 'formatJson' in abi ? (JSON.parse(abi.formatJson()) as Abi) : abi
}

/**
 * Creates a contract from handlers.
 *
 * @param abi - Empty for raw handlers.
 * @param find - Returns the handler for the data of a call.
 */
function buildContract(address: Address, abi: Abi, find: (data: Bytes) => (call: ContractCall) => Bytes): Contract {
  const encodeLog = (name: string, args: unknown): LogEntry => {
    const event = findItem(abi, 'event', name)
    if (event === undefined) throw invalidInput(unknownItem(abi, 'event', name))
    return { address, ...encodeEvent(event, args) }
  }
  const encodeRevert = (reason: string | undefined, args: readonly unknown[] | undefined): Revert => {
    if (reason === undefined) return new Revert('', '0x')
    const error = findItem(abi, 'error', reason)
    if (error === undefined && args !== undefined) throw invalidInput(unknownItem(abi, 'error', reason))
    if (error === undefined) {
      return new Revert(reason, `${errorSelector}${encodeAbi([{ type: 'string' }], [reason]).slice(2)}`)
    }
    return new Revert('', `${toSelector(error)}${encodeAbi(error.inputs ?? [], args ?? []).slice(2)}`)
  }

  return {
    encodeLog,
    run(message) {
      const logs: LogEntry[] = []
      let gas = handlerGas
      const call: ContractCall = {
        from: checksumAddress(message.from),
        to: checksumAddress(address),
        value: message.value,
        data: message.input,
        block: message.block,
        isTransaction: message.isTransaction,
        getStorage: (slot) => message.read(stateKey.slot(address, toWord(slot))) as Hash,
        setStorage(slot, value) {
          gas += 20_000
          message.write(stateKey.slot(address, toWord(slot)), toWord(value))
        },
        revert(reason, args) {
          throw encodeRevert(reason, args)
        },
        panic(code) {
          throw new Revert('', `${panicSelector}${word(code)}`)
        },
        emit: (event, args) => void logs.push(encodeLog(event, args)),
        log: (topics, data = '0x') => void logs.push({ address, topics, data }),
      }
      try {
        const output = find(message.input)(call)
        for (const log of logs) gas += logGas(log)
        return { output, logs, gas }
      } catch (error) {
        if (!(error instanceof Revert)) throw error
        return { output: '0x', logs: [], gas, reverted: { reason: error.message, data: error.data } }
      }
    },
  }
}

/**
 * Handles a call that has no handler: it reverts, as a contract without such a function does. The reason names the function, because every
 * library shows it. A warning repeats it, in case the code under test catches the error.
 */
function missingHandler(abi: Abi, warn: (message: string) => void, note = ''): (call: ContractCall) => never {
  return ({ data, to, revert }) => {
    const selector = data.slice(0, 10)
    const item = abi.find((one) => one.type === 'function' && toSelector(one) === selector)
    const unknown = data === '0x' ? 'calls without data' : `selector ${selector}`
    const message = `No handler for ${item ? toSignature(item) : unknown} of ${to}${note}. Add one with node.mockContract`
    warn(message)
    return revert(message)
  }
}

/**
 * Creates what runs at an address where a test has mocked no contract: every call reverts, and names the function.
 *
 * @param abi - Functions whose names are known.
 * @param warn - Prints a message for each call.
 */
export function createMissingContract(address: Address, abi: Abi, warn: (message: string) => void): Contract {
  const missing = missingHandler(abi, warn, ': no contract is mocked at this address')
  return buildContract(address, [], () => missing)
}

/**
 * Creates a contract whose handlers take and return the values of an ABI.
 *
 * @param warn - Prints a message for each call without a handler.
 */
export function createContract(
  address: Address,
  abi: Abi,
  handlers: { readonly [name: string]: FunctionHandler<readonly unknown[], unknown> | undefined },
  warn: (message: string) => void,
): Contract {
  const bySelector = new Map<string, (call: ContractCall) => Bytes>()
  for (const [name, handler] of Object.entries(handlers)) {
    const item = findItem(abi, 'function', name)
    if (item === undefined) throw invalidInput(unknownItem(abi, 'function', name))
    if (handler === undefined) continue
    const outputs = item.outputs ?? []
    bySelector.set(toSelector(item), (call) => {
      const result = handler(decodeAbi(item.inputs ?? [], `0x${call.data.slice(10)}`), call)
      if (outputs.length === 0) return '0x'
      return encodeAbi(outputs, outputs.length === 1 ? [result] : (result as unknown[]))
    })
  }
  const missing = missingHandler(abi, warn)
  return buildContract(address, abi, (data) => bySelector.get(data.slice(0, 10)) ?? missing)
}

/**
 * Creates a contract whose handlers take and return bytes.
 *
 * @param warn - Prints a message for each call without a handler.
 */
export function createRawContract(address: Address, handlers: RawHandlers, warn: (message: string) => void): Contract {
  const checked =
    (handler: RawHandler) =>
    (call: ContractCall): Bytes => {
      const result = handler(call) ?? '0x'
      if (!isHexData(result))
        throw invalidInput(`The handler of ${address} returned ${describeValue(result)}. Return hex, or nothing`)
      return lower(result)
    }
  const missing = missingHandler([], warn)
  return buildContract(address, [], (data) => {
    const handler = typeof handlers === 'function' ? handlers : handlers[data.slice(0, 10) as Hex]
    return handler ? checked(handler) : missing
  })
}
