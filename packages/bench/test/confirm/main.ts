import { createApiKey } from '@keyrail/gateway'
import { createMemoryKeyStore, createTestGateway } from '@keyrail/gateway/test/internal.ts'
import type { TestOptions } from '@keyrail/gateway/test/internal.ts'
import { result, startFakeUpstream } from '@keyrail/gateway/test/fakeUpstream.ts'
import { chainIds, post } from '@keyrail/gateway/test/startGateway.ts'
import { parseArgs } from 'node:util'

// npm run measure -- confirm --calls 2000: what a confirmed read costs beside one that is not, in calls at nodes and in latency. The nodes take 5 to
// 25 ms for a call, one in a hundred 100 ms. Fails if a call costs more calls at nodes than it should.

const { values } = parseArgs({ options: { calls: { type: 'string', default: '2000' } } })
const calls = Number(values.calls)
if (!(calls > 0)) throw new TypeError('--calls must be a number above 0')

type Network = Partial<TestOptions['networks'][string]>
const confirm = (nodes: number): Network => ({ confirm: [{ methods: ['eth_getBalance'], nodes }] })

const rows: readonly (readonly [name: string, network: Network, tag: string, callsAtNodes: number])[] = [
  ['not confirmed', {}, 'latest', 1],
  ['two nodes, latest', confirm(2), 'latest', 2],
  ['two nodes, finalized', confirm(2), 'finalized', 2],
  ['three nodes, latest', confirm(3), 'latest', 3],
]

const atOnce = 4
let state = 1
/** A number from 0 to 1, the same in each run. */
const draw = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647

const nodes = await Promise.all(Array.from({ length: 3 }, () => startFakeUpstream(chainIds.testnet)))
for (const node of nodes)
  node.behave = (call, response) => {
    const delayMs = draw() < 0.01 ? 100 : 5 + draw() * 20
    setTimeout(() => response.end(result(call, '"0x1"')), delayMs)
    return undefined
  }

let failed = false
for (const [name, network, tag, expected] of rows) {
  state = 1
  const keys = createMemoryKeyStore()
  const key = createApiKey('testnet')
  keys.add(key, { id: 'key-1', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  const upstreams = nodes.map(({ url }) => ({ url }))
  const gateway = createTestGateway({
    networks: { testnet: { chainId: chainIds.testnet, upstreams, ...network } },
    keys,
  })
  const { url } = await gateway.listen()
  const latencies: number[] = []
  let sent = 0
  const work = async (): Promise<void> => {
    while (sent < calls) {
      const account = `0x${(sent += 1).toString(16).padStart(40, '0')}`
      const body = `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["${account}","${tag}"]}`
      const startedAt = performance.now()
      const { text } = await post(`${url}/testnet/${key}`, body)
      latencies.push(performance.now() - startedAt)
      if (!text.includes('"result"')) throw new Error(text)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await gateway.close({ graceMs: 0 })
  const atNodes = nodes.reduce((sum, { bodies }) => sum + bodies.splice(0).length, 0) / calls
  if (atNodes !== expected) failed = true
  const sorted = latencies.toSorted((a, b) => a - b)
  const [p50, p99] = [0.5, 0.99].map((part) => sorted[Math.floor(sorted.length * part)]?.toFixed(1))
  process.stdout.write(`${name}: ${atNodes.toFixed(2)} calls at nodes, p50 ${p50} ms, p99 ${p99} ms\n`)
}
await Promise.all(nodes.map((node) => node.stop()))
process.exitCode = failed ? 1 : 0
