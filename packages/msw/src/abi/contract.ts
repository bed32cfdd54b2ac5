import type { Address, Bytes, Hash, Hex } from '@keyrail/core'
import { checksumAddress } from '../bytes/checksumAddress.ts'
import { isHexData, lower, word, wordOf } from '../bytes/hex.ts'
import type { LogEntry } from '../chain/logEntry.ts'
import type { Message, MessageBlock, Outcome } from '../chain/message.ts'
import { at } from '../chain/worldState.ts'
import { gasOfLog } from '../chain/buildBlock.ts'
import { refused } from '../refused.ts'
import type { Abi, AbiAnswer, AbiEventArgs, AbiInterface, AbiItem, AbiName, AbiNamed, AbiValues } from './abi.ts'
import { decodeAbi, encodeAbi, encodeEvent, selectorOf, signatureOf } from './abiCodec.ts'

/**
 * What a handler knows of the call or transaction that it answers, and may do about it.
 * Addresses have the checksum of EIP-55, in the arguments of a handler too, so that they equal those of viem, ethers and web3.js.
 */
export interface ContractCall {
  readonly from: Address
  readonly to: Address
  /** In wei. */
  readonly value: bigint
  /** The whole data, with its selector. */
  readonly data: Bytes
  readonly block: MessageBlock
  /** Whether it is a transaction; of an `eth_call` or an estimate nothing stays. */
  readonly isTransaction: boolean
  /** Reads a slot of the contract. */
  readonly getStorage: (slot: Hash) => Hash
  /** Writes a slot of the contract; undone where the call reverts, and by reorganizations and snapshots. */
  readonly setStorage: (slot: Hash, value: Hash) => void
  /**
   * Reverts. The name of an error of the ABI with its values gives that error; any other text is the reason, none is a bare revert.
   * @throws always: nothing after it runs.
   */
  readonly revert: (reasonOrError?: string, args?: readonly unknown[]) => never
  /**
   * Reverts as the compiler's own checks do: 0x01 is an assertion, 0x11 an overflow, 0x12 a division by zero, 0x32 an index.
   * @throws always: nothing after it runs.
   */
  readonly panic: (code: number) => never
  /** Emits an event of the ABI, by its name and values. */
  readonly emit: (event: string, args?: unknown) => void
  /** Emits a log as it is. */
  readonly log: (topics: readonly Hash[], data?: Bytes) => void
}

/** Answers one function of a contract. Synchronous. */
export type FunctionHandler<Args, Answer> = (args: Args, call: ContractCall) => Answer

/** A handler for some or all functions of an ABI. One of several with the same name goes by its signature, `name(type,…)`. */
export type ContractHandlers<A> = A extends Abi
  ? {
      readonly [N in AbiName<A, 'function'>]?: FunctionHandler<
        AbiValues<NonNullable<AbiNamed<A, 'function', N>['inputs']>>,
        AbiAnswer<NonNullable<AbiNamed<A, 'function', N>['outputs']>>
      >
    } & { readonly [signature: `${string}(${string})`]: FunctionHandler<readonly unknown[], unknown> }
  : { readonly [name: string]: FunctionHandler<readonly unknown[], unknown> }

/** Answers raw calls: the bytes of the result. Nothing is empty bytes. */
export type RawHandler = (call: ContractCall) => Bytes | void

/** One handler for all calls, or one for each selector. */
export type RawHandlers = RawHandler | { readonly [selector: Hex]: RawHandler }

/** A contract that a test answers for. */
export interface MockContract<A> {
  /** With the checksum of EIP-55. */
  readonly address: Address
  /** Has an event logged, by a transaction of the node's own. */
  readonly emit: A extends Abi
    ? <N extends AbiName<A, 'event'>>(
        event: N,
        args?: AbiEventArgs<NonNullable<AbiNamed<A, 'event', N>['inputs']>>,
      ) => Hash
    : (event: string, args?: unknown) => Hash
}

/** What stands at an address: how it is run, and the events that it knows. */
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

/** The selector of `Error(string)`, which a reason is. */
const errorSelector = '0x08c379a0'
/** The selector of `Panic(uint256)`. */
const panicSelector = '0x4e487b71'
/** Gas that a handler is taken to use, beside its logs and slots. */
const handlerGas = 5_000

function itemNamed(abi: Abi, type: string, name: string): AbiItem | undefined {
  const named = abi.filter((item) => item.type === type && (item.name === name || signatureOf(item) === name))
  if (named.length > 1) {
    throw refused(
      `the ABI has several of the name ${name}: say which by its signature, ${named.map(signatureOf).join(' or ')}`,
    )
  }
  return named[0]
}

/** An ABI in JSON, or the one that an `Interface` of ethers holds. */
export function abiOf(abi: Abi | AbiInterface): Abi {
  return 'formatJson' in abi ? (JSON.parse(abi.formatJson()) as Abi) : abi
}

/**
 * Makes a contract of handlers.
 *
 * @param abi - Empty where the handlers are raw.
 * @param find - The handler for a call, made to take its raw form.
 */
function contractOf(address: Address, abi: Abi, find: (data: Bytes) => (call: ContractCall) => Bytes): Contract {
  const encodeLog = (name: string, args: unknown): LogEntry => {
    const event = itemNamed(abi, 'event', name)
    if (event === undefined) throw refused(`the ABI has no event ${name}`)
    return { address, ...encodeEvent(event, args) }
  }
  const encodeRevert = (reason: string | undefined, args: readonly unknown[] | undefined): Revert => {
    if (reason === undefined) return new Revert('', '0x')
    const error = itemNamed(abi, 'error', reason)
    if (error === undefined && args !== undefined) throw refused(`the ABI has no error ${reason}`)
    if (error === undefined) {
      return new Revert(reason, `${errorSelector}${encodeAbi([{ type: 'string' }], [reason]).slice(2)}`)
    }
    return new Revert('', `${selectorOf(error)}${encodeAbi(error.inputs ?? [], args ?? []).slice(2)}`)
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
        getStorage: (slot) => message.read(at.slot(address, wordOf(slot))) as Hash,
        setStorage(slot, value) {
          gas += 20_000
          message.write(at.slot(address, wordOf(slot)), wordOf(value))
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
        for (const log of logs) gas += gasOfLog(log)
        return { output, logs, gas }
      } catch (error) {
        if (!(error instanceof Revert)) throw error
        return { output: '0x', logs: [], gas, reverted: { reason: error.message, data: error.data } }
      }
    },
  }
}

/**
 * Answers a call that has no handler: it reverts, as a contract without such a function does. The reason names the function, because every
 * library shows it, and a warning says the same in case the code under test catches the error.
 */
function missingHandler(abi: Abi, warn: (sentence: string) => void): (call: ContractCall) => never {
  return ({ data, to, revert }) => {
    const selector = data.slice(0, 10)
    const item = abi.find((one) => one.type === 'function' && selectorOf(one) === selector)
    const unknown = data === '0x' ? 'calls without data' : `selector ${selector}`
    const sentence = `no handler for ${item ? signatureOf(item) : unknown} of ${to}: add one with node.onCall`
    warn(sentence)
    return revert(sentence)
  }
}

/**
 * A contract whose handlers take and give values of an ABI.
 *
 * @param warn - Is given a sentence for each call that has no handler.
 */
export function typedContract(
  address: Address,
  abi: Abi,
  handlers: { readonly [name: string]: FunctionHandler<readonly unknown[], unknown> | undefined },
  warn: (sentence: string) => void,
): Contract {
  const bySelector = new Map<string, (call: ContractCall) => Bytes>()
  for (const [name, handler] of Object.entries(handlers)) {
    const item = itemNamed(abi, 'function', name)
    if (item === undefined) throw refused(`the ABI has no function ${name}`)
    if (handler === undefined) continue
    const outputs = item.outputs ?? []
    bySelector.set(selectorOf(item), (call) => {
      const result = handler(decodeAbi(item.inputs ?? [], `0x${call.data.slice(10)}`), call)
      if (outputs.length === 0) return '0x'
      return encodeAbi(outputs, outputs.length === 1 ? [result] : (result as unknown[]))
    })
  }
  const missing = missingHandler(abi, warn)
  return contractOf(address, abi, (data) => bySelector.get(data.slice(0, 10)) ?? missing)
}

/**
 * A contract whose handlers take and give bytes.
 *
 * @param warn - Is given a sentence for each call that has no handler.
 */
export function rawContract(address: Address, handlers: RawHandlers, warn: (sentence: string) => void): Contract {
  const checked =
    (handler: RawHandler) =>
    (call: ContractCall): Bytes => {
      const result = handler(call) ?? '0x'
      if (!isHexData(result)) throw refused('a raw handler gives bytes in hex, or nothing')
      return lower(result)
    }
  const missing = missingHandler([], warn)
  return contractOf(address, [], (data) => {
    const handler = typeof handlers === 'function' ? handlers : handlers[data.slice(0, 10) as Hex]
    return handler ? checked(handler) : missing
  })
}
