import { checkNames } from '@keyrail/core/internal'
import type { Address, AddressOptions } from '@keyrail/core'
import { abiOf, rawContract, typedContract } from './abi/contract.ts'
import type { Contract, FunctionHandler, RawHandlers } from './abi/contract.ts'
import type { Abi, AbiInterface } from './abi/abi.ts'
import { checksumAddress } from './bytes/checksumAddress.ts'
import { isHexData, lower, wordOf } from './bytes/hex.ts'
import { accountsOf } from './chain/accountsOf.ts'
import { createChain } from './chain/chain.ts'
import type { Chain } from './chain/chain.ts'
import type { LogEntry } from './chain/logEntry.ts'
import type { Message, Outcome } from './chain/message.ts'
import { at } from './chain/worldState.ts'
import { dialectAnswer, dialects } from './faults/dialects.ts'
import type { DialectAnswer, Personality } from './faults/dialects.ts'
import type { Fault } from './faults/fault.ts'
import { RefusedCall } from './faults/refusedCall.ts'
import { addressesOf, createDoor } from './http/createDoor.ts'
import type { MockChainOptions, MockLimits, MockLog, MockNode, MockNodeOptions } from './mockNode.ts'
import { refused } from './refused.ts'
import { callMethods } from './rpc/callMethods.ts'
import { chainMethods } from './rpc/chainMethods.ts'
import { checkParams } from './rpc/checkParams.ts'
import { logMethods } from './rpc/logMethods.ts'
import type { Method, NodeView } from './rpc/method.ts'
import { nodeMethods } from './rpc/nodeMethods.ts'
import { stateMethods } from './rpc/stateMethods.ts'
import { warnOnce } from './warnOnce.ts'

const addressNames: readonly (keyof AddressOptions)[] = [
  'url',
  'baseUrl',
  'rpcUrl',
  'apiKey',
  'network',
  'chainId',
  'jwt',
]
const chainNames: readonly (keyof MockChainOptions)[] = [
  'personality',
  'limits',
  'seed',
  'timestamp',
  'blockTime',
  'automine',
]
const limitNames: readonly (keyof MockLimits)[] = ['maxBatch', 'maxLogBlocks', 'maxLogs']

/** The chain id of development chains. */
const usualChainId = 31_337

function chainIdOf({ chainId, network }: AddressOptions): number {
  const id = typeof chainId === 'object' ? chainId[network ?? 'testnet'] : chainId
  if (id !== undefined && (!Number.isSafeInteger(id) || id <= 0))
    throw refused('chainId must be a whole number above 0')
  return id ?? usualChainId
}

/**
 * Makes a node out of nothing but msw handlers: a chain with blocks, accounts, transactions and logs that fit together, at the addresses that
 * the SDK is given, behind a key. It answers Keyrail's clients and any other library alike, and fails as providers do when it is told to.
 *
 * @param options - The address, as the SDK takes it, or several as `endpoints`; beside it what kind of node it is.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it; also on a Node older than 22.12, which msw 3 does not run on.
 * @example
 * const node = createMockNode({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…', chainId: 11155111 })
 * node.setBalance('0x00000000000000000000000000000000000000aa', 10n ** 18n)
 * node.fail('throttled', { times: 2 })
 * // setupServer(...node.handlers).listen()
 */
export function createMockNode(options: MockNodeOptions): MockNode {
  checkNames('createMockNode', options, [...addressNames, ...chainNames, 'endpoints'])
  const [first, ...others] = addressesOf(options)
  if ('endpoints' in options)
    for (const endpoint of [first, ...others])
      checkNames('an endpoint', endpoint, [...addressNames, 'weight', 'name', 'budget'])
  checkNames('limits', options.limits ?? {}, limitNames)
  const {
    personality = 'keyrail',
    seed = 'keyrail',
    timestamp = 1_700_000_000,
    blockTime = 12,
    automine = true,
    limits,
  } = options
  if (!Number.isSafeInteger(blockTime) || blockTime < 1)
    throw refused('blockTime must be a whole number of seconds, 1 or more')
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) throw refused('timestamp must be whole seconds since 1970')
  const chainId = chainIdOf(first)

  const printed = new Set<string>()
  const warn = (sentence: string): void => warnOnce(printed, sentence)
  const contracts = new Map<Address, Contract>()
  const ownMethods = new Map<string, (params: readonly unknown[]) => unknown>()

  const execute = (message: Message): Outcome => {
    const contract = contracts.get(message.to)
    if (contract === undefined) return { output: '0x', logs: [], gas: 0 }
    try {
      return contract.run(message)
    } catch (error) {
      const reason = `a handler of ${message.to} failed: ${(error as Error).message}`
      if (!message.isTransaction) throw new Error(reason, { cause: error })
      // In a block there is nobody to throw to.
      warn(reason)
      return { output: '0x', logs: [], gas: 0, reverted: { reason, data: '0x' } }
    }
  }
  const held = accountsOf(seed)
  const makeChain = (): Chain => createChain({ chainId, seed, held, timestamp, blockTime, automine, execute })
  let chain = makeChain()
  let methods: Readonly<Record<string, Method>> = {}
  const restart = (): void => {
    methods = { ...chainMethods, ...stateMethods, ...nodeMethods, ...logMethods(), ...callMethods }
  }
  restart()

  const limit = (name: keyof MockLimits, voice: Personality): number =>
    limits?.[name] ?? dialects[voice][name] ?? Infinity
  const refuseRange = (fromBlock: number, toBlock: number): Error => {
    const voice = door.personality()
    const answer = dialectAnswer(voice, 'range') as DialectAnswer
    const cap = limit('maxLogBlocks', voice)
    const to = Math.min(toBlock, cap === Infinity ? toBlock : fromBlock + cap - 1)
    const hex = (number: number): string => `0x${number.toString(16)}`
    // The words are the dialect's; the range that it says would do is the one that does.
    const message = answer.error?.message
      .replace(/\[0x[\da-f]+, 0x[\da-f]+\]/, `[${hex(fromBlock)}, ${hex(to)}]`)
      .replace(/10,?000(?= (range|blocks))|(?<=distance: )10000|5000$/, String(cap === Infinity ? 10_000 : cap))
    const { data } = answer.error ?? {}
    return new RefusedCall(
      answer,
      message,
      data && 'from' in Object(data) ? { ...data, from: hex(fromBlock), to: hex(to) } : data,
    )
  }

  const run = (name: string, params: readonly unknown[], fault: Fault | undefined): unknown => {
    const own = ownMethods.get(name)
    if (own !== undefined) return own(params)
    if (fault?.kind === 'unconfirmed') return null
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    if (method === undefined) {
      warn(`no handler for ${name}: add one with node.onMethod('${name}', …)`)
      const answer = dialectAnswer(door.personality(), 'methodUnavailable') as DialectAnswer
      throw new RefusedCall(
        answer,
        answer.error?.message.replace('$METHOD', () => name),
      )
    }
    checkParams(params, method.params)
    const view: NodeView = {
      chain,
      execute,
      lag: fault?.kind === 'laggingHead' ? (fault.options.blocks ?? 3) : 0,
      claimedChainId: fault?.kind === 'wrongChain' ? chainId + 1 : chainId,
      isContract: (address) => contracts.has(address),
      limits: {
        maxLogBlocks: limit('maxLogBlocks', door.personality()),
        maxLogs: limit('maxLogs', door.personality()),
      },
      refuseRange,
    }
    return method.answer(params, view)
  }

  const door = createDoor({ address: options, personality, maxBatch: (voice) => limit('maxBatch', voice), run })

  const onCall = (
    given: Address,
    abi: Abi | AbiInterface | RawHandlers,
    handlers?: { readonly [name: string]: FunctionHandler<readonly unknown[], unknown> | undefined },
  ): unknown => {
    const address = checkAddress(given)
    if (handlers === undefined) return void contracts.set(address, rawContract(address, abi as RawHandlers, warn))
    const contract = typedContract(address, abiOf(abi as Abi | AbiInterface), handlers, warn)
    contracts.set(address, contract)
    return {
      address: checksumAddress(address),
      emit: (event: string, args?: unknown) => chain.emit([contract.encodeLog(event, args)]),
    }
  }

  return {
    handlers: door.handlers,
    chainId,
    accounts: chain.accounts.map((account) => ({ ...account, address: checksumAddress(account.address) })),
    get personality() {
      return door.personality()
    },
    set personality(next) {
      door.setPersonality(next)
    },
    blockNumber: () => chain.height(),
    mine: (count = 1) => chain.mine(count),
    advance: (seconds) => chain.advance(seconds),
    setTime: (seconds) => chain.setTime(seconds),
    reorg: (depth, { drop = false } = {}) => chain.reorg(depth, drop),
    snapshot: () => chain.snapshot(),
    revert: (snapshot) => chain.revert(snapshot),
    reset() {
      door.reset()
      contracts.clear()
      ownMethods.clear()
      printed.clear()
      chain = makeChain()
      restart()
    },
    setBalance: (address, wei) => chain.write(at.balance(checkAddress(address)), wei),
    setNonce: (address, nonce) => chain.write(at.nonce(checkAddress(address)), nonce),
    setCode: (address, code) => chain.write(at.code(checkAddress(address)), lower(code)),
    setStorage: (address, slot, value) => chain.write(at.slot(checkAddress(address), wordOf(slot)), wordOf(value)),
    onCall: onCall as MockNode['onCall'],
    onMethod: (method, handler) => void ownMethods.set(method, handler),
    emit: (logs) => chain.emit((Array.isArray(logs) ? (logs as readonly MockLog[]) : [logs as MockLog]).map(entryOf)),
    fail: door.fail,
    heal: door.heal,
    calls: door.calls,
  }
}

function checkAddress(address: Address): Address {
  if (!isHexData(address, 20)) throw refused('that is no address: 20 bytes in hex, after 0x')
  return lower(address)
}

function entryOf({ address, topics = [], data = '0x' }: MockLog): LogEntry {
  if (topics.length > 4 || topics.some((topic) => !isHexData(topic, 32))) {
    throw refused('topics must be at most four, each of 32 bytes in hex')
  }
  if (!isHexData(data)) throw refused('data must be bytes in hex')
  return { address: checkAddress(address), topics, data }
}
