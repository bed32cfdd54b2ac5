import { heldOut, wordings } from '@keyrail/vectors'
import type { FailureCase } from '@keyrail/vectors'
import { isReadMethod } from '@keyrail/core/internal'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { failureRules } from '../src/proxy/upstream/failureRules.ts'
import type { AttemptFailure } from '../src/proxy/upstream/failureRules.ts'
import { createMethodPolicy } from '../src/proxy/method/createMethodPolicy.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

let nodes: readonly [FakeUpstream, FakeUpstream]

beforeAll(async () => {
  nodes = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
  nodes[1].behave = (call) => result(call, '"second"')
})
afterAll(async () => {
  for (const node of nodes) await node.stop()
})

/** Sends a body through a gateway of its own, because a gateway remembers what a node could not do. */
const sendBody = async (body: string): Promise<string> => {
  const options = { services: { debug: true, trace: true } }
  const started = await startGateway({ testnet: nodes.map(({ url }) => url) }, options)
  const { text } = await post(getApiKeyUrl(started.url, 'testnet', started.testnetKey), body)
  await started.gateway.close({ graceMs: 0 })
  return text
}

const policy = createMethodPolicy({ debug: true, trace: true, txpool: true })
const offered = [...wordings, ...heldOut].filter(({ request }) => {
  const traits = policy(request.method)
  return request.batch !== true && traits !== undefined && traits.filter === undefined
})
const isRpcError = ({ response }: FailureCase): boolean =>
  Object(Object(response.body).error) === Object(response.body).error

/** The response of a case, with the id of the call. */
const respondWith =
  ({ response: { status, headers, body } }: FailureCase): Behaviour =>
  (call, response) => {
    const text = typeof body === 'string' ? body : JSON.stringify({ ...Object(body), id: call.id })
    response.writeHead(status, headers).end(text)
    return undefined
  }
/** Sends the call of a case, which the first node responds to. @returns Whether the second got it too, and the response. */
const send = async (one: FailureCase): Promise<{ isSentOver: boolean; text: string }> => {
  nodes[0].behave = respondWith(one)
  nodes[1].bodies.length = 0
  // A fake node responds to `eth_chainId` itself.
  const method = one.request.method === 'eth_chainId' ? 'eth_gasPrice' : one.request.method
  const text = await sendBody(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [{}, one.name] }))
  return { isSentOver: nodes[1].bodies.length > 0, text }
}

/** Wordings that were held out when the table was written, and that it takes for another kind. */
const misread: ReadonlySet<string> = new Set([
  'held out: Confura: log query timeout',
  'held out: Godwoken: revert in gas estimate',
  'held out: Infura: request failed or timed out',
  'held out: Westend Asset Hub eth-rpc: code rejected',
])

describe('a read that the first node rejects with a real wording of kind', () => {
  const reads = offered.filter(({ request }) => isReadMethod(request.method))
  const kinds = [...new Set(reads.map(({ expect: { kind } }) => kind))].toSorted()

  test.each(kinds)('%s goes to the second node if that can have a better response', async (kind) => {
    const wrong: string[] = []
    const cases = reads.filter((one) => one.expect.kind === kind && !misread.has(one.name))
    for (const one of cases) {
      // What is no JSON-RPC error says nothing about the call, so it is a bad response.
      const isFinal = failureRules[kind as AttemptFailure].retry === 'never' && isRpcError(one)
      const { isSentOver, text } = await send(one)
      if (isSentOver === isFinal || text.includes('"second"') === isFinal) wrong.push(one.name)
    }
    expect([cases.length > 0, wrong]).toEqual([true, []])
  })
})

test('the reads of a batch that the first node rejects with real wordings go to the second node one by one', async () => {
  const cases = offered.filter((one) => {
    const traits = policy(one.request.method)
    const isBatched = traits?.idempotent === true && !traits.expensive && one.request.method !== 'eth_chainId'
    // A call that is too large for a batch is sent once more, alone, to any node.
    const isTooLarge = one.expect.kind === 'batchTooLarge' || one.name.includes('Request is too big')
    return isBatched && !isTooLarge && one.response.status === 200 && isRpcError(one) && !misread.has(one.name)
  })
  const byName = new Map(cases.map((one) => [one.name, one]))
  nodes[0].behave = (call) => {
    const one = byName.get((call.params as string[])[0] ?? '')
    return JSON.stringify({ ...Object(one?.response.body), id: call.id })
  }
  const calls = cases.map(({ name, request }, id) => ({ jsonrpc: '2.0', id, method: request.method, params: [name] }))
  const responses = JSON.parse(await sendBody(JSON.stringify(calls))) as { result?: string }[]
  const wrong = cases.filter(({ expect: { kind } }, index) => {
    const isFinal = failureRules[kind as AttemptFailure].retry === 'never'
    return (responses[index]?.result === 'second') === isFinal
  })
  expect([cases.length > 100, wrong.map(({ name }) => name)]).toEqual([true, []])
})

describe('a raw transaction that the first node rejects with a real wording', () => {
  const writes = offered.filter(({ request }) => !isReadMethod(request.method))

  test('never goes to the second node if the first may have it', async () => {
    const wrong: string[] = []
    const cases = writes.filter((one) => one.expect.mayHaveArrived === true)
    for (const one of cases) if ((await send(one)).isSentOver) wrong.push(one.name)
    expect([cases.length > 20, wrong]).toEqual([true, []])
  })

  test('never goes to the second node if the transaction itself is at fault', async () => {
    const wrong: string[] = []
    const cases = writes.filter(({ expect: { kind } }) => kind === 'txRejected' || kind === 'txKnown')
    for (const one of cases) if ((await send(one)).isSentOver) wrong.push(one.name)
    expect([cases.length > 200, wrong]).toEqual([true, []])
  })
})
