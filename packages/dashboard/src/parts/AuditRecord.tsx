import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { keysQuery } from '../control/queries.ts'
import type { AuditFilters } from '../control/searchParams.ts'
import { kindText, recordText } from './auditWords.ts'

/** A filter by a record. */
export type FilterName = Exclude<keyof AuditFilters, 'action'>

/**
 * An author, an account or a subject of an entry of an audit log: its kind, and its name as a link to its page. The id below filters the log by it.
 * Deleted records have no name and no link.
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
      {name === null ? recordText(id, name) : isOperator ? toOperatorLink(id, name) : <OwnLink id={id} name={name} />}
      <p className="hint">
        <button
          type="button"
          className="filter"
          aria-pressed={isFiltered}
          title={`${isFiltered ? 'Show all' : 'Show only this'}: ${id}`}
          onClick={() => props.onFilter(!isFiltered)}
        >
          <code>{id}</code>
        </button>
      </p>
    </>
  )
}

/** Links to the page of a record, if operators have one. */
export function toOperatorLink(id: string, name: string): ReactNode {
  if (id.startsWith('usr_')) {
    return (
      <Link to="/operator/users/$userId" params={{ userId: id }}>
        {name}
      </Link>
    )
  }
  if (id.startsWith('acc_')) {
    return (
      <Link to="/operator/teams/$accountId" params={{ accountId: id }}>
        {name}
      </Link>
    )
  }
  return id.startsWith('inv_') ? <Link to="/operator/invites">{name}</Link> : name
}

/** Links to the page of a record of the reader's own account. The key of an app has none. */
function OwnLink({ id, name }: { readonly id: string; readonly name: string }) {
  const isKey = id.startsWith('key_')
  const { data: keys } = useQuery({ ...keysQuery, enabled: isKey })
  if (isKey && keys?.items.some((key) => key.id === id)) {
    return (
      <Link to="/keys/$keyId" params={{ keyId: id }}>
        {name}
      </Link>
    )
  }
  if (id.startsWith('app_')) {
    return (
      <Link to="/apps/$appId" params={{ appId: id }}>
        {name}
      </Link>
    )
  }
  if (id.startsWith('tok_')) return <Link to="/account/tokens">{name}</Link>
  if (id.startsWith('whk_')) return <Link to="/account/alerts">{name}</Link>
  // Also members of a team.
  return id.startsWith('usr_') ? <Link to="/account/members">{name}</Link> : name
}
