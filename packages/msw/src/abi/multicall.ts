import type { Address } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import { lower } from '../bytes/hex.ts'
import type { LogEntry } from '../chain/logEntry.ts'
import type { Execute } from '../chain/message.ts'
import { stateKey } from '../chain/worldState.ts'
import type { StateValue } from '../chain/worldState.ts'
import type { Abi, AbiParameter } from './abi.ts'
import { decodeAbi, toSelector } from './abiCodec.ts'
import { createContract } from './contract.ts'
import type { Contract, FunctionHandler } from './contract.ts'

/** The address of Multicall3 on almost every chain. */
export const multicallAddress: Address = '0xca11bde05977b3631167028862be2a173976ca11'

const number: readonly AbiParameter[] = [{ type: 'uint256' }]
const target = { name: 'target', type: 'address' }
const callData = { name: 'callData', type: 'bytes' }
const calls: AbiParameter = { name: 'calls', type: 'tuple[]', components: [target, callData] }
const calls3: AbiParameter = {
  name: 'calls',
  type: 'tuple[]',
  components: [target, { name: 'allowFailure', type: 'bool' }, callData],
}
const results: readonly AbiParameter[] = [
  {
    type: 'tuple[]',
    components: [
      { name: 'success', type: 'bool' },
      { name: 'returnData', type: 'bytes' },
    ],
  },
]

const abi: Abi = [
  { type: 'function', name: 'aggregate', inputs: [calls], outputs: [...number, { type: 'bytes[]' }] },
  { type: 'function', name: 'tryAggregate', inputs: [{ type: 'bool' }, calls], outputs: results },
  { type: 'function', name: 'aggregate3', inputs: [calls3], outputs: results },
  { type: 'function', name: 'getEthBalance', inputs: [{ type: 'address' }], outputs: number },
  { type: 'function', name: 'getBlockNumber', inputs: [], outputs: number },
  { type: 'function', name: 'getCurrentBlockTimestamp', inputs: [], outputs: number },
  { type: 'function', name: 'getBasefee', inputs: [], outputs: number },
]

interface InnerCall {
  readonly target: Address
  readonly callData: Bytes
  readonly allowFailure?: boolean
}

interface Result {
  readonly success: boolean
  readonly returnData: Bytes
}

/**
 * Creates Multicall3, which runs calls of other mocked contracts: its functions that libraries use.
 *
 * @param execute - Runs one call.
 * @param warn - Prints a message for a function that it does not have.
 * @see https://github.com/mds1/multicall3
 */
export function createMulticall(execute: Execute, warn: (message: string) => void): Contract {
  return {
    encodeLog: () => {
      throw new Error('Multicall3 has no events')
    },
    run(message) {
      const logs: LogEntry[] = []
      let gas = 0

      /** Runs one call. If it reverts, what it has written is discarded. */
      const runOne = (call: InnerCall): Result => {
        const written = new Map<string, StateValue>()
        const outcome = execute({
          ...message,
          from: multicallAddress,
          to: lower(call.target),
          value: 0n,
          input: lower(call.callData),
          read: (key) => written.get(key) ?? message.read(key),
          write: (key, value) => written.set(key, value),
        })
        gas += outcome.gas
        if (outcome.reverted) return { success: false, returnData: outcome.reverted.data }
        logs.push(...outcome.logs)
        for (const [key, value] of written) message.write(key, value)
        return { success: true, returnData: outcome.output }
      }

      const runAll = (all: unknown, revert: () => never, mayFail: (call: InnerCall) => boolean): Result[] =>
        (all as readonly InnerCall[]).map((call) => {
          const result = runOne(call)
          return result.success || mayFail(call) ? result : revert()
        })

      const handler =
        (
          run: (args: readonly unknown[], revert: () => never) => unknown,
        ): FunctionHandler<readonly unknown[], unknown> =>
        (args, call) =>
          run(args, () => call.revert('Multicall3: call failed'))
      const { block } = message
      const handlers = {
        aggregate: handler(([all], revert) => [
          BigInt(block.number),
          runAll(all, revert, () => false).map(({ returnData }) => returnData),
        ]),
        tryAggregate: handler(([requiresSuccess, all], revert) => runAll(all, revert, () => requiresSuccess !== true)),
        aggregate3: handler(([all], revert) => runAll(all, revert, ({ allowFailure }) => allowFailure === true)),
        getEthBalance: handler(([owner]) => message.read(stateKey.balance(lower(owner as Address)))),
        getBlockNumber: handler(() => BigInt(block.number)),
        getCurrentBlockTimestamp: handler(() => BigInt(block.timestamp)),
        getBasefee: handler(() => block.baseFee),
      }
      const outcome = createContract(multicallAddress, abi, handlers, warn).run(message)
      return outcome.reverted ? outcome : { ...outcome, logs, gas: outcome.gas + gas }
    },
  }
}

/** Code that copies its own end as arguments: PUSH2 length, CODESIZE, SUB, DUP1, PUSH2 length, DUP4, CODECOPY. */
const argumentsAt = /61([\da-f]{4})38038061\1(?:8339)/

/**
 * Finds the call of Multicall3 in a call without `to` whose data creates Multicall3 and calls it, as viem sends it with `deployless: true`.
 *
 * @param input - The data of the call.
 * @returns The data for Multicall3; undefined for any other code, which the node cannot run.
 */
export function findDeploylessMulticall(input: Bytes): Bytes | undefined {
  const [, length] = argumentsAt.exec(input.slice(0, 200)) ?? []
  if (length === undefined) return undefined
  try {
    const given = decodeAbi([{ type: 'bytes' }, { type: 'bytes' }], `0x${input.slice(2 + 2 * Number(`0x${length}`))}`)
    const [code, data] = given as [Bytes, Bytes]
    // Its dispatcher compares with the selector of each of its functions.
    return [data.slice(0, 10), toSelector(abi[0]!)].every((selector) => code.includes(selector.slice(2)))
      ? data
      : undefined
  } catch {
    return undefined
  }
}
