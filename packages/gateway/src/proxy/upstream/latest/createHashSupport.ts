import { queryUpstream } from '../queryUpstream.ts'
import { readErrorKind } from '../classifyFailure.ts'
import type { Upstream } from '../createUpstream.ts'

/** Whether a node reads the state of a block that is named by its hash, as in EIP-1898. */
export interface HashSupport {
  /** False until the node was found to. */
  readonly isKnown: () => boolean
  /** Finds it out, once: with the hash of a block that a node has just sent. Resolves at once if it is known. */
  readonly test: (hash: string) => Promise<void>
  /** Whether it is a development node, which may mine a block for each transaction. */
  readonly isDevelopmentNode: () => boolean
}

const zeroAddress = `0x${'0'.repeat(40)}`
/** No block has it. */
const unknownHash = `0x${'5e'.repeat(32)}`
/** Behind a load balancer, the node that responds may not have the block yet. */
const maxTests = 20
const developmentClient = /^"(?:anvil|hardhat|ethereumjs|ganache|zksync-local|in-memory)/i

/** Writes a block as EIP-1898 does. */
export const toBlockObject = (hash: string): string => `{"blockHash":"${hash}","requireCanonical":true}`

/**
 * Tests a node rather than its name: it has to send a balance at a known hash, and an error at one that no block has. A node that ignores the object
 * would send the balance of its newest block for both.
 */
export const createHashSupport = (upstream: Upstream, timeoutMs: number): HashSupport => {
  let supports: boolean | undefined
  let isDevelopmentNode: boolean | undefined
  let tests = 0
  const query = (method: string, params: string) => queryUpstream(upstream, { method, params }, timeoutMs)
  const readBalance = async (hash: string): Promise<'result' | 'unknownBlock' | 'error' | undefined> => {
    const response = await query('eth_getBalance', `["${zeroAddress}",${toBlockObject(hash)}]`)
    if (typeof response === 'string') return undefined
    if (response.member === 'result') return 'result'
    const kind = readErrorKind(response.value, 'eth_getBalance')
    return kind === 'lagging' || kind === 'missingData' || kind === 'unknown' ? 'unknownBlock' : 'error'
  }
  return {
    isKnown: () => supports === true,
    isDevelopmentNode: () => isDevelopmentNode === true,
    test: async (hash) => {
      if (supports !== undefined) return
      if (tests++ >= maxTests) {
        supports = false
        return
      }
      const [client, atKnown, atUnknown] = await Promise.all([
        isDevelopmentNode === undefined ? query('web3_clientVersion', '[]') : undefined,
        readBalance(hash),
        readBalance(unknownHash),
      ])
      if (client !== undefined && typeof client !== 'string')
        isDevelopmentNode = client.member === 'result' && developmentClient.test(client.value.toString('latin1'))
      if (atUnknown === 'result' || atKnown === 'error') supports = false
      else if (atKnown === 'result' && atUnknown !== undefined) supports = true
    },
  }
}
