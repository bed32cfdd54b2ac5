import type { Options } from '@keyrail/core'
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
} satisfies Partial<Options>
const { fetch } = globalThis

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
  viem: openPeer.viem,
  'viem, batch': openPeer.viemBatch,
  ethers: openPeer.ethers,
  'ethers, batch': openPeer.ethersBatch,
  web3: openPeer.web3,
  micro: openPeer.micro,
  'micro, batch': openPeer.microBatch,
}
