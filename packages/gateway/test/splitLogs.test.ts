import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import type { TestOptions } from './createTestGateway.ts'
import type { UsageLimits } from '../src/usage/limits/usageLimits.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { startLogNode, toLogs } from './logNode.ts'
import type { LogNode } from './logNode.ts'
import { chainIds, unreachableUrl, post, startGateway } from './startGateway.ts'

afterEach(() => void vi.useRealTimers())

const startNode = async (own: Partial<LogNode> = {}): Promise<LogNode> => {
  const node = await startLogNode()
  onTestFinished(node.stop)
  return Object.assign(node, own)
}

interface Started {
  readonly port: number
  readonly testnetKey: string
  readonly rpcUrl: string
  /** Sends `eth_getLogs`. @returns The source text of the response's result, or its error. */
  readonly getLogs: (from: number | string, to: number | string) => Promise<unknown>
}

const start = async (nodes: readonly LogNode[], options: Partial<TestOptions> = {}): Promise<Started> => {
  const { gateway, url, port, testnetKey } = await startGateway({ testnet: nodes.map((node) => node.url) }, options)
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const rpcUrl = getApiKeyUrl(url, 'testnet', testnetKey)
  const toBlock = (block: number | string): string => (typeof block === 'number' ? `0x${block.toString(16)}` : block)
  const getLogs = async (from: number | string, to: number | string): Promise<unknown> => {
    const params = [{ fromBlock: toBlock(from), toBlock: toBlock(to) }]
    const { text } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params }))
    const [, source] = /^\{"jsonrpc":"2.0","id":1,"result":(.*)\}$/.exec(text) ?? []
    return source ?? (JSON.parse(text) as { error: unknown }).error
  }
  return { port, testnetKey, rpcUrl, getLogs }
}

const rejectedRange = { code: -32602, message: 'block range too large' }

describe('eth_getLogs for a range that the node rejects', () => {
  test.each([
    [
      'block range too large, max range: 100',
      ['0-300', 'block 300', '0-99', '100-199', '200-299', '300-300', 'block 300'],
    ],
    [
      'block range is too wide',
      ['0-300', 'block 300', '0-149', '0-74', '75-149', '150-224', '225-299', '300-300', 'block 300'],
    ],
    ['this block range should work: [0x0, 0x31]', undefined],
    ['query returned more than 10000 results', undefined],
  ])('gets the response of a node without a limit (%s)', async (message, queries) => {
    const node = await startNode({ maxBlocks: 100, message })
    const { getLogs } = await start([node])
    expect(await getLogs(0, 300)).toBe(toLogs(0, 300))
    if (queries !== undefined) expect(node.queries.toSorted()).toEqual(queries.toSorted())
  })

  test('starts in parts the next time, unless the limit is on what it returns', async () => {
    const node = await startNode({ maxBlocks: 100, message: 'block range too large, max range: 100' })
    const { getLogs } = await start([node])
    await getLogs(0, 199)
    node.queries.length = 0
    expect(await getLogs(300, 499)).toBe(toLogs(300, 499))
    expect(node.queries).toEqual(['block 499', '300-399', '400-499', 'block 499'])

    const other = await startNode({ maxBlocks: 100, message: 'query returned more than 10000 results' })
    const second = await start([other])
    await second.getLogs(0, 199)
    other.queries.length = 0
    await second.getLogs(300, 499)
    expect(other.queries[0]).toBe('300-499')
  })

  test('starts in parts the first time if the config has the limit of the node', async () => {
    const node = await startNode({ maxBlocks: 100 })
    const { getLogs } = await start([node], {
      networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: node.url, maxLogBlocks: 100 }] } },
    })
    expect(await getLogs(300, 499)).toBe(toLogs(300, 499))
    expect(node.queries).toEqual(['block 499', '300-399', '400-499', 'block 499'])
  })

  test('ends at the head that `latest` had when the parts were started', async () => {
    const node = await startNode({ maxBlocks: 600 })
    const { getLogs } = await start([node])
    node.onLogs = () => {
      node.head += 1
      return undefined
    }
    expect(await getLogs('earliest', 'latest')).toBe(toLogs(0, 1_001))
    expect(node.queries.filter((query) => query === 'block 1001').length).toBe(2)
  })

  test('ends at the head if its range ends after it', async () => {
    const { getLogs } = await start([await startNode({ maxBlocks: 300 })])
    expect(await getLogs(500, 1_500)).toBe(toLogs(500, 1_000))
  })

  test.each([
    ['null', undefined],
    ['an error', "Can't route your request to suitable provider"],
  ])('ends at the block before a number without one, for which the node sends %s', async (_, message) => {
    const node = await startNode({ maxBlocks: 300 })
    if (message !== undefined)
      node.respondWithout = (call) => `{"jsonrpc":"2.0","id":${call.id},"error":{"code":12,"message":"${message}"}}`
    for (const number of [899, 900]) node.withoutBlock.add(number)
    const { getLogs } = await start([node])
    expect(await getLogs(100, 900)).toBe(toLogs(100, 898))
    expect(node.queries.filter((query) => query === 'block 898').length).toBe(2)
  })

  test('is read in parts in a batch too', async () => {
    const { rpcUrl } = await start([await startNode({ maxBlocks: 100 })])
    const call = (id: number, method: string, params: readonly unknown[] = []) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    })
    const range = { fromBlock: '0x0', toBlock: '0xff' }
    const batch = [call(1, 'eth_gasPrice'), call(2, 'eth_getLogs', [range]), call(3, 'eth_getLogs', [range])]
    const { text } = await post(rpcUrl, JSON.stringify(batch))
    const logs = toLogs(0, 255)
    expect(text).toBe(
      `[{"jsonrpc":"2.0","id":1,"result":"0x1"},{"jsonrpc":"2.0","id":2,"result":${logs}},{"jsonrpc":"2.0","id":3,"result":${logs}}]`,
    )
  })

  test('counts as one call, for the limits and for its caller', async () => {
    const taken: number[] = []
    const usageLimits = {
      take: ({ calls, passed }: { calls: number; passed: number }) => {
        taken.push(calls, passed)
        return { granted: passed, rate: undefined, quota: undefined }
      },
      giveBack: () => taken.push(-1),
      peek: () => {
        throw new Error('no key has a rate')
      },
    }
    const { getLogs } = await start([await startNode({ maxBlocks: 10 })], {
      usageLimits: usageLimits as Partial<UsageLimits> as UsageLimits,
    })
    expect(await getLogs(0, 100)).toBe(toLogs(0, 100))
    expect(taken).toEqual([1, 1])
  })

  test('has at most 4 parts in flight', async () => {
    const node = await startNode({ maxBlocks: 10, message: 'max range: 10' })
    let inFlight = 0
    let most = 0
    node.onLogs = (call, response) => {
      most = Math.max(most, ++inFlight)
      response.on('close', () => (inFlight -= 1))
      if (node.queries.length < 3) return undefined
      const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: string; toBlock: string }]
      const text = toLogs(Number(fromBlock), Number(toBlock))
      setTimeout(() => response.end(`{"jsonrpc":"2.0","id":${call.id},"result":${text}}`), 5)
      return true
    }
    const { getLogs } = await start([node])
    expect(await getLogs(0, 399)).toBe(toLogs(0, 399))
    expect(most).toBe(4)
  })
})

describe('a chain that is reorganized while logs are read in parts', () => {
  test('ends the call with an error', async () => {
    const node = await startNode({ maxBlocks: 100 })
    node.onLogs = () => {
      if (node.queries.length === 4) node.fork = 'bb'
      return undefined
    }
    const { getLogs } = await start([node])
    expect(await getLogs(0, 199)).toMatchObject({ code: -32603, data: { reason: 'chain_reorganized' } })
    expect(await getLogs(0, 199)).toBe(toLogs(0, 199, 'bb'))
  })

  test('is not looked for in a range that is final', async () => {
    const node = await startNode({ maxBlocks: 100, finalized: 500, message: 'max range: 100' })
    const { getLogs } = await start([node])
    // The first call makes the gateway query the finalized block. Once it knows it, it caches these logs.
    await expect
      .poll(async () => {
        node.queries.length = 0
        return (await getLogs(0, 199)) === toLogs(0, 199) && node.queries
      })
      .toEqual([])
    expect(await getLogs(200, 500)).toBe(toLogs(200, 500))
    expect(node.queries).toEqual(['200-299', '300-399', '400-499', '500-500'])
  })
})

describe('a range that cannot be read in parts', () => {
  test('gets the error of the node if the parts are turned off', async () => {
    const node = await startNode({ maxBlocks: 100 })
    const { getLogs } = await start([node], {
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams: [{ url: node.url }], splitLogs: false },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
      },
    })
    expect(await getLogs(0, 300)).toEqual(rejectedRange)
    expect(node.queries).toEqual(['0-300'])
  })

  test('gets the error of the node if it needs too many parts, each time', async () => {
    const node = await startNode({ maxBlocks: 5, message: 'max range: 5' })
    const { getLogs } = await start([node])
    for (const _ of [1, 2]) expect(await getLogs(0, 999)).toEqual({ code: -32602, message: 'max range: 5' })
    expect(node.queries).toEqual(['0-999', 'block 999', '0-999', 'block 999'])
  })

  test('gets the error of the node if that rejects single blocks', async () => {
    const node = await startNode({ maxBlocks: 0 })
    const { getLogs } = await start([node])
    expect(await getLogs(0, 7)).toEqual(rejectedRange)
    expect(node.queries).toEqual(['0-7', 'block 7', '0-3', '0-1', '0-0'])
  })

  test('gets the error of the node if the parts together are too large', async () => {
    const node = await startNode({ maxBlocks: 100 })
    const { getLogs } = await start([node], { bounds: { maxResponseBytes: 12_000 } })
    expect(await getLogs(0, 900)).toEqual(rejectedRange)
    expect(await getLogs(0, 200)).toBe(toLogs(0, 200))
  })

  test('gets the error of the node if the parts take too long', async () => {
    const node = await startNode({ maxBlocks: 100 })
    node.onLogs = () => node.queries.length > 3
    const pass = controlTime()
    const { getLogs } = await start([node], { bounds: { upstreamTimeoutMs: 200 } })
    const pending = getLogs(0, 199)
    await until(() => node.queries.length > 3)
    pass(200)
    expect(await pending).toEqual(rejectedRange)
  })

  test('is read from another node, if there is one', async () => {
    const node = await startNode({ maxBlocks: 5, message: 'max range: 5' })
    const other = await startNode({ maxBlocks: 600 })
    const { getLogs } = await start([node, other])
    expect(await getLogs(0, 999)).toBe(toLogs(0, 999))
    expect(other.queries).toEqual(['block 999', '0-999', '0-499', '500-999', 'block 999'])
  })
})

test('a node that fails while it is read in parts is replaced by another one', async () => {
  const node = await startNode({ maxBlocks: 100 })
  const other = await startNode({ maxBlocks: 50, fork: 'bb' })
  node.onLogs = (_, response) => {
    if (node.queries.length < 4) return undefined
    response.statusCode = 500
    response.end('broken')
    return true
  }
  const { getLogs } = await start([node, other])
  // All parts come from one node, whose chain may differ from the other's.
  expect(await getLogs(0, 199)).toBe(toLogs(0, 199, 'bb'))
})

test('the bytes that were read from a node that then failed do not count', async () => {
  const node = await startNode({ maxBlocks: 100, message: 'max range: 100' })
  const other = await startNode()
  node.onLogs = (_, response) => {
    if (node.queries.at(-1) !== '900-900') return undefined
    response.statusCode = 500
    response.end('broken')
    return true
  }
  const bytes = toLogs(0, 900).length
  const { getLogs } = await start([node, other], { bounds: { maxResponseBytes: bytes + 5_000 } })
  expect(await getLogs(0, 900)).toBe(toLogs(0, 900))
  expect(other.queries).toContain('0-900')
})

test('a caller that disconnects stops the parts in flight', async () => {
  const node = await startNode({ maxBlocks: 10, message: 'max range: 10' })
  node.onLogs = () => node.queries.length > 3
  const { port, testnetKey } = await start([node])
  const connection = await openRaw(port)
  const params = [{ fromBlock: '0x0', toBlock: '0xff' }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
  connection.send(postBytes(`/testnet/${testnetKey}`, body))
  await expect.poll(() => node.queries.length).toBe(7)
  connection.reset()
  await expect.poll(node.cut).toBe(4)
  expect(node.queries.length).toBe(7)
})
