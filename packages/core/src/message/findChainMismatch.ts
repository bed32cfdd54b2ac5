import type { FailureFacts } from '../failure/failureFacts.ts'

/** The chain that responses must come from. It may become known after the endpoint has been opened. */
export interface ExpectedChain {
  /** The chain id; undefined if any chain will do. */
  id: number | undefined
  /** What the id is from, for error messages. @default 'the chainId option' */
  source?: string
}

/** The chain ids that local nodes have by default: those of anvil and Hardhat, and of Ganache and geth. */
const localChainIds: ReadonlySet<number> = new Set([31337, 1337])

/**
 * Checks that a response comes from the expected chain.
 *
 * @param expected - The expected chain.
 * @param received - The chain of the response: its `x-chain-id` header, or the result of `eth_chainId`.
 * @returns The facts of a failure of kind `wrongNetwork`, or undefined.
 * @example
 * findChainMismatch({ id: 1 }, '0x5') // { kind: 'wrongNetwork', text: 'the node is on chain 5, but the chainId option is 1' }
 */
export function findChainMismatch({ id, source }: ExpectedChain, received: unknown): FailureFacts | undefined {
  const actual = id && (typeof received === 'string' || typeof received === 'number') && Number(received)
  if (!actual || actual === id) return undefined
  const fork = localChainIds.has(actual) ? `. If it is a local fork of chain ${id}, set chainId: ${actual}` : ''
  return {
    kind: 'wrongNetwork',
    text: `the node is on chain ${actual}, but ${source ?? 'the chainId option'} is ${id}${fork}`,
  }
}
