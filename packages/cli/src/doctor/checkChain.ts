import type { Finding } from './finding.ts'

/** The chains of `keyrail dev`, anvil and hardhat, which only produce blocks on demand. */
const developmentChains: readonly number[] = [1952805748, 1835100526, 31_337, 1_337]

/** Whether a chain is a development chain. */
export const isDevelopmentChain = (chainId: number): boolean => developmentChains.includes(chainId)

/** The chain ids to compare. */
export interface ChainIds {
  /** From `eth_chainId`. */
  readonly actual: number
  /** From `--chain-id` or the config; undefined if neither was given. */
  readonly expected: number | undefined
  /** The header X-Chain-Id of a Keyrail service. */
  readonly announced: string | null | undefined
}

/** Checks that the endpoint serves the expected chain. */
export function checkChain({ actual, expected, announced }: ChainIds): Finding {
  const facts = { chainId: actual, expected: expected ?? null }
  if (expected !== undefined && expected !== actual) {
    return {
      check: 'chain',
      level: 'fail',
      text: `the chain id is ${actual}, expected ${expected}`,
      fix: 'use the URL of the expected network: a transaction signed for one chain is invalid on another',
      facts,
    }
  }
  if (announced && /^\d+$/.test(announced) && Number(announced) !== actual) {
    return {
      check: 'chain',
      level: 'fail',
      text: `the node has chain id ${actual}, but the service announces ${announced}`,
      fix: 'ask the operator of the service to check its upstreams',
      facts: { ...facts, announced: Number(announced) },
    }
  }
  const text = `the chain id is ${actual}`
  return expected === undefined
    ? { check: 'chain', level: 'ok', text: `${text}; pass --chain-id to verify it`, facts }
    : { check: 'chain', level: 'ok', text: `${text}, as expected`, facts }
}
