import type { TransportOptions } from '@keyrail/core'
import { openCore } from './core.ts'
import { openFloor } from './floor.ts'
import { openKeyrail } from './keyrail.ts'
import { openKeyrailBatch } from './keyrailBatch.ts'
import { openKeyrailSmall } from './keyrailSmall.ts'
import { openPeer } from './peers.ts'
import { openRawFetch } from './rawFetch.ts'
import type { OpenSubject } from './subject.ts'

/** All that is off by default, but for joining: that would make fewer requests, and hide what the other layers cost. */
const everyLayer = {
  cache: true,
  budget: { requestsPerSecond: 1_000_000 },
  minBlock: true,
  hooks: { onFailure: () => {} },
} satisfies Partial<TransportOptions>
const { fetch } = globalThis
// Loaded by the subject that is one of them, and by no other: they weigh more than what is measured.
const viem = () => import('./viem.ts')
const ethers = () => import('./ethers.ts')
const web3 = () => import('./web3.ts')
const batch = { batch: true }

/** Every way to make calls that rows name. Each runs in a process of its own. */
export const subjects: Readonly<Record<string, OpenSubject>> = {
  floor: (url) => openFloor(url),
  'floor again': (url) => openFloor(url),
  'floor, 64 sockets': (url) => openFloor(url, 64, 120_000),
  'floor, 64 sockets again': (url) => openFloor(url, 64, 120_000),
  fetch: openRawFetch,
  'fetch again': openRawFetch,
  keyrail: (url) => openKeyrail(url),
  'keyrail again': (url) => openKeyrail(url),
  'keyrail, small': (url) => openKeyrailSmall(url),
  'keyrail, small again': (url) => openKeyrailSmall(url),
  'keyrail, small, batch': (url) => openKeyrailBatch({ url }),
  'keyrail on fetch, small, batch': (url) => openKeyrailBatch({ url, fetch }),
  'keyrail, http alone': (url) => openKeyrailSmall(url, []),
  'keyrail, every layer': (url) => openKeyrail(url, everyLayer),
  'keyrail, batch': (url) => openKeyrail(url, { batch: true }),
  'keyrail on fetch': (url) => openKeyrail(url, { fetch }),
  'keyrail on fetch, batch': (url) => openKeyrail(url, { fetch, batch: true }),
  core: (url) => openCore(url),
  'core again': (url) => openCore(url),
  'core, batch': (url) => openCore(url, batch),
  'core, batch again': (url) => openCore(url, batch),
  'viem over keyrail': async (url) => (await viem()).openViem(url),
  'ethers over keyrail': async (url) => (await ethers()).openEthers(url),
  'web3 over keyrail': async (url) => (await web3()).openWeb3(url),
  'viem over keyrail, batch': async (url) => (await viem()).openViem(url, batch),
  'ethers over keyrail, batch': async (url) => (await ethers()).openEthers(url, batch),
  'web3 over keyrail, batch': async (url) => (await web3()).openWeb3(url, batch),
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
