import { queryUpstream } from '../queryUpstream.ts'
import { readErrorKind } from '../classifyFailure.ts'
import type { Upstream } from '../createUpstream.ts'

/** Whether a node reads the state of a block that is named by its hash, as in EIP-1898. */
export interface HashSupport {
  /** False until the node was found to. */
  readonly isKnown: () => boolean
  /** Finds it out, with the hash of a block that a node has just sent, unless it is known, or was tried a short time ago. */
  readonly test: (hash: string) => Promise<void>
  /** Whether it is a development node, which may mine a block for each transaction; `undefined`: not known yet. */
  readonly isDevelopmentNode: () => boolean | undefined
}

const zeroAddress = `0x${'0'.repeat(40)}`
/** No block has it. */
const unknownHash = `0x${'5e'.repeat(32)}`
/** Until the next test, if one says nothing: behind a load balancer, the node that responds may not have the block yet. */
const firstPauseMs = 250
const maxPauseMs = 10 * 60_000
const developmentClient = /^"(?:anvil|hardhat|ethereumjs|ganache|zksync-local|in-memory)/i

/** Writes a block as EIP-1898 does. */
export const toBlockObject = (hash: string): string => `{"blockHash":"${hash}","requireCanonical":true}`

/**
 * Tests a node rather than its name: it has to send a balance at a known hash, and an error at one that no block has. A node that ignores the object
 * would send the balance of its newest block for both. Any other end says nothing, so it is tested again.
 * @param options.timeoutMs - Of a query.
 * @param options.onKnown - Called once.
 */
export const createHashSupport = (
  upstream: Upstream,
  { timeoutMs, onKnown }: { readonly timeoutMs: number; readonly onKnown: (isSupported: boolean) => void },
): HashSupport => {
  let supports: boolean | undefined
  let isDevelopmentNode: boolean | undefined
  let isTesting = false
  let pauseMs = firstPauseMs
  let nextAt = -Infinity
  const query = (method: string, params: string) => queryUpstream(upstream, { method, params }, timeoutMs)
  const readBalance = async (hash: string): Promise<'result' | 'unknownBlock' | 'rejected' | undefined> => {
    const response = await query('eth_getBalance', `["${zeroAddress}",${toBlockObject(hash)}]`)
    if (typeof response === 'string') return undefined
    if (response.member === 'result') return 'result'
    const kind = readErrorKind(response.value, 'eth_getBalance')
    if (kind === 'invalidRequest') return 'rejected'
    return kind === 'lagging' || kind === 'missingData' || kind === 'unknown' ? 'unknownBlock' : undefined
  }
  const decide = (isSupported: boolean): void => {
    supports = isSupported
    onKnown(isSupported)
  }
  const run = async (hash: string): Promise<void> => {
    const [client, atKnown, atUnknown] = await Promise.all([
      isDevelopmentNode === undefined ? query('web3_clientVersion', '[]') : undefined,
      supports === undefined ? readBalance(hash) : undefined,
      supports === undefined ? readBalance(unknownHash) : undefined,
    ])
    if (client !== undefined && typeof client !== 'string')
      isDevelopmentNode = client.member === 'result' && developmentClient.test(client.value.toString('latin1'))
    if (atUnknown === 'result' || atKnown === 'rejected') decide(false)
    else if (atKnown === 'result' && atUnknown !== undefined) decide(true)
  }
  return {
    isKnown: () => supports === true,
    isDevelopmentNode: () => isDevelopmentNode,
    test: async (hash) => {
      const isOver = supports !== undefined && isDevelopmentNode !== undefined
      if (isOver || isTesting || performance.now() < nextAt) return
      isTesting = true
      await run(hash)
      isTesting = false
      nextAt = performance.now() + pauseMs
      pauseMs = Math.min(2 * pauseMs, maxPauseMs)
    },
  }
}
