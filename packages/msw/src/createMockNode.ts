import { checkNames, selectNetwork } from '@keyrail/core/internal'
import type { Address, EndpointUrlOptions } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import { createMissingContract, parseAbi, createRawContract, createContract } from './abi/contract.ts'
import type { Contract, FunctionHandler, RawHandlers } from './abi/contract.ts'
import type { Abi, AbiInterface } from './abi/abi.ts'
import { createMulticall, multicallAddress } from './abi/multicall.ts'
import { standardAbi } from './abi/standardAbi.ts'
import { checksumAddress } from './bytes/checksumAddress.ts'
import { isHexData, lower, toWord } from './bytes/hex.ts'
import { createAccounts } from './chain/createAccounts.ts'
import { createChain } from './chain/chain.ts'
import type { Chain } from './chain/chain.ts'
import type { LogEntry } from './chain/logEntry.ts'
import type { Message, Outcome } from './chain/message.ts'
import { stateKey } from './chain/worldState.ts'
import { providerError, providers } from './faults/providers.ts'
import type { ProviderError, ProviderName } from './faults/providers.ts'
import { RejectedCall } from './faults/rejectedCall.ts'
import { getEndpoints, createMockServer } from './http/createMockServer.ts'
import type { RunCall } from './http/createRequestHandler.ts'
import type { MockChainOptions, MockLimits, MockLog, MockNode, MockNodeOptions } from './mockNode.ts'
import { checkInteger, describeValue, invalidInput } from './invalidInput.ts'
import { callMethods } from './rpc/callMethods.ts'
import { chainMethods } from './rpc/chainMethods.ts'
import { checkParams } from './rpc/checkParams.ts'
import { logMethods } from './rpc/logMethods.ts'
import type { Method, NodeView } from './rpc/method.ts'
import { nodeMethods } from './rpc/nodeMethods.ts'
import { stateMethods } from './rpc/stateMethods.ts'
import { createSocketServer } from './socket/createSocketServer.ts'
import type { Subscriptions } from './socket/subscriptions.ts'
import { warnOnce } from './warnOnce.ts'

const endpointNames: readonly (keyof EndpointUrlOptions)[] = [
  'url',
  'baseUrl',
  'rpcUrl',
  'apiKey',
  'network',
  'chainId',
  'jwt',
]
const chainNames: readonly (keyof MockChainOptions)[] = [
  'provider',
  'limits',
  'seed',
  'timestamp',
  'blockTime',
  'automine',
]
const limitNames: readonly (keyof MockLimits)[] = ['maxBatch', 'maxLogBlocks', 'maxLogs']

/** The methods that need a WebSocket connection. */
const socketMethods = new Map<string, (subscriptions: Subscriptions, params: readonly unknown[]) => unknown>([
  ['eth_subscribe', ({ subscribe }, params) => subscribe(params)],
  ['eth_unsubscribe', ({ unsubscribe }, [id]) => unsubscribe(id)],
])

/** Whether data is a selector and whole words of arguments. Other data is a note in a payment, for example. */
const isFunctionCall = (input: Bytes): boolean => input.length % 64 === 10

/** The chain id of development chains such as Hardhat and anvil. */
const defaultChainId = 31_337

/** Returns the chain id of a node: the one that its endpoints agree on. */
function resolveChainId(endpoints: readonly EndpointUrlOptions[]): number {
  let known: number | undefined
  for (const { chainId, network } of endpoints) {
    const id = selectNetwork('chainId', chainId, network) as number | undefined
    if (id === undefined) continue
    checkInteger('chainId', id, 1)
    if (known !== undefined && id !== known)
      throw invalidInput(
        `endpoints have the chain ids ${known} and ${id}, but a node is on one chain. Create a node for each chain`,
      )
    known = id
  }
  return known ?? defaultChainId
}

/**
 * Creates a mock Ethereum node from msw handlers: a chain with blocks, accounts, transactions and logs, behind the same endpoint and key
 * that the SDK is configured with. Any library can call it. It fails the way providers do when a test calls `fail`.
 *
 * @param options - The endpoint, or several as `endpoints`, and the behavior of the node.
 * @throws {KeyrailError} kind `invalidRequest`, with the option and how to fix it; also on Node older than 22.12, which msw 3 does not support.
 * @example
 * const node = createMockNode({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…', chainId: 11155111 })
 * node.setBalance('0x00000000000000000000000000000000000000aa', 10n ** 18n)
 * node.fail('throttled', { times: 2 })
 * // setupServer(...node.handlers).listen({ onUnhandledFrame })
 */
export function createMockNode(options: MockNodeOptions): MockNode {
  checkNames('createMockNode', options, [...endpointNames, ...chainNames, 'endpoints'])
  const endpoints = getEndpoints(options)
  if ('endpoints' in options)
    for (const endpoint of endpoints)
      checkNames('an endpoint', endpoint, [...endpointNames, 'weight', 'name', 'budget'])
  checkNames('limits', options.limits ?? {}, limitNames)
  const {
    provider = 'keyrail',
    seed = 'keyrail',
    timestamp = 1_700_000_000,
    blockTime = 12,
    automine = true,
    limits,
  } = options
  checkInteger('blockTime', blockTime, 1)
  checkInteger('timestamp', timestamp, 0)
  const chainId = resolveChainId(endpoints)

  const printed = new Set<string>()
  const warn = (message: string): void => warnOnce(printed, message)
  const contracts = new Map<Address, Contract>()
  const abis = new Map<Address, Abi>()
  const mockedMethods = new Map<string, (params: readonly unknown[]) => unknown>()

  const execute = (message: Message): Outcome => {
    const { to, input } = message
    const contract =
      contracts.get(to) ??
      (to === multicallAddress
        ? multicall
        : isFunctionCall(input)
          ? createMissingContract(to, [...[...abis.values()].flat(), ...standardAbi], warn)
          : undefined)
    if (contract === undefined) return { output: '0x', logs: [], gas: 0 }
    try {
      return contract.run(message)
    } catch (error) {
      const reason = `The handler of ${message.to} failed: ${(error as Error).message}`
      if (!message.isTransaction) throw new Error(reason, { cause: error })
      // Mining a block has no caller that could catch the error.
      warn(reason)
      return { output: '0x', logs: [], gas: 0, reverted: { reason, data: '0x' } }
    }
  }
  const multicall = createMulticall(execute, warn)
  const funded = createAccounts(seed)
  let notify = (): void => {}
  const onChange = (): void => notify()
  const makeChain = (): Chain =>
    createChain({ chainId, seed, funded, timestamp, blockTime, automine, execute, onChange })
  let chain = makeChain()
  let methods: Readonly<Record<string, Method>> = {}
  const resetMethods = (): void => {
    methods = { ...chainMethods, ...stateMethods, ...nodeMethods, ...logMethods(), ...callMethods }
  }
  resetMethods()

  const limit = (name: keyof MockLimits, ofProvider: ProviderName): number =>
    limits?.[name] ?? providers[ofProvider][name] ?? Infinity
  const createRangeError = (fromBlock: number, toBlock: number): Error => {
    const current = server.provider()
    const template = providerError(current, 'range') as ProviderError
    const maxBlocks = limit('maxLogBlocks', current)
    const to = Math.min(toBlock, maxBlocks === Infinity ? toBlock : fromBlock + maxBlocks - 1)
    const hex = (number: number): string => `0x${number.toString(16)}`
    // The provider's wording, with the range and the limit of this node: clients parse both.
    const message = template.error?.message
      .replace(/\[0x[\da-f]+, 0x[\da-f]+\]/, `[${hex(fromBlock)}, ${hex(to)}]`)
      .replace(
        /10,?000(?= (range|blocks))|(?<=distance: )10000|5000$/,
        String(maxBlocks === Infinity ? 10_000 : maxBlocks),
      )
    const { data } = template.error ?? {}
    return new RejectedCall(
      template,
      message,
      data && 'from' in Object(data) ? { ...data, from: hex(fromBlock), to: hex(to) } : data,
    )
  }

  const run: RunCall = (name, params, { fault, subscriptions }) => {
    const handler = mockedMethods.get(name)
    if (handler !== undefined) return handler(params)
    if (fault?.kind === 'unconfirmed') return null
    const socketMethod = socketMethods.get(name)
    if (socketMethod !== undefined && subscriptions !== undefined) return socketMethod(subscriptions, params)
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    if (method === undefined) {
      if (socketMethod === undefined) warn(`No handler for ${name}. Add one with node.mockMethod('${name}', …)`)
      const error = providerError(server.provider(), 'methodUnavailable') as ProviderError
      throw new RejectedCall(
        error,
        error.error?.message.replace('$METHOD', () => name),
      )
    }
    checkParams(params, method.params)
    const view: NodeView = {
      chain,
      execute,
      lag: fault?.kind === 'laggingHead' ? (fault.options.blocks ?? 3) : 0,
      claimedChainId: fault?.kind === 'wrongChain' ? chainId + 1 : chainId,
      isContract: (address) => contracts.has(address) || address === multicallAddress,
      limits: {
        maxLogBlocks: limit('maxLogBlocks', server.provider()),
        maxLogs: limit('maxLogs', server.provider()),
      },
      createRangeError,
    }
    return method.handle(params, view)
  }

  const server = createMockServer({ endpoint: options, provider, maxBatch: (name) => limit('maxBatch', name), run })
  const sockets = createSocketServer({ ...server, chain: () => chain })
  notify = sockets.notify
  const clearFaults = (): void => {
    server.clearFaults()
    sockets.clearFaults()
  }

  const mockContract = (
    given: Address,
    abi: Abi | AbiInterface | RawHandlers,
    handlers?: { readonly [name: string]: FunctionHandler<readonly unknown[], unknown> | undefined },
  ): unknown => {
    const address = checkAddress(given)
    if (handlers === undefined) return void contracts.set(address, createRawContract(address, abi as RawHandlers, warn))
    const parsed = parseAbi(abi as Abi | AbiInterface)
    const contract = createContract(address, parsed, handlers, warn)
    contracts.set(address, contract)
    abis.set(address, parsed)
    return {
      address: checksumAddress(address),
      emit: (event: string, args?: unknown) => chain.emit([contract.encodeLog(event, args)]),
    }
  }

  return {
    handlers: [...server.handlers, ...sockets.handlers],
    chainId,
    accounts: chain.accounts.map((account) => ({ ...account, address: checksumAddress(account.address) })),
    get provider() {
      return server.provider()
    },
    set provider(next) {
      server.setProvider(next)
    },
    blockNumber: () => chain.height(),
    mine: (count = 1) => chain.mine(count),
    advanceTime: (seconds) => chain.advanceTime(seconds),
    setNextBlockTimestamp: (seconds) => chain.setNextBlockTimestamp(seconds),
    reorg: (depth, { drop = false } = {}) => chain.reorg(depth, drop),
    snapshot: () => chain.snapshot(),
    revert: (snapshot) => chain.revert(snapshot),
    reset() {
      server.reset()
      sockets.clearFaults()
      sockets.disconnect()
      contracts.clear()
      abis.clear()
      mockedMethods.clear()
      printed.clear()
      chain = makeChain()
      resetMethods()
    },
    setBalance: (address, wei) => chain.write(stateKey.balance(checkAddress(address)), wei),
    setNonce: (address, nonce) => chain.write(stateKey.nonce(checkAddress(address)), nonce),
    setCode: (address, code) => chain.write(stateKey.code(checkAddress(address)), lower(code)),
    setStorageAt: (address, slot, value) =>
      chain.write(stateKey.slot(checkAddress(address), toWord(slot)), toWord(value)),
    mockContract: mockContract as MockNode['mockContract'],
    mockMethod: (method, handler) => void mockedMethods.set(method, handler),
    emit: (logs) =>
      chain.emit((Array.isArray(logs) ? (logs as readonly MockLog[]) : [logs as MockLog]).map(toLogEntry)),
    fail: server.fail,
    clearFaults,
    failNotifications: sockets.failNotifications,
    disconnect: sockets.disconnect,
    connections: sockets.connections,
    calls: server.calls,
  }
}

function checkAddress(address: Address): Address {
  if (!isHexData(address, 20)) throw invalidInput(`The address is ${describeValue(address)}. Use 0x and 40 hex digits`)
  return lower(address)
}

function toLogEntry({ address, topics = [], data = '0x' }: MockLog): LogEntry {
  if (topics.length > 4) throw invalidInput(`The log has ${topics.length} topics. A log can have at most 4`)
  for (const topic of topics) {
    if (!isHexData(topic, 32))
      throw invalidInput(`A topic of the log is ${describeValue(topic)}. Use 0x and 64 hex digits`)
  }
  if (!isHexData(data))
    throw invalidInput(`The data of the log is ${describeValue(data)}. Use 0x and an even number of hex digits`)
  return { address: checkAddress(address), topics, data }
}
