import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createService, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import type { Service } from '@keyrail/gateway'
import { post } from '@keyrail/gateway/test/startGateway.ts'
import { createVisitor } from '@keyrail/gateway/test/visitor.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { getProgram, needs } from '../../../../scripts/externalPrograms.ts'
import { needsPython, setUpPython } from '../../../../scripts/setUpPython.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clients } from './clients.ts'

// One service with five networks, each with its own node. Each node has a different number of blocks, so that the block identifies the network.

const networks = [
  { name: 'ethereum-sepolia', chainId: 11_155_111, alias: 'sepolia' },
  { name: 'ethereum-mainnet', chainId: 1, alias: 'eth-mainnet' },
  { name: 'ethereum-hoodi', chainId: 560_048, alias: 'hoodi' },
  { name: 'ethereum-holesky', chainId: 17_000, alias: 'holesky' },
  { name: 'our-chain', chainId: 424_242, alias: 'ours' },
] as const
const heads = networks.map(({ name }, index) => ({ name, head: index + 1 }))

const python = await setUpPython()
const folder = mkdtempSync(join(tmpdir(), 'keyrail-networks-'))
const password = randomBytes(12).toString('base64url')
let nodes: Anvil[] = []
let service: Service
/** The full URLs of each network: with the key of the app, and with an API key. */
const urls = new Map<string, string[]>()

beforeAll(async () => {
  nodes = await Promise.all(networks.map(({ chainId }) => startAnvil('--chain-id', String(chainId))))
  for (const [index, { url }] of nodes.entries())
    await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: [index + 1] }))
  const configured = networks.map(({ name, chainId }, index) => {
    // The first node is on the wrong chain.
    const upstreams = [nodes[(index + 1) % nodes.length], nodes[index]].map((node) => ({ url: node?.url ?? '' }))
    return [name, name === 'our-chain' ? { chain: 'ethereum', chainId, aliases: ['ours'], upstreams } : { upstreams }]
  })
  const { publicUrl: _, ...config } = parseServiceConfig({
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    networks: Object.fromEntries(configured) as object,
  })
  service = await createService({
    config,
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(48).toString('base64url') }),
    storage: { file: join(folder, 'keyrail.db') },
  })
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 })
  const [ann, bob] = [createVisitor(url), createVisitor(url)]
  await ann.get('POST /api/account', { body: { email: 'ann@example.org', password } })
  await bob.get('POST /api/account', { body: { email: 'bob@example.org', password } })
  const { urls: addresses } = await ann.get('POST /api/apps', {
    body: {
      name: 'app',
      useCase: 'Other',
      chain: 'ethereum',
      services: ['Node API'],
      networks: networks.slice(0, 4).map(({ name }) => name),
    },
  })
  for (const [index, { name: network }] of networks.entries()) {
    // A user has four keys at most.
    const owner = index < 4 ? ann : bob
    const { url: address } = await owner.get('POST /api/keys', { body: { name: 'key', network } })
    urls.set(network, [address, ...(addresses[network] === undefined ? [] : [addresses[network]])])
  }
}, 60_000)

afterAll(async () => {
  await service.close({ graceMs: 0 })
  await Promise.all(nodes.map(({ stop }) => stop()))
  rmSync(folder, { recursive: true, force: true })
})

describe('five networks behind one service', () => {
  test('an app is for four networks, and each network has a key', () => {
    expect(networks.map(({ name }) => urls.get(name)?.length)).toEqual([2, 2, 2, 2, 1])
  })

  test.each(clients)('$name reads the latest block of each network at both kinds of URL', async ({ open }) => {
    for (const { name, chainId } of networks)
      for (const url of urls.get(name) ?? []) {
        const client = open({ url, chainId })
        expect([name, Number(await client.blockNumber())]).toEqual([name, getHead(name)])
        client.close()
      }
  })

  test('curl reads the latest block of each network at both kinds of URL', needs('curl'), async () => {
    for (const { name } of networks)
      for (const url of urls.get(name) ?? []) expect(await readByCurl(url)).toEqual(getHead(name))
  })

  test('an alias and the chain id mean their network', needs('curl'), async () => {
    for (const { name, alias, chainId } of networks)
      for (const url of urls.get(name) ?? [])
        for (const other of [alias, chainId])
          expect(await readByCurl(url.replace(`/${name}/`, `/${other}/`))).toBe(getHead(name))
  })

  test('web3.py reads the latest block of each network at both kinds of URL', needsPython(python), async () => {
    if (!('python' in python)) return
    const file = join(folder, 'read.py')
    writeFileSync(
      file,
      'import sys\nfrom web3 import HTTPProvider, Web3\nprint(*(Web3(HTTPProvider(url)).eth.block_number for url in sys.argv[1:]))\n',
    )
    const all = networks.flatMap(({ name }) => (urls.get(name) ?? []).map((url) => ({ name, url })))
    const { stdout } = await promisify(execFile)(python.python, [file, ...all.map(({ url }) => url)])
    expect(stdout.trim().split(' ').map(Number)).toEqual(all.map(({ name }) => getHead(name)))
  })

  test('a key is rejected at other networks, with the networks that it is for', async () => {
    const [own = ''] = urls.get('our-chain') ?? []
    const { status, text } = await post(own.replace('/our-chain/', '/sepolia/'), blockNumber)
    expect([status, JSON.parse(text)]).toMatchObject([
      403,
      { error: { data: { reason: 'wrong_network', keyNetworks: ['our-chain'] } } },
    ])
  })

  test('a network that the service does not have is named', async () => {
    const [own = ''] = urls.get('our-chain') ?? []
    const { status, text } = await post(own.replace('/our-chain/', '/base-mainnet/'), blockNumber)
    expect([status, text]).toEqual([404, expect.stringContaining('no network base-mainnet')])
  })
})

const blockNumber = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
const getHead = (network: string): number | undefined => heads.find(({ name }) => name === network)?.head

const readByCurl = async (url: string): Promise<number> => {
  const words = ['-sS', '-H', 'content-type: application/json', '-d', blockNumber, url]
  const { stdout } = await promisify(execFile)(getProgram('curl'), words)
  return Number((JSON.parse(stdout) as { result?: string }).result)
}
