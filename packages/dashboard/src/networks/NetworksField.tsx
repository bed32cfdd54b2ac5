import type { DeploymentView } from '@keyrail/gateway'
import { useEffect, useMemo, useRef } from 'react'
import type { ReactNode } from 'react'
import { Icon } from '../parts/Icon.tsx'
import { SearchSelect } from '../parts/SearchSelect.tsx'
import { countText } from '../parts/times.ts'
import { searchNetworkChoices } from './searchNetworks.ts'
import type { NetworkChoice } from './searchNetworks.ts'
import { toggleNetworks } from './toggleNetworks.ts'
import { toNetworkOption } from './toNetworkOption.ts'

const toOption = ({ value, title, isChain, networks }: NetworkChoice) => ({
  ...(networks[0] && toNetworkOption(networks[0])),
  value,
  title,
  ...(isChain && { what: `all ${networks.length} networks: ${networks.map((one) => one.title).join(', ')}` }),
})

/** Chooses any number of networks, of one or of several chains, by search. Below are the chosen ones, each a button that removes it. */
export function NetworksField(props: {
  readonly label: string
  readonly offered: Pick<DeploymentView, 'chains' | 'networks'>
  /** The names of the chosen networks. */
  readonly value: readonly string[]
  readonly onChange: (networks: readonly string[]) => void
  readonly nothing: string
  readonly hint?: ReactNode
  readonly fix?: string | undefined
}) {
  const { offered, value, onChange } = props
  const find = useMemo(() => searchNetworkChoices(offered), [offered])
  const search = useMemo(() => (text: string) => find(text).map(toOption), [find])
  const choices = useMemo(() => new Map(find('').map((choice) => [choice.value, choice])), [find])
  const getNames = (choice: string): readonly string[] =>
    choices.get(choice)?.networks.map(({ network }) => network) ?? []
  const field = useRef<HTMLDivElement>(null)
  const removedAt = useRef(-1)
  useEffect(() => {
    if (removedAt.current === -1) return
    const buttons = field.current?.querySelectorAll<HTMLElement>('.chips button')
    const next = buttons?.[Math.min(removedAt.current, buttons.length - 1)]
    removedAt.current = -1
    ;(next ?? field.current?.querySelector<HTMLElement>('input'))?.focus()
  }, [value])
  return (
    <div className="field" ref={field}>
      <SearchSelect
        label={props.label}
        name="networks"
        placeholder="Name, symbol or chain id"
        search={search}
        isChosen={(choice) => getNames(choice).every((one) => value.includes(one))}
        onChoose={(choice) => onChange(toggleNetworks(value, getNames(choice)))}
        nothing={props.nothing}
        hint={props.hint}
        fix={props.fix}
      />
      <p className="hidden" role="status">
        {countText(value.length)} chosen
      </p>
      {value.length > 0 && (
        <ul className="chips" aria-label="Chosen networks">
          {value.map((name, at) => (
            <li key={name}>
              <button
                type="button"
                className="chip"
                onClick={() => {
                  removedAt.current = at
                  onChange(value.filter((one) => one !== name))
                }}
              >
                <span className="hidden">Remove </span>
                {choices.get(name)?.title ?? name}
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
