import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { formatFault, isConfigError } from './configError.ts'
import { getSecrets } from './getSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { createRedact } from './redact.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import { toUpstreams } from './toGatewayConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-vendors-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const key = 'k3yOfThatVendor-0123456789'
const environment = { VENDOR_KEY: key, OTHER_KEY: 'other-key-of-a-vendor', NODE_URL: 'http://10.0.0.5:8545' }
writeFileSync(join(folder, 'key'), `${key}\n`)

/** Reads a config with these networks and vendors. */
const read = (networks: object, vendors?: object): ServiceConfig => {
  const file = join(folder, 'keyrail.config.json')
  writeFileSync(file, JSON.stringify({ publicUrl: 'https://rpc.example.org', networks, vendors }))
  return readServiceConfig(file, { environment })
}

/** The nodes of a network, as the gateway gets them. */
const getNodes = (config: ServiceConfig, network: string) =>
  toUpstreams(network, config.networks[network]?.upstreams ?? []).map(({ name, url }) => [name, url.href])

/** The faults of a config. */
const getFaults = (networks: object, vendors?: object): readonly string[] => {
  try {
    read(networks, vendors)
  } catch (error) {
    if (isConfigError(error)) return error.faults.map(formatFault)
    throw error
  }
  return []
}

const onBase = (...upstreams: unknown[]) => ({ 'base-mainnet': { upstreams } })

describe('a node as a text', () => {
  test.each([
    ['alchemy://ENV:VENDOR_KEY', `https://base-mainnet.g.alchemy.com/v2/${key}`],
    ['alchemy://FILE:key', `https://base-mainnet.g.alchemy.com/v2/${key}`],
    ['infura://ENV:VENDOR_KEY', `https://base-mainnet.infura.io/v3/${key}`],
    ['drpc://ENV:VENDOR_KEY', `https://lb.drpc.org/ogrpc?network=base&dkey=${key}`],
    ['ankr://ENV:VENDOR_KEY', `https://rpc.ankr.com/base/${key}`],
    ['blockpi://ENV:VENDOR_KEY', `https://base.blockpi.network/v1/rpc/${key}`],
    ['dwellir://ENV:VENDOR_KEY', `https://api-base-mainnet-archive.n.dwellir.com/${key}`],
    ['onfinality://ENV:VENDOR_KEY', `https://base.api.onfinality.io/rpc?apikey=${key}`],
    ['tenderly://ENV:VENDOR_KEY', `https://base.gateway.tenderly.co/${key}`],
    ['thirdweb://ENV:VENDOR_KEY', `https://8453.rpc.thirdweb.com/${key}`],
    ['publicnode://', 'https://base-rpc.publicnode.com/'],
    ['http://10.0.0.5:8545', 'http://10.0.0.5:8545/'],
    ['ENV:NODE_URL', 'http://10.0.0.5:8545/'],
  ])('%s', (given, url) => {
    expect(getNodes(read(onBase(given)), 'base-mainnet')).toEqual([['base-mainnet-1', url]])
  })

  test.each([
    ['alchmy://ENV:VENDOR_KEY', 'has an unknown vendor: did you mean "alchemy"?'],
    ['quicknode://ENV:VENDOR_KEY', 'has the vendor quicknode, whose endpoints have no common URL'],
    [`alchemy://${key}`, 'must not have the key itself: write alchemy://ENV:NAME or alchemy://FILE:PATH'],
    [key, 'must be the URL of a node, or a vendor with the variable or file of its key'],
    ['ftp://10.0.0.5', 'has an unknown vendor: the known ones are alchemy, infura'],
  ])('a fault of %s is named without the key', (given, fault) => {
    const [found = '', ...more] = getFaults(onBase(given))
    expect(more).toEqual([])
    expect(found).toContain(`networks.base-mainnet.upstreams[0] ${fault}`)
    expect(found).not.toContain(key)
  })

  test.each([
    [5, 'networks.base-mainnet.upstreams[0] must be an object with the members url,'],
    [
      { url: 'http://10.0.0.5', wieght: 2 },
      'networks.base-mainnet.upstreams[0] has an unknown member "wieght": did you mean',
    ],
    [{ url: 5 }, 'networks.base-mainnet.upstreams[0].url must be the http or https URL of a node'],
    [
      { vendor: 'drpk', keyEnv: 'VENDOR_KEY' },
      'networks.base-mainnet.upstreams[0].vendor has an unknown vendor: did you mean "drpc"?',
    ],
    [
      { url: 'http://10.0.0.5', keyEnv: 'VENDOR_KEY' },
      'must have at most one of keyEnv and keyFile, and only with vendor',
    ],
    [{ vendor: 'drpc', url: 'http://10.0.0.5' }, 'must have exactly one of url, urlEnv, urlFile and vendor'],
    [
      { url: 'http://10.0.0.5', weights: { eth_cal: 1 } },
      'upstreams[0].weights has an unknown method "eth_cal": did you mean',
    ],
  ])('the faults of an object are those of a node: %j', (given, fault) => {
    expect(getFaults(onBase(given)).join()).toContain(fault)
  })
})

describe('a node of a vendor', () => {
  test('has the options of any node, and what is known of the vendor unless the config says otherwise', () => {
    const given = { vendor: 'alchemy', keyEnv: 'VENDOR_KEY', name: 'paid', maxUnitsPerDay: 1_000_000 }
    const { networks } = read({
      'base-mainnet': {
        upstreams: [given, { ...given, name: 'own', weights: { '*': 1 }, maxLogBlocks: 10, group: 'a' }],
      },
      'celo-mainnet': { upstreams: [given] },
    })
    const [base, own, celo] = Object.values(networks).flatMap(({ upstreams }) => upstreams)
    expect(base).toMatchObject({ name: 'paid', maxUnitsPerDay: 1_000_000, weights: { eth_call: 26, '*': 20 } })
    // Two keys of one vendor are one vote of a confirmed read.
    expect(base).toHaveProperty('group', 'alchemy')
    expect(base).not.toHaveProperty('maxLogBlocks')
    expect(celo).toHaveProperty('maxLogBlocks', 10_000)
    expect(own).toMatchObject({ weights: { '*': 1 }, maxLogBlocks: 10, group: 'a' })
  })

  test('must serve the chain, which may be one that is not well-known', () => {
    expect(getFaults({ local: { chainId: 31_337, upstreams: ['alchemy://ENV:VENDOR_KEY'] } })).toEqual([
      'networks.local.upstreams[0] is of alchemy, which is not known to serve the chain id 31337: remove it, or use url, urlEnv or urlFile if it does',
    ])
    expect(getNodes(read({ local: { chainId: 31_337, upstreams: ['thirdweb://ENV:VENDOR_KEY'] } }), 'local')).toEqual([
      ['local-1', `https://31337.rpc.thirdweb.com/${key}`],
    ])
  })

  test.each([
    [['alchemy://ENV:NO_KEY'], 'upstreams[0].keyEnv names the environment variable NO_KEY, which is not set: set it'],
    [['alchemy://FILE:no-key'], 'upstreams[0].keyFile names a file that cannot be read (ENOENT)'],
    [['alchemy://ENV:NODE_URL'], 'upstreams[0].keyEnv names the environment variable NODE_URL, which holds no key'],
    [['alchemy://'], 'upstreams[0] must have keyEnv or keyFile, or the config must have vendors.alchemy'],
  ])('%s needs a key', (upstreams, fault) => {
    expect(getFaults(onBase(...upstreams)).join()).toContain(fault)
  })

  test('hides its key in logs, and not the name of its network', () => {
    const config = read({ 'arbitrum-one': { upstreams: ['drpc://ENV:VENDOR_KEY', 'ankr://ENV:OTHER_KEY'] } })
    const redact = createRedact(getSecrets(config, {}))
    const text = `arbitrum-one arbitrum https://lb.drpc.org/ogrpc?network=arbitrum&dkey=${key} ${environment.OTHER_KEY}`
    expect(redact(text)).not.toMatch(/k3yOf|0123456789|other-key/)
    expect(redact(text)).toMatch(/^arbitrum-one arbitrum /)
  })
})

describe('vendors', () => {
  const vendors = { alchemy: { keyEnv: 'VENDOR_KEY' }, infura: { keyFile: 'key' }, publicnode: {} }

  test('add a node to each network that they serve, after its own', () => {
    const config = read({ 'base-mainnet': { upstreams: ['ENV:NODE_URL'] }, 'zora-mainnet': {} }, vendors)
    expect(getNodes(config, 'base-mainnet')).toEqual([
      ['base-mainnet-1', 'http://10.0.0.5:8545/'],
      ['alchemy', `https://base-mainnet.g.alchemy.com/v2/${key}`],
      ['infura', `https://base-mainnet.infura.io/v3/${key}`],
      ['publicnode', 'https://base-rpc.publicnode.com/'],
    ])
    expect(getNodes(config, 'zora-mainnet')).toEqual([['alchemy', `https://zora-mainnet.g.alchemy.com/v2/${key}`]])
  })

  test('add none to a network that lists one, which has their key unless it has its own', () => {
    const upstreams = [{ vendor: 'alchemy', name: 'one' }, 'infura://ENV:OTHER_KEY']
    expect(getNodes(read({ 'base-mainnet': { upstreams } }, vendors), 'base-mainnet')).toEqual([
      ['one', `https://base-mainnet.g.alchemy.com/v2/${key}`],
      ['base-mainnet-2', `https://base-mainnet.infura.io/v3/${environment.OTHER_KEY}`],
      ['publicnode', 'https://base-rpc.publicnode.com/'],
    ])
  })

  test('can be named where the config names nodes, and take no name that another node has', () => {
    const methods = { alchemy_getTokenBalances: { read: true, upstreams: ['alchemy'] } }
    const given = { upstreams: [{ url: 'http://10.0.0.5', name: 'infura' }], methods }
    expect(getNodes(read({ 'base-mainnet': given }, vendors), 'base-mainnet').map(([name]) => name)).toEqual([
      'infura',
      'alchemy',
      'base-mainnet-3',
      'publicnode',
    ])
  })

  test.each([
    [{ alchemi: {} }, 'vendors has an unknown vendor: did you mean "alchemy"?'],
    [{ alchemy: {} }, 'vendors.alchemy must have keyEnv or keyFile'],
    [{ alchemy: { keyEnv: 'VENDOR_KEY', keyFile: 'key' } }, 'vendors.alchemy must have only one of keyEnv and keyFile'],
    [{ alchemy: { key } }, 'vendors.alchemy has an unknown member "key": the known members are'],
    [
      { alchemy: { keyEnv: 'NO_KEY' } },
      'vendors.alchemy.keyEnv names the environment variable NO_KEY, which is not set',
    ],
    [[], 'vendors must be an object with the key for each vendor'],
  ])('a fault is named once, without the key: %j', (given, fault) => {
    const faults = getFaults(
      { 'base-mainnet': { upstreams: ['ENV:NODE_URL'] }, 'zora-mainnet': { upstreams: ['ENV:NODE_URL'] } },
      given,
    )
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(fault)
    expect(faults[0]).not.toContain(key)
  })

  test('cannot be the only source of nodes of a network that none serves', () => {
    expect(getFaults({ local: { chainId: 31_337 } }, vendors)).toEqual([
      'networks.local.upstreams must be a list of at least one node, such as [{ "url": "http://127.0.0.1:8545" }]',
    ])
  })
})
