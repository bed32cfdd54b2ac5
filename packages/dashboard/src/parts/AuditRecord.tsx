import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AuditFilters } from '../control/searchParams.ts'
import { kindText, recordText } from './auditWords.ts'

/** A filter by a record. */
export type FilterName = Exclude<keyof AuditFilters, 'action'>

/**
 * An author, an account or a subject of an entry of an audit log: its kind, and its name as a link to its page. The id below filters the log by it.
 * What was deleted has no name and no link.
 */
export function AuditRecord(props: {
  readonly id: string
  readonly name: string | null
  readonly isOperator: boolean
  readonly isFiltered: boolean
  readonly onFilter: (isOn: boolean) => void
}) {
  const { id, name, isOperator, isFiltered } = props
  const kind = kindText(id)
  return (
    <>
      {name !== null && kind !== undefined && kind !== 'Account' && <span className="soft">{kind} </span>}
      {name === null ? recordText(id, name) : toLink(id, { name, isOperator })}
      <p className="hint">
        <button
          type="button"
          className="filter"
          aria-pressed={isFiltered}
          title={isFiltered ? 'Show all' : 'Show only this'}
          onClick={() => props.onFilter(!isFiltered)}
        >
          <code>{id}</code>
        </button>
      </p>
    </>
  )
}

/** Links to the page of a record, if the reader has one. */
function toLink(id: string, { name, isOperator }: { name: string; isOperator: boolean }): ReactNode {
  const kind = id.slice(0, id.indexOf('_'))
  if (isOperator) {
    if (kind === 'usr')
      return (
        <Link to="/operator/users/$userId" params={{ userId: id }}>
          {name}
        </Link>
      )
    return kind === 'inv' ? <Link to="/operator/invites">{name}</Link> : name
  }
  if (kind === 'app')
    return (
      <Link to="/apps/$appId" params={{ appId: id }}>
        {name}
      </Link>
    )
  if (kind === 'tok') return <Link to="/account/tokens">{name}</Link>
  if (kind === 'whk') return <Link to="/account/alerts">{name}</Link>
  return kind === 'usr' ? <Link to="/account/security">{name}</Link> : name
}
