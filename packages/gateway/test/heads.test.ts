import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import type { TestOptions } from './createTestGateway.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { chainIds, unreachableUrl, post, startGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const toHex = (block: number): string => `"0x${block.toString(16)}"`

/** A node that responds by its head. The result of any other call is its name. */
const startNode = async (name: string, head = 100): Promise<FakeUpstream> => {
  const node = await startFakeUpstream(chainIds.testnet)
  toStop.push(node.stop)
  node.head = head
  node.behave = (call) => {
    if (call.method === 'eth_blockNumber') return result(call, toHex(node.head))
    return call.method === 'eth_getBlockByNumber'
      ? result(call, `{"hash":"0x12","number":${toHex(node.head)},"transactions":[]}`)
      : result(call, `"${name}"`)
  }
  return node
}

interface Response {
  readonly result: unknown
  /** What the response says about the caller's head. */
  readonly block: string | null
}
type SendCall = (method: string, params?: readonly unknown[], seen?: string) => Promise<Response>

const start = async (nodes: readonly FakeUpstream[], options: Partial<TestOptions> = {}) => {
  const started = await startGateway({ testnet: nodes.map(({ url }) => url) }, options)
  toStop.push(() => started.gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
  const send = (body: unknown, seen?: string) =>
    post(rpcUrl, JSON.stringify(body), {
      headers: { 'content-type': 'application/json', ...(seen === undefined ? {} : { 'x-block-number': seen }) },
    })
  const sendCall: SendCall = async (method, params = [], seen) => {
    const { text, headers } = await send({ jsonrpc: '2.0', id: 1, method, params }, seen)
    return { result: (JSON.parse(text) as { result: unknown }).result, block: headers.get('x-block-number') }
  }
  return { ...started, rpcUrl, send, sendCall }
}

const call = [{ to: `0x${'12'.repeat(20)}` }, 'latest']
const unavailable: FakeUpstream['behave'] = (_, response) => {
  response.statusCode = 503
  return ''
}

describe('the head of a caller', () => {
  test('does not go back if the node that had it fails', async () => {
    const [first, second] = [await startNode('first', 101), await startNode('second', 100)]
    const { sendCall } = await start([first, second])
    expect(await sendCall('eth_blockNumber')).toEqual({ result: '0x65', block: '101' })
    first.behave = unavailable
    expect(await sendCall('eth_blockNumber')).toEqual({ result: '0x65', block: '101' })
    expect(second.bodies.length).toBe(1)
    second.head = 102
    expect(await sendCall('eth_blockNumber')).toEqual({ result: '0x66', block: '102' })
  })

  test('does not go back in a batch', async () => {
    const [first, second] = [await startNode('first', 101), await startNode('second', 100)]
    const { sendCall, send } = await start([first, second])
    await sendCall('eth_blockNumber')
    first.behave = unavailable
    const blockNumber = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] })
    const { text, headers } = await send([
      blockNumber(1),
      blockNumber(2),
      { ...blockNumber(3), method: 'eth_gasPrice' },
    ])
    expect(text).toBe(
      '[{"jsonrpc":"2.0","id":1,"result":"0x65"},{"jsonrpc":"2.0","id":2,"result":"0x65"},{"jsonrpc":"2.0","id":3,"result":"second"}]',
    )
    expect(headers.get('x-block-number')).toBe('101')
  })

  test('is also that of a block at latest, and nobody else is affected', async () => {
    const [first, second] = [await startNode('first', 101), await startNode('second', 100)]
    const { sendCall, app, url } = await start([first, second])
    expect(await sendCall('eth_getBlockByNumber', ['latest', false])).toMatchObject({
      result: { number: '0x65' },
      block: '101',
    })
    first.behave = unavailable
    expect((await sendCall('eth_blockNumber')).result).toBe('0x65')
    const other = await post(
      `${url}/testnet/v2/${app}`,
      '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
    )
    expect(other.text).toContain('"0x64"')
    expect(other.headers.get('x-block-number')).toBe('100')
  })

  test('may go back if there is one node, whose chain was reset', async () => {
    const node = await startNode('only', 101)
    const { sendCall } = await start([node])
    await sendCall('eth_blockNumber')
    node.head = 3
    expect(await sendCall('eth_blockNumber')).toEqual({ result: '0x3', block: '3' })
  })

  test('may go back if callers may rewrite the chain', async () => {
    const nodes = [await startNode('first', 101), await startNode('second', 100)] as const
    const { sendCall } = await start(nodes, { developmentMethods: 'all' })
    await sendCall('eth_blockNumber')
    nodes[0].head = 3
    expect(await sendCall('eth_blockNumber')).toEqual({ result: '0x3', block: null })
  })
})

describe('a read at the latest block', () => {
  test('goes to a node that has the block which the caller has seen', async () => {
    const [first, second] = [await startNode('first', 100), await startNode('second', 101)]
    const { sendCall } = await start([first, second])
    expect((await sendCall('eth_call', call)).result).toBe('first')
    // The first node fails once, so the caller sees the head of the second.
    const { behave } = first
    first.behave = unavailable
    expect((await sendCall('eth_blockNumber')).result).toBe('0x65')
    first.behave = behave
    expect((await sendCall('eth_call', call)).result).toBe('second')
    expect((await sendCall('eth_estimateGas', call)).result).toBe('second')
    expect((await sendCall('eth_getLogs', [{ fromBlock: '0x64', toBlock: '0x65' }])).result).toBe('second')
    expect((await sendCall('eth_getLogs', [{ fromBlock: '0x63', toBlock: '0x64' }])).result).toBe('first')
    expect((await sendCall('eth_call', [call[0], '0x10'])).result).toBe('first')
    expect((await sendCall('eth_getBlockByHash', [`0x${'ab'.repeat(32)}`, false])).result).toBe('first')
    // The first node is queried again as soon as it is skipped.
    first.head = 101
    await expect.poll(async () => (await sendCall('eth_call', call)).result).toBe('first')
  })

  test('goes to the node that has shown the block, also before heads are compared again', async () => {
    const [first, second] = [await startNode('first', 100), await startNode('second', 100)]
    const { behave } = first
    // Only the first node may get these methods. Its slow calls make the other one the better choice for the rest.
    const denyMethods = ['eth_blockNumber', 'eth_getProof']
    const { sendCall } = await start([first, second], {
      networks: {
        testnet: {
          chainId: chainIds.testnet,
          upstreams: [{ url: first.url }, { url: second.url, denyMethods }],
          loadBalancing: 'spread',
        },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
      },
    })
    first.behave = (seen, response) => (seen.method === 'eth_getProof' ? undefined : behave(seen, response))
    const slow = Array.from({ length: 20 }, (_, index) => sendCall('eth_getProof', [index]).catch(() => 'stopped'))
    await expect.poll(() => first.bodies.length).toBe(20)
    expect((await sendCall('eth_call', call)).result).toBe('second')
    first.head = 101
    expect((await sendCall('eth_blockNumber')).result).toBe('0x65')
    expect((await sendCall('eth_call', call)).result).toBe('first')
    await first.stop()
    await Promise.all(slow)
  })

  test('in a batch goes to a node that has the block', async () => {
    const { send } = await start([await startNode('first', 100), await startNode('second', 101)])
    const calls = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params: [{ nonce: id }, 'latest'] }))
    expect((await send(calls)).text).toContain('"first"')
    expect((await send(calls, '101')).text).not.toContain('"first"')
  })

  test('goes to a node that is behind if no other is left', async () => {
    const [first, second] = [await startNode('first', 101), await startNode('second', 100)]
    const { sendCall } = await start([first, second])
    await sendCall('eth_blockNumber')
    await first.stop()
    expect((await sendCall('eth_call', call)).result).toBe('second')
    expect((await sendCall('eth_getBlockByNumber', ['latest', false])).result).toMatchObject({ number: '0x64' })
  })

  test('does not join the same read of a caller that has seen less', async () => {
    const [first, second] = [await startNode('first', 100), await startNode('second', 101)]
    const { sendCall, url, app } = await start([first, second])
    let respond = (): void => {}
    first.behave = (seen, response) => {
      respond = () => response.end(result(seen, '"first"'))
      return undefined
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: call })
    const other = post(`${url}/testnet/v2/${app}`, body)
    await expect.poll(() => first.bodies.length).toBe(1)
    expect((await sendCall('eth_call', call, '101')).result).toBe('second')
    respond()
    expect((await other).text).toContain('"first"')
  })
})

describe('a read that names a block', () => {
  const calls: readonly (readonly [method: string, params: readonly unknown[]])[] = [
    ...['latest', 'safe', 'finalized', '0x65'].map(
      (toBlock) => ['eth_getLogs', [{ fromBlock: '0x65', toBlock }]] as const,
    ),
    ['eth_getLogs', [{ fromBlock: '0x65' }]],
    ['eth_getLogs', [{ fromBlock: 'finalized', toBlock: '0x65' }]],
    ['trace_filter', [{ fromBlock: '0x1', toBlock: '0x65' }]],
    ['trace_block', ['0x65']],
    ['eth_feeHistory', ['0x2', '0x65', []]],
    ['eth_estimateGas', [{}, '0x65']],
    ['debug_traceBlockByNumber', ['0x65', {}]],
    ['eth_newFilter', [{ fromBlock: '0x65' }]],
  ]
  const services = { trace: true, debug: true }
  const reject: FakeUpstream['behave'] = (seen) =>
    `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32602,"message":"invalid block range params"}}`

  test.each(calls)('goes to a node that has it: %s %j', async (method, params) => {
    const [first, second] = [await startNode('first', 100), await startNode('second', 101)]
    const { sendCall, send } = await start([first, second], { services })
    await sendCall(method, params)
    await send([1, 2].map((id) => ({ jsonrpc: '2.0', id, method, params: [...params, id] })))
    expect(first.bodies).toEqual([])
  })

  test.each(calls.slice(0, -1))(
    'and is rejected by a node that is behind goes to the next: %s %j',
    async (method, params) => {
      // The second is a backup, and its head is not known to be higher yet.
      const nodes = [await startNode('first', 100), await startNode('second', 100)] as const
      const { sendCall, send } = await start(nodes, { services })
      nodes[0].behave = reject
      expect((await sendCall(method, params)).result).toBe('second')
      const { text } = await send([1, 2].map((id) => ({ jsonrpc: '2.0', id, method, params: [...params, id] })))
      expect((JSON.parse(text) as { result: string }[]).map(({ result: one }) => one)).toEqual(['second', 'second'])
    },
  )

  test.each([
    ['eth_getBlockByNumber', ['safe', false]],
    ['eth_call', [{}, 'finalized']],
    ['eth_getLogs', [{ fromBlock: 'safe', toBlock: 'latest' }]],
  ])('by a tag that the first does not know goes to the next: %s %j', async (method, params) => {
    const nodes = [await startNode('first', 100), await startNode('second', 100)] as const
    const { sendCall, send } = await start(nodes)
    nodes[0].behave = (seen) =>
      `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32602,"message":"invalid argument 0: hex string without 0x prefix"}}`
    expect((await sendCall(method, params)).result).toBeDefined()
    const { text } = await send([1, 2].map((id) => ({ jsonrpc: '2.0', id, method, params: [...params, id] })))
    expect(text).not.toContain('error')
  })

  test('that both nodes have is not sent to another if it is rejected', async () => {
    const nodes = [await startNode('first', 101), await startNode('second', 101)] as const
    const { sendCall } = await start(nodes)
    nodes[0].behave = reject
    expect((await sendCall('eth_getLogs', [{ fromBlock: '0x65', toBlock: '0x64' }])).result).toBeUndefined()
    expect(nodes[1].bodies).toEqual([])
  })
})

describe('the block that a request names', () => {
  test('is that of another instance: the response is not older', async () => {
    const [first, second] = [await startNode('first', 100), await startNode('second', 101)]
    const { sendCall } = await start([first, second])
    expect((await sendCall('eth_call', call)).result).toBe('first')
    expect((await sendCall('eth_call', call, '101')).result).toBe('second')
    expect((await sendCall('eth_blockNumber', [], '101')).result).toBe('0x65')
  })

  test('counts for eth_blockNumber if it is at most maxLagBlocks ahead, for this caller alone', async () => {
    const { sendCall } = await start([await startNode('only', 100)])
    expect(await sendCall('eth_blockNumber', [], '108')).toEqual({ result: '0x6c', block: '100' })
    expect(await sendCall('eth_blockNumber', [], '109')).toEqual({ result: '0x64', block: '100' })
    expect(await sendCall('eth_blockNumber')).toEqual({ result: '0x64', block: '100' })
  })

  test.each(['999999999999999', '0x65', 'latest', '-1'])('does not keep a read from a node: %s', async (seen) => {
    const { sendCall } = await start([await startNode('first'), await startNode('second')])
    expect((await sendCall('eth_call', call, seen)).result).toBe('first')
    expect((await sendCall('eth_blockNumber', [], seen)).result).toBe('0x64')
  })

  test('may be sent by a page', async () => {
    const { rpcUrl } = await start([await startNode('only')])
    const preflight = await fetch(rpcUrl, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://dapp.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-block-number',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-block-number')
    const response = await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}')
    expect(response.headers.get('access-control-expose-headers')).toBe('*')
  })
})

describe.each(['safe', 'finalized'])('the %s block of a caller', (tag) => {
  const startNodes = async () => {
    const nodes = [await startNode('first'), await startNode('second')] as const
    const blocks = [80, 70]
    for (const [index, node] of nodes.entries())
      node.behave = (seen) => {
        const [block] = seen.params as [string]
        const number = block === tag ? toHex(blocks[index] ?? 0) : `"${block}"`
        return result(seen, `{"hash":"0x12","number":${number},"transactions":[]}`)
      }
    const started = await start(nodes)
    const read = async (): Promise<unknown> =>
      ((await started.sendCall('eth_getBlockByNumber', [tag, false])).result as { number: string }).number
    return { ...started, nodes, blocks, read }
  }

  test('does not go back, alone and in a batch, if a node that is behind responds', async () => {
    const { nodes, blocks, read, send } = await startNodes()
    expect(await read()).toBe('0x50')
    nodes[0].behave = unavailable
    expect([await read(), await read()]).toEqual(['0x50', '0x50'])
    const calls = [1, 2, 3].map((id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_getBlockByNumber',
      params: [id === 3 ? '0x1' : tag, false],
    }))
    const { text } = await send(calls)
    expect((JSON.parse(text) as { result: { number: string } }[]).map((one) => one.result.number)).toEqual([
      '0x50',
      '0x50',
      '0x1',
    ])
    blocks[1] = 81
    expect(await read()).toBe('0x51')
  })

  test('does not go back after minutes, and is not what a node with a wrong head says', async () => {
    const pass = controlTime()
    onTestFinished(() => void vi.useRealTimers())
    const { nodes, blocks, read } = await startNodes()
    expect(await read()).toBe('0x50')
    const { behave } = nodes[0]
    nodes[0].behave = unavailable
    pass(600_000)
    expect(await read()).toBe('0x50')
    nodes[0].behave = behave
    blocks[0] = 30_000_000
    await read()
    nodes[0].behave = unavailable
    expect(await read()).toBe('0x50')
    expect(nodes[1].bodies.at(-1)).toContain('"0x50"')
  })

  test('takes no longer than one call may take, although two calls are sent', async () => {
    const pass = controlTime()
    onTestFinished(() => void vi.useRealTimers())
    const { nodes, read } = await startNodes()
    await read()
    nodes[0].behave = unavailable
    const { behave } = nodes[1]
    let respond: (() => void) | undefined
    let isSentAgain = false
    nodes[1].behave = (seen, response) => {
      if ((seen.params as [string])[0] === tag) respond = () => void response.end(behave(seen, response))
      else isSentAgain = true
      return undefined
    }
    const block = read()
    await until(() => respond !== undefined)
    pass(20_000)
    respond?.()
    await until(() => isSentAgain)
    pass(10_000)
    expect(await block).toBe('0x46')
  })

  test('goes back if no node has that block any more', async () => {
    const { nodes, read } = await startNodes()
    await read()
    nodes[0].behave = unavailable
    const { behave } = nodes[1]
    nodes[1].behave = (seen, response) =>
      (seen.params as [string])[0] === tag ? behave(seen, response) : result(seen, 'null')
    expect(await read()).toBe('0x46')
  })
})

test('with the load spread, a caller whose head moves stays on nodes that have it', async () => {
  const nodes = [await startNode('first', 100), await startNode('second', 100)] as const
  const upstreams = nodes.map(({ url }) => ({ url }))
  const { sendCall } = await start(nodes, {
    networks: {
      testnet: { chainId: chainIds.testnet, upstreams, loadBalancing: 'spread' },
      mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
    },
  })
  let highest = 0
  for (let round = 0; round < 60; round += 1) {
    // One node is a block ahead, each in turn.
    nodes[round % 2 === 0 ? 0 : 1].head = 100 + Math.ceil(round / 2)
    const block = Number((await sendCall('eth_blockNumber')).result)
    expect(block).toBeGreaterThanOrEqual(highest)
    highest = block
    const at = (await sendCall('eth_getBlockByNumber', ['latest', false])).result as { number: string }
    expect(Number(at.number)).toBeGreaterThanOrEqual(highest)
    highest = Number(at.number)
  }
  expect(highest).toBeGreaterThan(110)
})
