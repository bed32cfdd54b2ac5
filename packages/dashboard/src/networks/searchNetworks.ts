import type { DeploymentView } from '@keyrail/gateway'
import { createSearch } from './createSearch.ts'

/** A network of the service. */
export type NetworkView = DeploymentView['networks'][number]

/** A network to choose, or a chain of which all networks are chosen together. */
export interface NetworkChoice {
  /** Identifies it in the list of choices. */
  readonly value: string
  readonly title: string
  readonly isChain: boolean
  readonly networks: readonly NetworkView[]
}

const getNetworkTerms = ({ title, network, symbol, aliases, chainId }: NetworkView): readonly string[] => [
  title,
  network,
  symbol,
  ...aliases,
  String(chainId),
]

/** Creates a search for networks by title, name, symbol, alias and chain id. */
export const searchNetworks = (networks: readonly NetworkView[]): ((text: string) => readonly NetworkView[]) =>
  createSearch(networks, getNetworkTerms)

/**
 * Creates a search for networks, and for chains with several of them. A chain is found by title, name, alias and symbol, a network also by what finds
 * its chain. Each chain comes before its networks.
 */
export const searchNetworkChoices = ({
  chains,
  networks,
}: Pick<DeploymentView, 'chains' | 'networks'>): ((text: string) => readonly NetworkChoice[]) => {
  const entries = chains.flatMap(({ chain, title, aliases }) => {
    const ofChain = networks.filter((one) => one.chain === chain)
    const terms = [title, chain, ...aliases]
    const symbols = new Set(ofChain.map(({ symbol }) => symbol))
    const choices = ofChain.map((one) => ({
      choice: { value: one.network, title: one.title, isChain: false, networks: [one] },
      terms: [...terms, ...getNetworkTerms(one)],
    }))
    if (choices.length < 2) return choices
    const whole = { value: `chain ${chain}`, title, isChain: true, networks: ofChain }
    return [{ choice: whole, terms: [...terms, ...symbols] }, ...choices]
  })
  const find = createSearch(entries, ({ terms }) => terms)
  return (text) => find(text).map(({ choice }) => choice)
}
