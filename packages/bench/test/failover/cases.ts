import { heldOutNodeFailures } from '@keyrail/gateway/test/heldOutNodeFailures.ts'
import { chainIds } from '@keyrail/gateway/test/startGateway.ts'
import { result, startFakeUpstream } from '@keyrail/gateway/test/fakeUpstream.ts'
import type { Behaviour, FakeUpstream, SeenCall } from '@keyrail/gateway/test/fakeUpstream.ts'
import { createBatch, createCall, hangingNode, nodeFailures, nodeStates } from '@keyrail/gateway/test/nodeFailures.ts'
import type { NodeFailure } from '@keyrail/gateway/test/nodeFailures.ts'
import { wrongResults } from '@keyrail/gateway/test/wrongResults.ts'

/** A failure of the first of two nodes, met by one call or by a batch of three. */
export interface Case {
  readonly failure: NodeFailure
  readonly form: 'single' | 'batch'
  readonly isHeldOut: boolean
}

const toCases = (failures: readonly NodeFailure[], isHeldOut: boolean): Case[] =>
  failures.flatMap((failure) => [
    { failure, form: 'single', isHeldOut },
    { failure, form: 'batch', isHeldOut },
  ])

/** The cases of `failover.test.ts` and `verifiedResults.test.ts`, and those that were held out when the failover was written. */
export const cases: readonly Case[] = [
  ...toCases([...nodeFailures, ...Object.values(nodeStates), hangingNode, ...wrongResults], false),
  ...toCases(heldOutNodeFailures, true),
]

/** The two nodes of a case. */
export interface NodePair {
  readonly first: FakeUpstream
  readonly second: FakeUpstream
  /** How many calls of the case the first node got. */
  readonly failed: () => number
  readonly stop: () => Promise<void>
}

/** The newest block of a node. */
const head = 100

/** Starts the two nodes of a case. Both respond to queries of any proxy about their chain and their head. */
export const startNodes = async ({ failure }: Case): Promise<NodePair> => {
  const [first, second] = [
    await startFakeUpstream(failure.chainId ?? chainIds.testnet),
    await startFakeUpstream(chainIds.testnet),
  ]
  first.head = failure.head ?? head
  second.head = head
  let failed = 0
  first.behave = withChainQueries(first, {
    ...failure,
    behave: (call, response) => {
      failed += 1
      return failure.behave(call, response)
    },
  })
  second.behave = withChainQueries(second, { ...failure, behave: (call) => result(call, getRightResult(call)) })
  return {
    first,
    second,
    failed: () => failed,
    stop: async () => {
      await first.stop()
      await second.stop()
    },
  }
}

const withChainQueries =
  (node: FakeUpstream, { behave, method, params }: NodeFailure): Behaviour =>
  (call, response) => {
    const tag = (call.params as readonly unknown[] | undefined)?.[0]
    // A call of the case itself, not a query of the proxy.
    const isOwn = call.method === method && params?.()[0] === tag
    if (!isOwn && call.method === 'eth_syncing') return result(call, 'false')
    if (!isOwn && call.method === 'eth_blockNumber') return result(call, `"${toHex(node.head)}"`)
    if (!isOwn && call.method === 'eth_getBlockByNumber' && typeof tag === 'string')
      return result(
        call,
        createBlock(tag === 'latest' ? node.head : tag === 'finalized' ? node.finalized : Number(tag)),
      )
    return behave(call, response)
  }

const toHex = (value: number): string => `0x${value.toString(16)}`
const toHash = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

const createBlock = (number: number, hash = toHash(0xb0_0000 + number)): string =>
  JSON.stringify({
    number: toHex(number),
    hash,
    parentHash: toHash(0xb0_0000 + number - 1),
    timestamp: toHex(Math.floor(Date.now() / 1_000) - (head - number) * 12),
    transactions: [],
    uncles: [],
  })

const address = `0x${'a'.repeat(40)}`

/** One or several accepted values of a filter; nothing accepts all. */
type Accepted = string | readonly string[] | null | undefined

const getFirst = (accepted: Accepted, otherwise: string): string =>
  (typeof accepted === 'string' ? accepted : accepted?.[0]) ?? otherwise

/** Creates a log that matches a filter. */
const createLog = (filter: {
  readonly address?: Accepted
  readonly topics?: readonly Accepted[]
  readonly fromBlock?: string
  readonly blockHash?: string
}): object => {
  const { blockHash, fromBlock = '' } = filter
  const number = fromBlock.startsWith('0x') ? Number(fromBlock) : 0x60
  return {
    address: getFirst(filter.address, address),
    topics: (filter.topics ?? []).map((accepted) => getFirst(accepted, toHash(0xd0))),
    data: '0x02',
    blockNumber: toHex(number),
    blockHash: blockHash ?? toHash(0xb0_0000 + number),
    transactionHash: toHash(0xc0),
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  }
}

/** What names a block: its number, a tag, or its hash, alone or as a member. */
const toBlock = (subject: unknown): { readonly blockNumber: string; readonly blockHash: string } => {
  const named = typeof subject === 'object' && subject !== null ? subject : { blockNumber: subject }
  const { blockHash, blockNumber } = named as { readonly blockHash?: unknown; readonly blockNumber?: unknown }
  const hash = blockHash ?? (typeof subject === 'string' && subject.length === 66 ? subject : undefined)
  if (typeof hash === 'string') return { blockNumber: '0x60', blockHash: hash }
  const number = typeof blockNumber === 'string' && blockNumber.startsWith('0x') ? Number(blockNumber) : head
  return { blockNumber: toHex(number), blockHash: toHash(0xb0_0000 + number) }
}

/** Gets the result of the second node, which is that of the params, because a proxy may check it. */
const getRightResult = ({ method, params }: Pick<SeenCall, 'method' | 'params'>): string => {
  const [subject, index = '0x0'] = params as readonly unknown[]
  const inBlock = { transactionIndex: index, from: address, to: address }
  const transaction = { ...inBlock, nonce: '0x2', value: '0x2', input: '0x', gas: '0x5208' }
  switch (method) {
    case 'eth_getBlockByHash':
      return createBlock(0x60, subject as string)
    case 'eth_getBlockByNumber':
      return createBlock(subject === 'latest' ? head : Number(subject))
    case 'eth_getUncleByBlockNumberAndIndex':
      return createBlock(0x5f)
    case 'eth_getTransactionByHash':
      return JSON.stringify({ ...transaction, ...toBlock('0x60'), transactionIndex: '0x0', hash: subject })
    case 'eth_getTransactionByBlockNumberAndIndex':
    case 'eth_getTransactionByBlockHashAndIndex':
      return JSON.stringify({ ...transaction, ...toBlock(subject), hash: toHash(0xc0) })
    case 'eth_getTransactionReceipt':
      return JSON.stringify({
        ...inBlock,
        ...toBlock('0x60'),
        transactionIndex: '0x0',
        transactionHash: subject,
        status: '0x1',
        logs: [],
      })
    case 'eth_getBlockReceipts':
      return JSON.stringify([
        {
          ...inBlock,
          ...toBlock(subject),
          transactionIndex: '0x0',
          transactionHash: toHash(0xc0),
          status: '0x1',
          logs: [],
        },
      ])
    case 'eth_getLogs':
      return JSON.stringify([createLog(subject as Parameters<typeof createLog>[0])])
    case 'debug_traceTransaction':
      return JSON.stringify({ gas: 21_000, failed: false, returnValue: '', structLogs: [] })
    default:
      return '"second"'
  }
}

/** How a caller sees a case. `wrong`: a result that is not that of the second node. `error`: an error, or no response in time. */
export type Outcome = 'right' | 'wrong' | 'error'

interface Response {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Longer than either proxy may take. */
const giveUpMs = 20_000

/** Sends the call or the batch of a case. */
export const sendCase = async ({ failure, form }: Case, rpcUrl: string): Promise<Outcome> => {
  const body = form === 'single' ? createCall(failure, 1) : createBatch(failure)
  const sent = JSON.parse(body) as SeenCall | SeenCall[]
  const calls = Array.isArray(sent) ? sent : [sent]
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(giveUpMs),
  })
    .then(async (got): Promise<unknown> => got.json())
    .catch(() => undefined)
  const responses = (Array.isArray(response) ? response : [response]) as (Response | undefined)[]
  const outcomes = calls.map((call) =>
    getOutcome(
      call,
      responses.find((one) => one?.id === call.id),
    ),
  )
  return outcomes.find((outcome) => outcome === 'wrong') ?? outcomes.find((outcome) => outcome === 'error') ?? 'right'
}

const getOutcome = (call: SeenCall, response: Response | undefined): Outcome => {
  if (response === undefined || response.error !== undefined || response.result === undefined) return 'error'
  // The time of a block is that of the response.
  const withoutTime = (value: unknown): string => JSON.stringify(value).replace(/"timestamp":"\w+"/, '')
  return withoutTime(response.result) === withoutTime(JSON.parse(getRightResult(call))) ? 'right' : 'wrong'
}
