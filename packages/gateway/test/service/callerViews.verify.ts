import { randomBytes } from 'node:crypto'
import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import type { TcpProxy } from '../startTcpProxy.ts'
import { clusters } from './places.ts'
import type { Place } from './places.ts'
import { createVisitor } from './visitor.ts'

/** A node with its own head, and with the transactions that it got itself. */
const startNode = async (head: number): Promise<FakeUpstream> => {
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  node.head = head
  let nonce = 5
  const toHex = (value: number): string => `"0x${value.toString(16)}"`
  node.behave = (call) => {
    if (call.method === 'eth_sendRawTransaction') {
      nonce += 1
      return result(call, `"0x${'ab'.repeat(32)}"`)
    }
    if (['eth_getTransactionCount', 'eth_getBalance'].includes(call.method)) return result(call, toHex(nonce))
    // A read at the newest block, whose result shows which node it is of. `eth_blockNumber` would go to the node that has the newest one.
    if (['eth_blockNumber', 'eth_getCode'].includes(call.method)) return result(call, toHex(node.head))
    return result(call, `{"hash":"0x12","number":${toHex(node.head)},"transactions":[]}`)
  }
  return node
}

/** Sends each request to the next of several servers. */
const startBalancer = async (targets: readonly string[]): Promise<string> => {
  let next = 0
  const balancer = createServer((request, response) => {
    const { method, url, headers } = request
    const target = new URL(url ?? '', targets[next++ % targets.length])
    const forwarded = sendRequest(target, { method, headers }, (got) => {
      response.writeHead(got.statusCode ?? 0, got.headers)
      got.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    request.pipe(forwarded)
  })
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    balancer.closeAllConnections()
    balancer.close()
  })
  return `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`
}

interface Response {
  readonly result: unknown
  readonly block: string | null
}
interface SendCall {
  (method: string, params?: readonly unknown[], seen?: string): Promise<Response>
  readonly batch: (
    calls: readonly (readonly [method: string, params: readonly unknown[]])[],
  ) => Promise<{ readonly results: readonly unknown[]; readonly block: string | null }>
}
interface Caller extends SendCall {
  /** Sends to one of the instances, past the balancer. */
  readonly instances: readonly SendCall[]
}

/** Starts two instances in front of a node that lacks the newest block and all transactions, and of one that has them. */
const start = async (place: Place) => {
  onTestFinished(place.close)
  const { KEYRAIL_SECRET, DATABASE_URL = '', REDIS_URL = '' } = place.environment
  const [behind, ahead] = [await startNode(100), await startNode(101)]
  const redis: TcpProxy = await startTcpProxy(Number(new URL(REDIS_URL).port))
  onTestFinished(redis.close)
  const redisUrl = new URL(REDIS_URL)
  redisUrl.port = String(redis.port)
  const { publicUrl: _, ...config } = parseServiceConfig({
    publicUrl: 'http://localhost',
    listen: { port: 0 },
    signUp: 'open',
    networks: {
      testnet: {
        chainId: chainIds.testnet,
        // The first node gets all reads that it may, so writes and blocks come from the other one.
        upstreams: [
          { url: behind.url, denyMethods: ['eth_sendRawTransaction', 'eth_getBlockByNumber'] },
          { url: ahead.url },
        ],
      },
    },
  })
  const open = async () => {
    const service = await createService({
      config,
      secrets: readServerSecrets({ KEYRAIL_SECRET }),
      storage: { databaseUrl: DATABASE_URL },
      redisUrl: redisUrl.href,
    })
    onTestFinished(() => service.close({ graceMs: 0 }))
    return (await service.listen()).url
  }
  const urls = [await open(), await open()] as const
  const visitor = createVisitor(urls[0])
  await visitor.get('POST /api/account', {
    body: { email: 'ann@example.org', password: randomBytes(12).toString('base64url') },
  })
  const balancer = await startBalancer(urls)
  const createSendCall = (rpcUrl: string): SendCall => {
    const send = async (body: unknown, seen?: string) => {
      const { text, headers } = await post(rpcUrl, JSON.stringify(body), {
        headers: { 'content-type': 'application/json', ...(seen === undefined ? {} : { 'x-block-number': seen }) },
      })
      return { parsed: JSON.parse(text) as unknown, block: headers.get('x-block-number') }
    }
    const toBody = (method: string, params: readonly unknown[], id = 1) => ({ jsonrpc: '2.0', id, method, params })
    return Object.assign(
      async (method: string, params: readonly unknown[] = [], seen?: string) => {
        const { parsed, block } = await send(toBody(method, params), seen)
        return { result: (parsed as { result: unknown }).result, block }
      },
      {
        batch: async (calls: readonly (readonly [string, readonly unknown[]])[]) => {
          const { parsed, block } = await send(calls.map(([method, params], index) => toBody(method, params, index)))
          return { results: (parsed as { result: unknown }[]).map((one) => one.result), block }
        },
      },
    )
  }
  const createCaller = async (): Promise<Caller> => {
    const { url } = await visitor.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
    const sendTo = (base: string): SendCall => createSendCall(url.replace(/^https?:\/\/[^/]+/, base.replace(/\/$/, '')))
    return Object.assign(sendTo(balancer), { instances: urls.map(sendTo) })
  }
  return { redis, behind, ahead, createCaller }
}

const codeOf = ['0x00000000000000000000000000000000000000aa', 'latest']
const nonceOf = ['0x00000000000000000000000000000000000000aa', 'pending']
const times = async <T>(count: number, work: () => Promise<T>): Promise<T[]> => {
  const results: T[] = []
  while (results.length < count) results.push(await work())
  return results
}

describe.each(clusters)('two instances on $name behind a balancer that alternates', needs('redis-server'), (kind) => {
  test('a caller sees the nonce of its own writes, and no head goes back', async () => {
    const { createCaller } = await start(await kind.open())
    const sendCall = await createCaller()
    const getNonce = async (): Promise<unknown> => (await sendCall('eth_getTransactionCount', nonceOf)).result
    expect(await times(4, getNonce)).toEqual(['0x5', '0x5', '0x5', '0x5'])
    for (const written of ['0x6', '0x7', '0x8']) {
      await sendCall('eth_sendRawTransaction', ['0x02'])
      // An odd number, so that both instances get a write.
      expect(await times(4, getNonce)).toEqual([written, written, written, written])
    }

    // Another key is another caller.
    const sendOther = await createCaller()
    const getHead = async (): Promise<unknown> => (await sendOther('eth_getCode', codeOf)).result
    expect(await times(2, getHead)).toEqual(['0x64', '0x64'])
    expect((await sendOther('eth_getBlockByNumber', ['latest', false])).result).toMatchObject({ number: '0x65' })
    expect(await times(4, getHead)).toEqual(['0x65', '0x65', '0x65', '0x65'])
  })

  test('the same in batches', async () => {
    const { createCaller } = await start(await kind.open())
    const sendCall = await createCaller()
    const reads = [
      ['eth_getCode', codeOf],
      ['eth_getTransactionCount', nonceOf],
    ] as const
    expect((await sendCall.batch(reads)).results).toEqual(['0x64', '0x5'])
    await sendCall.batch([
      ['eth_sendRawTransaction', ['0x02']],
      ['eth_getBlockByNumber', ['latest', false]],
    ])
    const newer = ['0x65', '0x6']
    const getResults = async (): Promise<unknown> => (await sendCall.batch(reads)).results
    expect(await times(4, getResults)).toEqual([newer, newer, newer, newer])
  })

  test.each([
    ['eth_getTransactionCount', nonceOf],
    ['eth_getBalance', [nonceOf[0], 'latest']],
  ])('%s after a write through the other instance joins no read from before the write', async (method, params) => {
    const { createCaller, behind } = await start(await kind.open())
    const { behave } = behind
    const held: (() => void)[] = []
    behind.behave = (call, response) => {
      const text = behave(call, response)
      if (call.method !== method) return text
      held.push(() => response.end(text))
      return undefined
    }
    const { instances } = await createCaller()
    const [one, other] = instances as [SendCall, SendCall]
    const before = one(method, params)
    await expect.poll(() => held.length).toBe(1)
    await other('eth_sendRawTransaction', ['0x02'])
    const after = await one(method, params)
    expect(after.result).toBe('0x6')
    for (const respond of held) respond()
    expect((await before).result).toBe('0x5')
  })

  test('without Redis, each instance remembers its own, the block that a request names still counts, and later they share again', async () => {
    const { createCaller, redis } = await start(await kind.open())
    const sendCall = await createCaller()
    const getHead = async (seen?: string): Promise<unknown> => (await sendCall('eth_getCode', codeOf, seen)).result
    const getBlock = () => sendCall('eth_getBlockByNumber', ['latest', false])
    expect(await times(2, getHead)).toEqual(['0x64', '0x64'])
    redis.cut()
    const { block } = await getBlock()
    expect(block).toBe('101')
    expect(new Set(await times(2, getHead))).toEqual(new Set(['0x64', '0x65']))
    expect(await times(4, () => getHead(block ?? ''))).toEqual(['0x65', '0x65', '0x65', '0x65'])
    redis.fix()
    // Each time a new key, about which no instance remembers anything.
    await expect
      .poll(async () => {
        const sendOther = await createCaller()
        await sendOther('eth_getBlockByNumber', ['latest', false])
        return times(2, async () => (await sendOther('eth_getCode', codeOf)).result)
      })
      .toEqual(['0x65', '0x65'])
  })

  test('a response completes although Redis is lost while it shares its news', async () => {
    const { createCaller, ahead, redis } = await start(await kind.open())
    const sendCall = await createCaller()
    const { behave } = ahead
    ahead.behave = (call, response) => {
      // By now, the limits of the call are taken. Its news hang, until the connection is lost.
      redis.hang()
      setTimeout(redis.cut, 100)
      return behave(call, response)
    }
    expect(await sendCall('eth_getBlockByNumber', ['latest', false])).toMatchObject({
      result: { number: '0x65' },
      block: '101',
    })
  })
})
