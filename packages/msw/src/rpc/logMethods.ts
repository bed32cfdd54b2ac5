import type { Hash, LogFilter, Quantity } from '@keyrail/core'
import type { BlockIdentifier, LogFilterTopic } from '@keyrail/core/schema'
import { isHexData, lower, toQuantity } from '../bytes/hex.ts'
import type { Block } from '../chain/block.ts'
import type { LogCriteria } from '../chain/matchLogs.ts'
import { matchLogs, matchLogTexts } from '../chain/matchLogs.ts'
import { jsonText } from './jsonText.ts'
import type { JsonText } from './jsonText.ts'
import { checkParams } from './checkParams.ts'
import { resolveBlockNumber, resolveBlock, getHead, method } from './method.ts'
import type { Method, NodeView } from './method.ts'
import { serverError, RpcError } from './rpcError.ts'

const invalid = (message: string): RpcError => new RpcError(-32_602, message)

/**
 * Parses the addresses and topics of a filter.
 *
 * @throws {RpcError} -32602, with geth's message.
 */
export function parseCriteria(filter: LogFilter): LogCriteria {
  const { address, topics } = filter
  const addresses = address == null ? [] : typeof address === 'string' ? [address] : address
  if (addresses.some((one) => !isHexData(one, 20))) throw invalid('invalid argument 0: invalid address')
  if (topics != null && !Array.isArray(topics))
    throw invalid(
      'invalid argument 0: json: cannot unmarshal non-array into Go struct field input.topics of type []interface {}',
    )
  if ((topics?.length ?? 0) > 4) throw invalid('exceed max topics')
  const any = (topic: LogFilterTopic): readonly string[] => {
    const wanted = topic === null ? [] : typeof topic === 'string' ? [topic] : topic
    // A null in a list matches any topic.
    if (wanted.some((one) => (one as Hash | null) === null)) return []
    if (wanted.some((one) => !isHexData(one, 32))) throw invalid('invalid argument 0: invalid topic(s)')
    return wanted.map(lower)
  }
  return { addresses: addresses.map(lower), topics: (topics ?? []).map(any) }
}

interface LogQuery {
  readonly criteria: LogCriteria
  /** The numbers of the first and the last block, both inclusive. Empty if the first one is after the head. */
  readonly range: readonly [first: number, last: number]
}

function parseFilter(view: NodeView, filter: LogFilter): LogQuery {
  const criteria = parseCriteria(filter)
  const { blockHash, fromBlock, toBlock } = filter
  if (blockHash != null) {
    if (fromBlock != null || toBlock != null) {
      throw invalid('invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
    }
    checkParams([blockHash], ['hash'])
    const block = resolveBlock(view, blockHash)
    if (block === undefined) throw serverError('unknown block')
    return { criteria, range: [block.number, block.number] }
  }
  checkParams([fromBlock, toBlock], ['block?', 'block?'])
  const head = getHead(view)
  // A number after the head is valid: the range is then empty.
  const toNumber = (block: BlockIdentifier | null | undefined): number =>
    typeof block === 'string' && block.startsWith('0x')
      ? Number(block)
      : (resolveBlockNumber(view, block ?? 'latest') ?? head)
  const [first, last] = [toNumber(fromBlock), toNumber(toBlock)]
  if (first > last) throw invalid('invalid block range params')
  return { criteria, range: [first, Math.min(last, head)] }
}

function getLogs(view: NodeView, filter: LogFilter): JsonText {
  const { criteria, range } = parseFilter(view, filter)
  const [first, last] = range
  const { maxLogBlocks, maxLogs } = view.limits
  if (last - first + 1 > maxLogBlocks) throw view.createRangeError(first, last)
  const found: string[] = []
  for (let number = first; number <= last; number++) {
    matchLogTexts(view.chain.block(number) as Block, criteria, found)
    // The blocks before this one have few enough logs.
    if (found.length > maxLogs) throw view.createRangeError(first, Math.max(first, number - 1))
  }
  return jsonText(`[${found.join()}]`)
}

type Installed =
  | { readonly of: 'logs'; readonly filter: LogFilter; readonly criteria: LogCriteria; next: number }
  | { readonly of: 'blocks'; next: number }
  | { readonly of: 'transactions'; readonly full: boolean; next: number }

/** The methods for logs and filters. Filters belong to one node. */
export function logMethods(): Readonly<Record<string, Method>> {
  const filters = new Map<string, Installed>()
  let last = 0
  const install = (filter: Installed): Quantity => {
    const id = toQuantity(++last)
    filters.set(id, filter)
    return id
  }
  const installed = (id: string): Installed => {
    const found = filters.get(id)
    if (found === undefined) throw serverError('filter not found')
    return found
  }
  const isWithin = ({ fromBlock, toBlock }: LogFilter, number: number): boolean => {
    const bound = (block: BlockIdentifier | null | undefined, open: number): number =>
      typeof block === 'string' && block.startsWith('0x') ? Number(block) : block === 'earliest' ? 0 : open
    return number >= bound(fromBlock, 0) && number <= bound(toBlock, Infinity)
  }

  return {
    eth_getLogs: method<[LogFilter]>(['object'], getLogs),
    eth_newFilter: method<[LogFilter]>(['object'], (view, filter) =>
      install({ of: 'logs', filter, criteria: parseCriteria(filter), next: view.chain.events.length }),
    ),
    eth_newBlockFilter: method([], ({ chain }) => install({ of: 'blocks', next: chain.events.length })),
    eth_newPendingTransactionFilter: method<[boolean?]>(['boolean?'], ({ chain }, full = false) =>
      install({ of: 'transactions', full, next: chain.arrivals.length }),
    ),
    eth_getFilterLogs: method<[string]>(['any'], (view, id) => {
      const found = installed(id)
      if (found.of !== 'logs') throw serverError('filter not found')
      return getLogs(view, found.filter)
    }),
    eth_getFilterChanges: method<[string]>(['any'], (view, id) => {
      const { chain } = view
      const found = installed(id)
      const from = found.next
      if (found.of === 'transactions') {
        found.next = chain.arrivals.length
        return chain.arrivals.slice(from).map((tx) => tx.hash)
      }
      found.next = chain.events.length
      const changes = chain.events.slice(from)
      if (found.of === 'blocks') return changes.filter(({ removed }) => !removed).map(({ block }) => block.hash)
      return changes
        .filter(({ block }) => isWithin(found.filter, block.number))
        .flatMap(({ block, removed }) => matchLogs(block, found.criteria, removed))
    }),
    eth_uninstallFilter: method<[string]>(['any'], (_, id) => filters.delete(id)),
  }
}
