import type { Finding } from './finding.ts'

/** Of `keyrail dev`, of anvil and of hardhat: blocks come there when somebody sends something. */
const developmentChains: readonly number[] = [1952805748, 1835100526, 31_337, 1_337]

/** Whether a chain is one that people develop on. */
export const isDevelopmentChain = (chainId: number): boolean => developmentChains.includes(chainId)

/** The chain that was answered, and those that it may be held against. */
export interface Chains {
  readonly answered: number
  /** Of `--chain-id`, or of the config; undefined where neither was given. */
  readonly expected: number | undefined
  /** The header X-Chain-Id, by which a Keyrail service says which chain it means. */
  readonly announced: string | null | undefined
}

/** Looks whether it is the chain that was meant. */
export function checkChain({ answered, expected, announced }: Chains): Finding {
  const facts = { chainId: answered, expected: expected ?? null }
  if (expected !== undefined && expected !== answered) {
    return {
      check: 'chain',
      level: 'fail',
      text: `the chain id is ${answered}, and should be ${expected}`,
      fix: 'use the address of the other chain or network; what is signed for one is rejected by the other',
      facts,
    }
  }
  if (announced && /^\d+$/.test(announced) && Number(announced) !== answered) {
    return {
      check: 'chain',
      level: 'fail',
      text: `the node says ${answered}, and the service in front of it ${announced}`,
      fix: 'ask who runs the service: it has a node of another chain',
      facts: { ...facts, announced: Number(announced) },
    }
  }
  const text = `the chain id is ${answered}`
  return expected === undefined
    ? { check: 'chain', level: 'ok', text: `${text}; --chain-id would hold it against the one that you mean`, facts }
    : { check: 'chain', level: 'ok', text: `${text}, as it should be`, facts }
}
