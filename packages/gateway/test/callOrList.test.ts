import { describe, expect, onTestFinished, test } from 'vitest'
import type { Behaviour } from './fakeUpstream.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import { createCall, error, nodeFailures, nothing } from './nodeFailures.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

/** What a call looks like to its caller, to the nodes and in the metrics. */
interface Seen {
  readonly responses: readonly unknown[]
  /** By node. */
  readonly bodies: readonly (readonly string[])[]
  readonly outcomes: readonly unknown[]
  readonly counted: readonly unknown[]
}

/** Sends calls, each alone or as a list of one, one after the other, through a new gateway in front of nodes that behave like this. */
const send = async (behaviours: readonly Behaviour[], calls: readonly string[], isList: boolean): Promise<Seen> => {
  const nodes = await Promise.all(behaviours.map(async () => startFakeUpstream(chainIds.testnet)))
  for (const [index, node] of nodes.entries()) {
    node.behave = behaviours[index] ?? node.behave
    onTestFinished(node.stop)
  }
  const counted: unknown[] = []
  const meter = {
    count: (...[, network, method, outcome, , calls]: unknown[]) =>
      void counted.push({ network, method, outcome, calls }),
    flush: async () => {},
    close: async () => {},
  }
  const started = await startGateway({ testnet: nodes.map(({ url }) => url) }, { meter, services: { debug: true } })
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const responses: unknown[] = []
  for (const call of calls) {
    const { text } = await post(`${started.url}/testnet/${started.testnetKey}`, isList ? `[${call}]` : call)
    const response: unknown = JSON.parse(text.replace(/"requestId":"[^"]+"/, '"requestId":"-"'))
    responses.push(isList && Array.isArray(response) ? response[0] : response)
  }
  return {
    responses,
    bodies: nodes.map(({ bodies }) => bodies.map((body) => body.replace(/"id":\d+/, '"id":0'))),
    outcomes: started.gateway.upstreams().map(({ outcomes }) => [...outcomes]),
    counted,
  }
}

const fromSecond: Behaviour = (call) => result(call, '"second"')
const toWrite = (method: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: ['0x02'] })

const failures = nodeFailures.flatMap((failure) => [
  { name: `the first node fails: ${failure.name}`, nodes: [failure.behave, fromSecond], call: createCall(failure, 1) },
  { name: `both nodes fail: ${failure.name}`, nodes: [failure.behave, failure.behave], call: createCall(failure, 1) },
])
const others = [
  { name: 'a node rejects it', nodes: [error(3, 'execution reverted', '0x'), fromSecond], call: createCall({}, 1) },
  { name: 'it has one node', nodes: [nothing], call: createCall({ method: 'eth_getTransactionReceipt' }, 1) },
  { name: 'it is expensive', nodes: [fromSecond, fromSecond], call: createCall({ method: 'debug_traceCall' }, 1) },
  {
    name: 'it shows the head',
    nodes: [fromSecond],
    call: createCall({ method: 'eth_blockNumber', params: () => [] }, 1),
  },
  {
    name: 'it reads the finalized block',
    nodes: [error(-32601, 'no'), ((call) => result(call, '{"number":"0x24"}')) as Behaviour],
    call: createCall({ method: 'eth_getBlockByNumber', params: () => ['finalized', false] }, 1),
  },
  { name: 'it has a fixed result', nodes: [fromSecond], call: createCall({ method: 'web3_clientVersion' }, 1) },
  { name: 'it creates a filter', nodes: [error(-32000, 'no')], call: createCall({ method: 'eth_newBlockFilter' }, 1) },
  { name: 'it has no filter', nodes: [fromSecond], call: createCall({ method: 'eth_getFilterChanges' }, 1) },
  { name: 'it subscribes', nodes: [fromSecond], call: createCall({ method: 'eth_subscribe' }, 1) },
  { name: 'it is a write', nodes: [fromSecond, fromSecond], call: toWrite('eth_sendRawTransaction') },
  {
    name: 'it is a write that the node knows',
    nodes: [error(-32000, 'already known'), fromSecond],
    call: toWrite('eth_sendRawTransaction'),
  },
  {
    name: 'it is a write that fails',
    nodes: [error(-32603, 'oops'), fromSecond],
    call: toWrite('eth_sendRawTransaction'),
  },
  { name: 'its method is unknown', nodes: [fromSecond], call: toWrite('eth_foo') },
  { name: 'it is invalid', nodes: [fromSecond], call: '{"id":1}' },
]

// Only the form of the response and the status of a rejection differ.
describe('a call gets, costs and sends the same alone and as a list of one, if', () => {
  test.each([...failures, ...others])('$name', async ({ nodes, call }) => {
    const [alone, listed] = [await send(nodes, [call], false), await send(nodes, [call], true)]
    expect(listed).toEqual(alone)
    expect(alone.counted).toHaveLength(1)
  })
})

/** Each response is lower than the one before. */
const goingBack = (from: number): Behaviour => {
  let number = from
  return (call) => {
    number -= 1
    const isNamed = String((call.params as unknown[])[0]).startsWith('0x')
    return result(
      call,
      isNamed ? `{"number":${JSON.stringify((call.params as unknown[])[0])}}` : `{"number":"0x${number.toString(16)}"}`,
    )
  }
}
const read = (method: string, ...params: unknown[]): string => createCall({ method, params: () => params }, 1)
const balance = read('eth_getBalance', `0x${'0'.repeat(40)}`, `0x${'0'.repeat(64)}`)

describe('the calls of a caller get, cost and send the same alone and as lists of one, if', () => {
  test.each([
    {
      name: 'the last safe block is earlier',
      toNodes: () => [goingBack(40), fromSecond],
      calls: [read('eth_getBlockByNumber', 'safe', false)],
    },
    { name: 'a read is repeated', toNodes: () => [fromSecond], calls: [balance] },
    {
      name: 'a read follows a write',
      toNodes: () => [fromSecond, fromSecond],
      calls: [toWrite('eth_sendRawTransaction'), balance],
    },
    {
      name: 'a null is known',
      toNodes: () => [nothing, nothing],
      calls: [read('eth_getTransactionReceipt', `0x${'1'.repeat(64)}`)],
    },
  ])('$name', async ({ toNodes, calls }) => {
    const thrice = [calls, calls, calls].flat()
    expect(await send(toNodes(), thrice, true)).toEqual(await send(toNodes(), thrice, false))
  })
})
