import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MethodPreset } from '../packages/core/src/schema/methodRow.ts'
import type { Chain } from 'viem'
import * as viemChains from 'viem/chains'

// Writes knownNetworks.json of the gateway and networkNames.json of the viem adapter. This file selects the networks and their names. All other
// properties come from viem.
// Run it with `npm run networks` after a change here or an update of viem. test/knownNetworks.test.ts fails until then.

/** A chain with its networks by name. A network is the name of a chain in viem, followed by aliases. */
interface SelectedChain {
  readonly title: string
  readonly networks: Readonly<Record<string, readonly [viem: keyof typeof viemChains, ...aliases: string[]]>>
}

/**
 * Aliases are the names of a network at hosted providers and The Graph, if they differ from our slug. A chain's first network also has the chain's
 * name as an alias. `mainnet` and `testnet` are not aliases, because many services use them for their own networks.
 */
const chains: Readonly<Record<string, SelectedChain>> = {
  ethereum: {
    title: 'Ethereum',
    networks: {
      mainnet: ['mainnet', 'eth', 'eth-mainnet'],
      sepolia: ['sepolia', 'sepolia', 'eth-sepolia'],
      hoodi: ['hoodi', 'hoodi', 'eth-hoodi'],
      holesky: ['holesky', 'holesky', 'eth-holesky'],
    },
  },
  'ethereum-classic': { title: 'Ethereum Classic', networks: { mainnet: ['classic', 'etc', 'etc-mainnet'] } },
  abstract: {
    title: 'Abstract',
    networks: { mainnet: ['abstract'], testnet: ['abstractTestnet', 'abstract-sepolia'] },
  },
  apechain: { title: 'ApeChain', networks: { mainnet: ['apeChain'], curtis: ['curtis', 'curtis'] } },
  arbitrum: {
    title: 'Arbitrum',
    networks: {
      one: ['arbitrum', 'arbitrum-mainnet', 'arb-mainnet', 'arb1'],
      nova: ['arbitrumNova', 'arbitrum-nova-mainnet', 'arbnova-mainnet', 'nova-mainnet'],
      sepolia: ['arbitrumSepolia', 'arb-sepolia'],
    },
  },
  astar: { title: 'Astar', networks: { mainnet: ['astar'] } },
  aurora: { title: 'Aurora', networks: { mainnet: ['aurora'], testnet: ['auroraTestnet'] } },
  avalanche: {
    title: 'Avalanche C-Chain',
    networks: {
      mainnet: ['avalanche', 'avax', 'avax-mainnet', 'avalanche-c-chain'],
      fuji: ['avalancheFuji', 'fuji', 'avax-fuji', 'avalanche-testnet'],
    },
  },
  base: { title: 'Base', networks: { mainnet: ['base'], sepolia: ['baseSepolia'] } },
  berachain: {
    title: 'Berachain',
    networks: { mainnet: ['berachain', 'bera-mainnet'], bepolia: ['berachainBepolia', 'bepolia', 'bera-bepolia'] },
  },
  blast: { title: 'Blast', networks: { mainnet: ['blast'], sepolia: ['blastSepolia'] } },
  bnb: {
    title: 'BNB Smart Chain',
    networks: {
      mainnet: ['bsc', 'bsc', 'bsc-mainnet'],
      testnet: ['bscTestnet', 'bsc-testnet', 'chapel'],
    },
  },
  bob: { title: 'BOB', networks: { mainnet: ['bob'], sepolia: ['bobSepolia'] } },
  boba: { title: 'Boba', networks: { mainnet: ['boba'], sepolia: ['bobaSepolia'] } },
  celo: { title: 'Celo', networks: { mainnet: ['celo'], sepolia: ['celoSepolia'] } },
  chiliz: { title: 'Chiliz', networks: { mainnet: ['chiliz'], spicy: ['spicy', 'spicy'] } },
  conflux: {
    title: 'Conflux eSpace',
    networks: { mainnet: ['confluxESpace', 'conflux-espace'], testnet: ['confluxESpaceTestnet'] },
  },
  core: { title: 'Core', networks: { mainnet: ['coreDao', 'coredao'], testnet: ['coreTestnet2'] } },
  cronos: { title: 'Cronos', networks: { mainnet: ['cronos'], testnet: ['cronosTestnet'] } },
  'cronos-zkevm': {
    title: 'Cronos zkEVM',
    networks: { mainnet: ['cronoszkEVM'], testnet: ['cronoszkEVMTestnet'] },
  },
  etherlink: { title: 'Etherlink', networks: { mainnet: ['etherlink'], shadownet: ['etherlinkShadownetTestnet'] } },
  fantom: { title: 'Fantom Opera', networks: { mainnet: ['fantom', 'ftm'], testnet: ['fantomTestnet'] } },
  filecoin: {
    title: 'Filecoin',
    networks: { mainnet: ['filecoin', 'fil'], calibration: ['filecoinCalibration', 'calibration'] },
  },
  flare: { title: 'Flare', networks: { mainnet: ['flare'], coston2: ['flareTestnet', 'coston2'] } },
  flow: { title: 'Flow EVM', networks: { mainnet: ['flowMainnet', 'flow-evm'], testnet: ['flowTestnet'] } },
  fraxtal: { title: 'Fraxtal', networks: { mainnet: ['fraxtal', 'frax-mainnet'] } },
  fuse: { title: 'Fuse', networks: { mainnet: ['fuse'] } },
  gnosis: {
    title: 'Gnosis',
    networks: { mainnet: ['gnosis', 'xdai'], chiado: ['gnosisChiado', 'chiado'] },
  },
  harmony: { title: 'Harmony', networks: { mainnet: ['harmonyOne'] } },
  hedera: { title: 'Hedera', networks: { mainnet: ['hedera'], testnet: ['hederaTestnet'] } },
  hemi: { title: 'Hemi', networks: { mainnet: ['hemi'], sepolia: ['hemiSepolia'] } },
  hyperliquid: {
    title: 'Hyperliquid (HyperEVM)',
    networks: { mainnet: ['hyperEvm', 'hyperevm', 'hyperevm-mainnet'], testnet: ['hyperliquidEvmTestnet'] },
  },
  immutable: {
    title: 'Immutable zkEVM',
    networks: {
      mainnet: ['immutableZkEvm', 'immutable-zkevm', 'immutable-zkevm-mainnet'],
      testnet: ['immutableZkEvmTestnet', 'immutable-zkevm-testnet'],
    },
  },
  injective: { title: 'Injective EVM', networks: { mainnet: ['injective'], testnet: ['injectiveTestnet'] } },
  ink: { title: 'Ink', networks: { mainnet: ['ink'], sepolia: ['inkSepolia'] } },
  iotex: { title: 'IoTeX', networks: { mainnet: ['iotex'], testnet: ['iotexTestnet'] } },
  kaia: {
    title: 'Kaia',
    networks: { mainnet: ['kaia', 'klaytn', 'klaytn-mainnet'], kairos: ['kairos', 'kairos', 'kaia-testnet'] },
  },
  katana: { title: 'Katana', networks: { mainnet: ['katana'] } },
  kava: { title: 'Kava EVM', networks: { mainnet: ['kava'], testnet: ['kavaTestnet'] } },
  lens: { title: 'Lens', networks: { mainnet: ['lens'], testnet: ['lensTestnet', 'lens-sepolia'] } },
  linea: { title: 'Linea', networks: { mainnet: ['linea'], sepolia: ['lineaSepolia'] } },
  lisk: { title: 'Lisk', networks: { mainnet: ['lisk'], sepolia: ['liskSepolia'] } },
  manta: {
    title: 'Manta Pacific',
    networks: { mainnet: ['manta', 'manta-pacific'], sepolia: ['mantaSepoliaTestnet'] },
  },
  mantle: { title: 'Mantle', networks: { mainnet: ['mantle'], sepolia: ['mantleSepoliaTestnet'] } },
  megaeth: { title: 'MegaETH', networks: { mainnet: ['megaeth'], testnet: ['megaethTestnet'] } },
  merlin: { title: 'Merlin', networks: { mainnet: ['merlin'] } },
  metis: { title: 'Metis', networks: { mainnet: ['metis', 'metis-andromeda'], sepolia: ['metisSepolia'] } },
  mode: { title: 'Mode', networks: { mainnet: ['mode'], sepolia: ['modeTestnet', 'mode-testnet'] } },
  monad: { title: 'Monad', networks: { mainnet: ['monad'], testnet: ['monadTestnet'] } },
  moonbeam: {
    title: 'Moonbeam',
    networks: { mainnet: ['moonbeam'], moonbase: ['moonbaseAlpha', 'moonbase', 'moonbase-alpha'] },
  },
  moonriver: { title: 'Moonriver', networks: { mainnet: ['moonriver'] } },
  opbnb: { title: 'opBNB', networks: { mainnet: ['opBNB'], testnet: ['opBNBTestnet'] } },
  optimism: {
    title: 'Optimism',
    networks: {
      mainnet: ['optimism', 'op-mainnet', 'opt-mainnet'],
      sepolia: ['optimismSepolia', 'op-sepolia', 'opt-sepolia'],
    },
  },
  plasma: { title: 'Plasma', networks: { mainnet: ['plasma'], testnet: ['plasmaTestnet'] } },
  plume: { title: 'Plume', networks: { mainnet: ['plumeMainnet'], testnet: ['plumeSepolia'] } },
  polygon: {
    title: 'Polygon PoS',
    networks: { mainnet: ['polygon', 'matic', 'matic-mainnet'], amoy: ['polygonAmoy', 'amoy', 'matic-amoy'] },
  },
  'polygon-zkevm': {
    title: 'Polygon zkEVM',
    networks: {
      mainnet: ['polygonZkEvm', 'polygonzkevm-mainnet', 'zkevm-mainnet'],
      cardona: ['polygonZkEvmCardona', 'polygonzkevm-cardona', 'cardona'],
    },
  },
  pulsechain: { title: 'PulseChain', networks: { mainnet: ['pulsechain'], testnet: ['pulsechainV4'] } },
  ronin: { title: 'Ronin', networks: { mainnet: ['ronin'], saigon: ['saigon', 'saigon'] } },
  rootstock: {
    title: 'Rootstock',
    networks: { mainnet: ['rootstock', 'rsk', 'rsk-mainnet'], testnet: ['rootstockTestnet', 'rsk-testnet'] },
  },
  scroll: { title: 'Scroll', networks: { mainnet: ['scroll'], sepolia: ['scrollSepolia'] } },
  sei: { title: 'Sei', networks: { mainnet: ['sei'], testnet: ['seiTestnet', 'sei-atlantic'] } },
  shape: { title: 'Shape', networks: { mainnet: ['shape'], sepolia: ['shapeSepolia'] } },
  shibarium: { title: 'Shibarium', networks: { mainnet: ['shibarium'], puppynet: ['shibariumTestnet', 'puppynet'] } },
  soneium: { title: 'Soneium', networks: { mainnet: ['soneium'], minato: ['soneiumMinato', 'minato'] } },
  sonic: { title: 'Sonic', networks: { mainnet: ['sonic'] } },
  superseed: { title: 'Superseed', networks: { mainnet: ['superseed'], sepolia: ['superseedSepolia'] } },
  swellchain: { title: 'Swellchain', networks: { mainnet: ['swellchain'], testnet: ['swellchainTestnet'] } },
  taiko: { title: 'Taiko', networks: { mainnet: ['taiko'], hoodi: ['taikoHoodi'] } },
  telos: { title: 'Telos', networks: { mainnet: ['telos'], testnet: ['telosTestnet'] } },
  unichain: { title: 'Unichain', networks: { mainnet: ['unichain'], sepolia: ['unichainSepolia'] } },
  worldchain: {
    title: 'World Chain',
    networks: { mainnet: ['worldchain', 'world-chain'], sepolia: ['worldchainSepolia'] },
  },
  xdc: { title: 'XDC', networks: { mainnet: ['xdc'], apothem: ['xdcTestnet', 'apothem', 'xdc-testnet'] } },
  xlayer: { title: 'X Layer', networks: { mainnet: ['xLayer', 'x-layer'], testnet: ['xLayerTestnet'] } },
  zetachain: {
    title: 'ZetaChain',
    networks: { mainnet: ['zetachain'], athens: ['zetachainAthensTestnet', 'zetachain-testnet'] },
  },
  zircuit: { title: 'Zircuit', networks: { mainnet: ['zircuit'], garfield: ['zircuitGarfieldTestnet'] } },
  zksync: {
    title: 'ZKsync Era',
    networks: { mainnet: ['zksync', 'zksync-era'], sepolia: ['zksyncSepoliaTestnet', 'zksync-era-sepolia'] },
  },
  zora: { title: 'Zora', networks: { mainnet: ['zora'], sepolia: ['zoraSepolia'] } },
}

/** The chains whose nodes have the methods of a preset, which their networks then offer. Source: those that viem configures for the stack. */
const presets: Readonly<Partial<Record<MethodPreset, string>>> = {
  arbitrum: 'arbitrum',
  linea: 'linea',
  'op-stack':
    'base blast bob celo fraxtal ink lisk mode opbnb optimism shape soneium superseed swellchain unichain worldchain zircuit zora',
  polygon: 'polygon',
  zksync: 'abstract cronos-zkevm lens zksync',
}

const getPresets = (chain: string): readonly string[] | undefined => {
  const found = Object.entries(presets).flatMap(([preset, names]) => (names.split(' ').includes(chain) ? [preset] : []))
  return found.length === 0 ? undefined : found
}

// A copy: the linter rejects a computed member of a namespace.
const chainsOfViem = { ...viemChains }

const capitalize = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`

/** Builds the content of `knownNetworks.json`: all known chains and networks. */
export function buildKnownNetworks(): {
  readonly chains: object
  readonly networks: Readonly<Record<string, { readonly chainId: number }>>
} {
  const networks = Object.entries(chains).flatMap(([chain, { title, networks: selected }]) =>
    Object.entries(selected).map(([name, [viem, ...aliases]], index) => {
      const facts: Chain = chainsOfViem[viem]
      const explorer = facts.blockExplorers?.default.url.replace(/[/]$/, '')
      const network = {
        chain,
        title: `${title} ${capitalize(name)}`,
        chainId: facts.id,
        symbol: facts.nativeCurrency.symbol,
        testnet: facts.testnet === true,
        aliases: index === 0 ? [chain, ...aliases] : aliases,
        // Wallets only accept explorers over HTTPS.
        explorerUrl: explorer?.startsWith('https:') ? explorer : undefined,
      }
      return [`${chain}-${name}`, network] as const
    }),
  )
  return {
    chains: Object.fromEntries(
      Object.entries(chains).map(([slug, { title }]) => [slug, { title, presets: getPresets(slug) }]),
    ),
    networks: Object.fromEntries(networks),
  }
}

/** Builds the content of the viem adapter's `networkNames.json`: the slug of each known network by chain id. */
export function buildNetworkNames(): Readonly<Record<string, string>> {
  const { networks } = buildKnownNetworks()
  return Object.fromEntries(Object.entries(networks).map(([slug, { chainId }]) => [chainId, slug]))
}

if (import.meta.main) {
  const write = (path: string, content: object): void => {
    const file = join(import.meta.dirname, '..', path)
    writeFileSync(file, JSON.stringify(content))
    execFileSync(join(import.meta.dirname, '../node_modules/.bin/oxfmt'), [file])
  }
  write('packages/gateway/src/lib/knownNetworks.json', buildKnownNetworks())
  write('packages/viem/src/networkNames.json', buildNetworkNames())
}
