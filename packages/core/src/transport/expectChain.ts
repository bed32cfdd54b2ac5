import { check } from '../failure/check.ts'
import type { ExpectedChain } from '../message/findChainMismatch.ts'
import type { Transport } from './transport.ts'

const chains = /* @__PURE__ */ new WeakMap<Transport, ExpectedChain>()

/** Lets {@link expectChain} set the chain of a transport. */
export const setExpectedChain = (transport: Transport, chain: ExpectedChain): void => void chains.set(transport, chain)

/**
 * Sets the chain that a transport's responses must come from, unless its `chainId` option has set one. Sends nothing: responses are compared by their
 * `x-chain-id` header.
 *
 * @param transport - The transport. Nothing is set for an object that `createTransport` has not created.
 * @param id - The chain id of a library's client.
 * @param source - What the id is from, for error messages.
 * @throws {KeyrailError} kind `invalidRequest` if another client of the transport is on another chain.
 * @example
 * expectChain(transport, 1, 'the chain of the viem client (Ethereum)')
 */
export function expectChain(transport: Transport, id: number, source: string): void {
  const chain = chains.get(transport)
  if (!chain || (chain.id !== undefined && chain.source === undefined)) return
  check(
    chain.id === undefined || chain.id === id,
    `One transport cannot serve two chains: ${chain.source} is ${chain.id}, and ${source} is ${id}. Create a transport for each chain. If both clients use one local node, set chainId to its chain id.`,
  )
  chain.id = id
  chain.source = source
}
