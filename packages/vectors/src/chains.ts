import avalanche from '../chains/avalanche.json' with { type: 'json' }
import besu from '../chains/besu.json' with { type: 'json' }
import bnb from '../chains/bnb.json' with { type: 'json' }
import bor from '../chains/bor.json' with { type: 'json' }
import celo from '../chains/celo.json' with { type: 'json' }
import cronos from '../chains/cronos.json' with { type: 'json' }
import erigon from '../chains/erigon.json' with { type: 'json' }
import fuse from '../chains/fuse.json' with { type: 'json' }
import geth from '../chains/geth.json' with { type: 'json' }
import gnosis from '../chains/gnosis.json' with { type: 'json' }
import hedera from '../chains/hedera.json' with { type: 'json' }
import kaia from '../chains/kaia.json' with { type: 'json' }
import linea from '../chains/linea.json' with { type: 'json' }
import moonbeam from '../chains/moonbeam.json' with { type: 'json' }
import nethermind from '../chains/nethermind.json' with { type: 'json' }
import nitro from '../chains/nitro.json' with { type: 'json' }
import opGeth from '../chains/op-geth.json' with { type: 'json' }
import opbnb from '../chains/opbnb.json' with { type: 'json' }
import polygonZkevm from '../chains/polygon-zkevm.json' with { type: 'json' }
import reth from '../chains/reth.json' with { type: 'json' }
import scroll from '../chains/scroll.json' with { type: 'json' }
import sei from '../chains/sei.json' with { type: 'json' }
import zksync from '../chains/zksync.json' with { type: 'json' }
import type { Json } from './json.ts'

/** The origin of a fixture. */
export interface FixtureOrigin {
  readonly name: string
  /**
   * `recorded`: a node sent it, and it was published in test data, in an issue or as an example in documentation. `documented`: made by us from
   * documentation or source code; the values may be made up.
   */
  readonly origin: 'recorded' | 'documented'
  /** Its publication, or a place where it can be seen. */
  readonly source: string
}

/** A block, a transaction or a receipt as a node sends it. */
export interface ResultFixture extends FixtureOrigin {
  readonly kind: 'block' | 'transaction' | 'receipt'
  /** How it differs from what was recorded, to keep it short. */
  readonly changed?: string
  /** Members that Ethereum's specification does not have, at least the chain's own ones. */
  readonly extra: readonly string[]
  /** Members of the specification that the node does not send. */
  readonly lacks: readonly string[]
  readonly result: { readonly [member: string]: Json }
}

/** An error of a node. */
export interface ErrorFixture extends FixtureOrigin {
  readonly kind: 'error'
  readonly method: string
  readonly error: { readonly code: number; readonly message: string }
  /** The kind of failure. */
  readonly expect: string
}

/** The responses of a client of a chain. */
export interface ChainFixtures {
  readonly chain: string
  readonly client: string
  readonly fixtures: readonly (ResultFixture | ErrorFixture)[]
}

/** The responses of the clients of chains: `chains/*.json`. */
export const chains: readonly ChainFixtures[] = [
  avalanche,
  besu,
  bnb,
  bor,
  celo,
  cronos,
  erigon,
  fuse,
  geth,
  gnosis,
  hedera,
  kaia,
  linea,
  moonbeam,
  nethermind,
  nitro,
  opGeth,
  opbnb,
  polygonZkevm,
  reth,
  scroll,
  sei,
  zksync,
] as unknown as readonly ChainFixtures[]
