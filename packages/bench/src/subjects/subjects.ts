import { batch, budget, cache, failover, hooks, stats } from '@keyrail/core'
import type { FeatureOptions, TransportOptions } from '@keyrail/core'
import { openCore } from './core.ts'
import { openFloor } from './floor.ts'
import { openKeyrail } from './keyrail.ts'
import { openPeer } from './peers.ts'
import { openRawFetch } from './rawFetch.ts'
import type { OpenSubject } from './subject.ts'

/** Every feature except batches, which would send fewer requests and hide the cost of the other features. */
const everyFeature = (url: string): TransportOptions => ({
  endpoints: failover([{ url }], { minBlock: true }),
  cache: cache(),
  budget: budget({ requestsPerSecond: 1_000_000 }),
  stats: stats(),
  hooks: hooks({ onFailure: () => {} }),
})
const { fetch } = globalThis
// Imported lazily, because the libraries need more memory than the subjects that are measured.
const viem = () => import('./viem.ts')
const ethers = () => import('./ethers.ts')
const web3 = () => import('./web3.ts')
const batched = (): Pick<FeatureOptions, 'batch'> => ({ batch: batch() })

/** Every subject of the rows. Each runs in a separate process. */
export const subjects: Readonly<Record<string, OpenSubject>> = {
  floor: (url) => openFloor(url),
  'floor again': (url) => openFloor(url),
  'floor, 64 sockets': (url) => openFloor(url, 64, 120_000),
  'floor, 64 sockets again': (url) => openFloor(url, 64, 120_000),
  fetch: openRawFetch,
  'fetch again': openRawFetch,
  keyrail: (url) => openKeyrail({ url }),
  'keyrail again': (url) => openKeyrail({ url }),
  'keyrail, bare': (url) => openKeyrail({ url, retry: false, coalesce: false }),
  'keyrail, every feature': (url) => openKeyrail(everyFeature(url)),
  'keyrail, batch': (url) => openKeyrail({ url, ...batched() }),
  'keyrail on fetch': (url) => openKeyrail({ url, fetch }),
  'keyrail on fetch, batch': (url) => openKeyrail({ url, fetch, ...batched() }),
  core: (url) => openCore(url),
  'core again': (url) => openCore(url),
  'core, batch': (url) => openCore(url, batched()),
  'core, batch again': (url) => openCore(url, batched()),
  'viem over keyrail': async (url) => (await viem()).openViem(url),
  'ethers over keyrail': async (url) => (await ethers()).openEthers(url),
  'web3 over keyrail': async (url) => (await web3()).openWeb3(url),
  'viem over keyrail, batch': async (url) => (await viem()).openViem(url, batched()),
  'ethers over keyrail, batch': async (url) => (await ethers()).openEthers(url, batched()),
  'web3 over keyrail, batch': async (url) => (await web3()).openWeb3(url, batched()),
  'viem reads over keyrail': async (url) => (await viem()).openViemReads(url),
  'ethers reads over keyrail': async (url) => (await ethers()).openEthersReads(url),
  'web3 reads over keyrail': async (url) => (await web3()).openWeb3Reads(url),
  'viem reads': async (url) => (await viem()).openOwnViemReads(url),
  'ethers reads': async (url) => (await ethers()).openOwnEthersReads(url),
  'web3 reads': async (url) => (await web3()).openOwnWeb3Reads(url),
  viem: openPeer.viem,
  'viem, batch': openPeer.viemBatch,
  ethers: openPeer.ethers,
  'ethers, batch': openPeer.ethersBatch,
  web3: openPeer.web3,
  micro: openPeer.micro,
  'micro, batch': openPeer.microBatch,
}
