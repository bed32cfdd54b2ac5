import { useMemo } from 'react'
import type { ChainChoice } from '../networks/searchNetworks.ts'
import { Choices } from '../parts/Choices.tsx'
import { SearchSelect } from '../parts/SearchSelect.tsx'

/** The chain of a new app, and which of its networks are enabled. */
export interface ChainDraft {
  /** `undefined` until one is chosen. */
  readonly chain: ChainChoice | undefined
  readonly networks: readonly string[]
}

/** The fields of a chain that was chosen: all its networks are enabled. */
export const chooseChain = (chain: ChainChoice | undefined): ChainDraft => ({
  chain,
  networks: chain?.networks.map(({ network }) => network) ?? [],
})

const toChainOption = ({ chain, title, networks }: ChainChoice) => ({
  value: chain,
  title,
  what: `${[...new Set(networks.map(({ symbol }) => symbol))].join(', ')}: ${networks.map((one) => `${one.title} (${one.chainId})`).join(', ')}`,
})

/** The chain of the app, found by search, and which of its networks are enabled. */
export function ChainFields(props: {
  readonly find: (text: string) => readonly ChainChoice[]
  readonly chain: ChainChoice | undefined
  readonly networks: readonly string[]
  readonly onChange: (part: Pick<ChainDraft, 'networks'> | ChainDraft) => void
  readonly fix: (field: string) => string | undefined
}) {
  const { find, chain, networks, onChange, fix } = props
  const search = useMemo(() => (text: string) => find(text).map(toChainOption), [find])
  return (
    <>
      <SearchSelect
        label="Find a chain"
        name="chain"
        placeholder="Name, symbol or chain id"
        chosen={chain && toChainOption(chain)}
        search={search}
        onChoose={(value) => onChange(chooseChain(find('').find((one) => one.chain === value)))}
        nothing="No chain of this service matches."
        fix={fix('chain')}
      />
      {chain !== undefined && (
        <Choices
          legend="Networks"
          kind="any"
          name="networks"
          value={networks}
          onChange={(value) => onChange({ networks: value })}
          options={chain.networks.map((one) => ({
            value: one.network,
            title: one.title,
            what: (
              <>
                <code>{one.network}</code>, {one.symbol}, chain id {one.chainId}
              </>
            ),
          }))}
          hint="You can change them later."
          fix={fix('networks')}
        />
      )}
    </>
  )
}
