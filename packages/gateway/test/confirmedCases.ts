import { result } from './fakeUpstream.ts'
import type { Behaviour } from './fakeUpstream.ts'

/** A call that several nodes are asked about, what they say, and what follows. */
export interface ConfirmedCase {
  readonly name: string
  readonly method: string
  /** Source text. */
  readonly params: string
  /** What each node does, named a, b, c … */
  readonly nodes: readonly Behaviour[]
  /** The rule of the network. */
  readonly rule?: { readonly nodes?: number; readonly onDispute?: 'serve'; readonly onFew?: 'serve' }
  /** The group of each node. */
  readonly groups?: readonly string[]
  /** The source text of the results that the caller may get, or what its error contains. */
  readonly answer: { readonly results: readonly string[] } | { readonly error: string }
  /** How many calls each node received. */
  readonly calls: readonly number[]
  /** The params that the nodes received. @default those of the call */
  readonly asked?: string
}

const hash = (digit: string): string => `0x${digit.repeat(64)}`

/** Responds with a result. */
export const says =
  (source: string): Behaviour =>
  (call) =>
    result(call, source)
/** Responds with an error. */
export const fails =
  (code: number, message: string, data?: string): Behaviour =>
  (call) =>
    JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code, message, ...(data !== undefined && { data }) } })
/** Never responds. */
export const hangs: Behaviour = () => undefined
const responds =
  (status: number, text: string): Behaviour =>
  (_, response) => {
    response.statusCode = status
    return text
  }
const breaks: Behaviour = (_, response) => {
  response.destroy()
  return undefined
}

const address = `0x${'ab'.repeat(20)}`
const log = (index: number, more: object = {}) => ({
  address,
  topics: [hash('1')],
  data: '0x00',
  blockNumber: '0x40',
  blockHash: hash('b'),
  transactionHash: hash('c'),
  transactionIndex: '0x0',
  logIndex: `0x${index}`,
  removed: false,
  ...more,
})
const logs = (...some: readonly object[]): string => JSON.stringify(some)
const both = logs(log(0), log(1))

const transaction = hash('c')
const receipt = (more: object = {}): string =>
  JSON.stringify({ transactionHash: transaction, blockHash: hash('b'), blockNumber: '0x40', status: '0x1', ...more })

const call = { method: 'eth_call', params: `[{"to":"${address}"},"0x40"]` }
const balance = { method: 'eth_getBalance', params: `["${address}","0x40"]` }
const getLogs = { method: 'eth_getLogs', params: `[{"fromBlock":"0x40","toBlock":"0x40"}]` }
const getReceipt = { method: 'eth_getTransactionReceipt', params: `["${transaction}"]` }
const getBlock = { method: 'eth_getBlockByNumber', params: '["0x40",false]' }
const getTransaction = { method: 'eth_getTransactionByHash', params: `["${transaction}"]` }

const gets = (...results: readonly string[]) => ({ results })
const error = (text: string) => ({ error: text })
const block = (more: object): string => JSON.stringify({ number: '0x40', hash: hash('b'), ...more })
const signed = (more: object): string => JSON.stringify({ hash: transaction, r: '0x5', ...more })

const agreements: readonly ConfirmedCase[] = [
  {
    name: 'the same bytes',
    ...call,
    nodes: [says('"0x01"'), says('"0x01"'), hangs],
    answer: gets('"0x01"'),
    calls: [1, 1, 0],
  },
  {
    name: 'members in another order',
    ...getBlock,
    nodes: [says(`{"number":"0x40","hash":"${hash('b')}"}`), says(`{"hash":"${hash('b')}","number":"0x40"}`), hangs],
    answer: gets(`{"number":"0x40","hash":"${hash('b')}"}`, `{"hash":"${hash('b')}","number":"0x40"}`),
    calls: [1, 1, 0],
  },
  {
    name: 'another case',
    ...call,
    nodes: [says('"0xAB"'), says('"0xab"'), hangs],
    answer: gets('"0xAB"', '"0xab"'),
    calls: [1, 1, 0],
  },
  {
    name: 'leading zeros',
    ...balance,
    nodes: [says('"0x0f"'), says('"0xf"'), hangs],
    answer: gets('"0x0f"', '"0xf"'),
    calls: [1, 1, 0],
  },
  {
    name: 'leading zeros of a member, and a number',
    ...getTransaction,
    nodes: [says(signed({ r: '0x05', chainId: 1 })), says(signed({ chainId: '0x1' })), hangs],
    answer: gets(signed({ r: '0x05', chainId: 1 }), signed({ chainId: '0x1' })),
    calls: [1, 1, 0],
  },
  {
    name: 'a member that is null or missing',
    ...getReceipt,
    nodes: [says(receipt({ contractAddress: null })), says(receipt()), hangs],
    answer: gets(receipt({ contractAddress: null }), receipt()),
    calls: [1, 1, 0],
  },
  {
    name: 'logs with the time of the block, and without',
    ...getLogs,
    nodes: [says(logs(log(0, { blockTimestamp: '0x9' }))), says(logs(log(0))), hangs],
    answer: gets(logs(log(0, { blockTimestamp: '0x9' })), logs(log(0))),
    calls: [1, 1, 0],
  },
  {
    name: 'a receipt with the fees of a layer 1, and without',
    ...getReceipt,
    nodes: [says(receipt({ l1Fee: '0x9', l1GasUsed: '0x1' })), says(receipt()), hangs],
    answer: gets(receipt({ l1Fee: '0x9', l1GasUsed: '0x1' }), receipt()),
    calls: [1, 1, 0],
  },
  {
    name: 'a block with its total difficulty, and without',
    ...getBlock,
    nodes: [says(block({ totalDifficulty: '0x9' })), says(block({})), hangs],
    answer: gets(block({ totalDifficulty: '0x9' }), block({})),
    calls: [1, 1, 0],
  },
  {
    name: 'a transaction with v, and with yParity',
    ...getTransaction,
    nodes: [says(signed({ v: '0x1' })), says(signed({ yParity: '0x1' })), hangs],
    answer: gets(signed({ v: '0x1' }), signed({ yParity: '0x1' })),
    calls: [1, 1, 0],
  },
  {
    name: 'null from both',
    ...getReceipt,
    nodes: [says('null'), says('null'), hangs],
    answer: gets('null'),
    calls: [1, 1, 0],
  },
  {
    name: 'no logs from both',
    ...getLogs,
    nodes: [says('[]'), says('[]'), hangs],
    answer: gets('[]'),
    calls: [1, 1, 0],
  },
  {
    name: 'a revert in other words',
    ...call,
    nodes: [
      fails(3, 'execution reverted: a', '0x08C379A0'),
      fails(-32015, 'VM execution error.', 'Reverted 0x08c379a0'),
      hangs,
    ],
    answer: error('0'),
    calls: [1, 1, 0],
  },
  {
    name: 'a revert without data',
    ...call,
    nodes: [fails(3, 'execution reverted'), fails(-32000, 'execution reverted', '0x'), hangs],
    answer: error('execution reverted'),
    calls: [1, 1, 0],
  },
  {
    name: 'invalid params in other words',
    ...call,
    nodes: [fails(-32602, 'invalid argument 0'), fails(-32602, 'Invalid params'), hangs],
    answer: error('nvalid'),
    calls: [1, 1, 0],
  },
  {
    name: 'three of three',
    ...call,
    rule: { nodes: 3 },
    nodes: [says('"0x01"'), says('"0x01"'), says('"0x01"'), hangs],
    answer: gets('"0x01"'),
    calls: [1, 1, 1, 0],
  },
]

/** Above the size that is compared by its meaning. */
const large = 'ab'.repeat(2_500_000)

const disputes: readonly ConfirmedCase[] = [
  {
    name: 'a large result has another case',
    ...call,
    nodes: [says(`"0x${large}"`), says(`"0x${large.toUpperCase()}"`), says(`"0x${large}"`)],
    answer: gets(`"0x${large}"`),
    calls: [1, 1, 1],
  },
  {
    name: 'a log is missing at the second',
    ...getLogs,
    nodes: [says(both), says(logs(log(0))), says(both)],
    answer: gets(both),
    calls: [1, 1, 1],
  },
  {
    name: 'a log is missing at the first',
    ...getLogs,
    nodes: [says(logs(log(0))), says(both), says(both)],
    answer: gets(both),
    calls: [1, 1, 1],
  },
  {
    name: 'all logs are missing at one',
    ...getLogs,
    nodes: [says('[]'), says(both), says(both)],
    answer: gets(both),
    calls: [1, 1, 1],
  },
  {
    name: 'the data of a log differs',
    ...getLogs,
    nodes: [says(logs(log(0, { data: '0x' }))), says(logs(log(0))), says(logs(log(0)))],
    answer: gets(logs(log(0))),
    calls: [1, 1, 1],
  },
  {
    name: 'a receipt is of an orphaned block',
    ...getReceipt,
    nodes: [says(receipt({ blockHash: hash('d') })), says(receipt()), says(receipt())],
    answer: gets(receipt()),
    calls: [1, 1, 1],
  },
  {
    name: 'a receipt says that it failed',
    ...getReceipt,
    nodes: [says(receipt()), says(receipt({ status: '0x0' })), says(receipt())],
    answer: gets(receipt()),
    calls: [1, 1, 1],
  },
  {
    name: 'a receipt is missing at one',
    ...getReceipt,
    nodes: [says('null'), says(receipt()), says(receipt())],
    answer: gets(receipt()),
    calls: [1, 1, 1],
  },
  {
    name: 'a receipt is missing at two',
    ...getReceipt,
    nodes: [says(receipt()), says('null'), says('null')],
    answer: gets('null'),
    calls: [1, 1, 1],
  },
  {
    name: 'a balance is old',
    ...balance,
    nodes: [says('"0x2"'), says('"0x1"'), says('"0x2"')],
    answer: gets('"0x2"'),
    calls: [1, 1, 1],
  },
  {
    name: 'data has other zeros',
    ...call,
    nodes: [says('"0x0001"'), says('"0x01"'), says('"0x01"')],
    answer: gets('"0x01"'),
    calls: [1, 1, 1],
  },
  {
    name: 'one reverts',
    ...call,
    nodes: [fails(3, 'execution reverted', '0x08c379a0'), says('"0x01"'), says('"0x01"')],
    answer: gets('"0x01"'),
    calls: [1, 1, 1],
  },
  {
    name: 'one does not revert',
    ...call,
    nodes: [says('"0x01"'), fails(3, 'execution reverted: x'), fails(3, 'execution reverted: x')],
    answer: error('execution reverted: x'),
    calls: [1, 1, 1],
  },
  {
    name: 'the data of a revert differs',
    ...call,
    nodes: [
      fails(3, 'execution reverted', '0x08c379a0'),
      fails(3, 'execution reverted', '0x4e487b71'),
      fails(3, 'execution reverted', '0x4e487b71'),
    ],
    answer: error('0x4e487b71'),
    calls: [1, 1, 1],
  },
  {
    name: 'a block is of another branch',
    ...getBlock,
    nodes: [says(block({ hash: hash('d') })), says(block({})), says(block({}))],
    answer: gets(block({})),
    calls: [1, 1, 1],
  },
  {
    name: 'three say three things',
    ...balance,
    nodes: [says('"0x1"'), says('"0x2"'), says('"0x3"'), hangs],
    answer: error('nodes_disagree'),
    calls: [1, 1, 1, 0],
  },
  {
    name: 'there is no third',
    ...balance,
    nodes: [says('"0x1"'), says('"0x2"')],
    answer: error('nodes_disagree'),
    calls: [1, 1],
  },
  {
    name: 'there is no third of another group',
    ...balance,
    groups: ['x', 'y', 'y'],
    nodes: [says('"0x1"'), says('"0x2"'), says('"0x2"')],
    answer: error('nodes_disagree'),
    calls: [1, 1, 0],
  },
  {
    name: 'the third fails',
    ...balance,
    nodes: [says('"0x1"'), says('"0x2"'), responds(500, 'oops')],
    answer: error('nodes_disagree'),
    calls: [1, 1, 1],
  },
  {
    name: 'the third fails and a fourth decides',
    ...balance,
    nodes: [says('"0x1"'), says('"0x2"'), responds(500, 'oops'), says('"0x2"')],
    answer: gets('"0x2"'),
    calls: [1, 1, 1, 1],
  },
  {
    name: 'they may',
    ...balance,
    rule: { onDispute: 'serve' },
    nodes: [says('"0x1"'), says('"0x2"')],
    answer: gets('"0x1"', '"0x2"'),
    calls: [1, 1],
  },
  {
    name: 'one of four',
    ...balance,
    rule: { nodes: 3 },
    nodes: [says('"0x1"'), says('"0x2"'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1, 1],
  },
  {
    name: 'two of four',
    ...balance,
    rule: { nodes: 3 },
    nodes: [says('"0x1"'), says('"0x2"'), says('"0x2"'), says('"0x1"')],
    answer: error('nodes_disagree'),
    calls: [1, 1, 1, 1],
  },
  {
    name: 'three of three, so a fourth cannot decide',
    ...balance,
    rule: { nodes: 3 },
    nodes: [says('"0x1"'), says('"0x2"'), says('"0x3"'), hangs],
    answer: error('nodes_disagree'),
    calls: [1, 1, 1, 0],
  },
]

const votes: readonly ConfirmedCase[] = [
  {
    name: 'two nodes of a group have one vote',
    ...balance,
    groups: ['x', 'x', 'y'],
    nodes: [says('"0x1"'), hangs, says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 0, 1],
  },
  {
    name: 'all nodes are of one group',
    ...balance,
    groups: ['x', 'x'],
    nodes: [says('"0x1"'), says('"0x1"')],
    answer: error('no_upstream'),
    calls: [0, 0],
  },
  {
    name: 'all nodes are of one group, which may do',
    ...balance,
    groups: ['x', 'x'],
    rule: { onFew: 'serve' },
    nodes: [says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 0],
  },
  {
    name: 'a server error is no vote',
    ...balance,
    nodes: [responds(500, 'oops'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'a page is no vote',
    ...balance,
    nodes: [says('"0x1"'), responds(200, '<html>'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'a call that is sent again after a broken connection has one vote',
    ...balance,
    nodes: [breaks, says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [2, 1, 1],
  },
  {
    name: 'a rate limit is no vote',
    ...balance,
    nodes: [responds(429, '{}'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'missing state is no vote',
    ...balance,
    nodes: [fails(-32000, 'missing trie node 1234 (path )'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'a missing block is no vote',
    ...balance,
    nodes: [fails(-32000, 'header not found'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'a missing method is no vote',
    ...balance,
    nodes: [fails(-32601, 'the method does not exist'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'an unknown error is no vote',
    ...balance,
    nodes: [fails(-32000, 'flux compensator'), says('"0x1"'), says('"0x1"')],
    answer: gets('"0x1"'),
    calls: [1, 1, 1],
  },
  {
    name: 'the result of another call is no vote',
    ...getReceipt,
    nodes: [says(receipt({ transactionHash: hash('e') })), says(receipt()), says(receipt())],
    answer: gets(receipt()),
    calls: [1, 1, 1],
  },
  {
    name: 'only one responds',
    ...balance,
    nodes: [says('"0x1"'), responds(500, 'oops')],
    answer: error('no_upstream'),
    calls: [1, 1],
  },
  {
    name: 'only one responds, which may do',
    ...balance,
    rule: { onFew: 'serve' },
    nodes: [says('"0x1"'), responds(500, 'oops')],
    answer: gets('"0x1"'),
    calls: [1, 1],
  },
  {
    name: 'no node responds',
    ...balance,
    nodes: [responds(500, 'oops'), responds(500, 'oops')],
    answer: error('upstream_bad'),
    calls: [1, 1],
  },
  {
    name: 'all nodes lack the state',
    ...balance,
    nodes: [fails(-32000, 'missing trie node 1234 (path )'), responds(500, 'oops')],
    answer: error('missing trie node'),
    calls: [1, 1],
  },
]

const pins: readonly ConfirmedCase[] = [
  {
    name: 'latest',
    method: 'eth_call',
    params: `[{"to":"${address}"}, "latest"]`,
    asked: `[{"to":"${address}"},"0x62"]`,
    nodes: [says('"0x1"'), says('"0x1"'), hangs],
    answer: gets('"0x1"'),
    calls: [1, 1, 0],
  },
  {
    name: 'no block',
    method: 'eth_getBalance',
    params: `["${address}"]`,
    asked: `["${address}","0x62"]`,
    nodes: [says('"0x1"'), says('"0x1"'), hangs],
    answer: gets('"0x1"'),
    calls: [1, 1, 0],
  },
  {
    name: 'finalized',
    method: 'eth_getBalance',
    params: `["${address}","finalized"]`,
    asked: `["${address}","0x20"]`,
    nodes: [says('"0x1"'), says('"0x1"'), hangs],
    answer: gets('"0x1"'),
    calls: [1, 1, 0],
  },
  {
    name: 'safe',
    method: 'eth_getBalance',
    params: `["${address}","safe"]`,
    asked: `["${address}","0x20"]`,
    nodes: [says('"0x1"'), says('"0x1"'), hangs],
    answer: gets('"0x1"'),
    calls: [1, 1, 0],
  },
  {
    name: 'a range up to latest',
    method: 'eth_getLogs',
    params: '[{"fromBlock":"0x40"}]',
    asked: '[{"toBlock":"0x62","fromBlock":"0x40"}]',
    nodes: [says(both), says(both), hangs],
    answer: gets(both),
    calls: [1, 1, 0],
  },
  {
    name: 'a range of the newest block',
    method: 'eth_getLogs',
    params: '[{}]',
    asked: '[{"fromBlock":"0x62","toBlock":"0x62"}]',
    nodes: [says('[]'), says('[]'), hangs],
    answer: gets('[]'),
    calls: [1, 1, 0],
  },
  {
    name: 'a range that starts after it',
    method: 'eth_getLogs',
    params: '[{"fromBlock":"0x63","toBlock":"finalized"}]',
    nodes: [says('[]'), hangs, says('[]')],
    answer: gets('[]'),
    calls: [1, 0, 1],
  },
  {
    name: 'pending, which no number means',
    method: 'eth_getBalance',
    params: `["${address}","pending"]`,
    nodes: [says('"0x1"'), says('"0x1"'), hangs],
    answer: gets('"0x1"'),
    calls: [1, 1, 0],
  },
]

/** The cases of confirmed reads, by what they are about. The nodes have the heads 100, 98, 100 …, and the finalized blocks 32, 36, 36 … */
export const confirmedCases = { agreements, disputes, votes, pins } as const
