import { createChainTransport } from '@keyrail/core/test/reorgChain.ts'
import type { ReorgChain } from '@keyrail/core/test/reorgChain.ts'
import type { Layer } from '@keyrail/core'
import { createClient } from '../src/index.ts'
import type { Client } from '../src/index.ts'

/** A client of a simulated chain in this process: real except for HTTP. Layers wrap the transport, the innermost first. */
export const createChainClient = (chain: ReorgChain, ...layers: readonly Layer[]): Client =>
  createClient(createChainTransport(chain, ...layers))
