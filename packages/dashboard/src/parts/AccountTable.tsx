import type { ReactNode } from 'react'
import { countText, dayText } from './times.ts'
import { TableHead } from './TableHead.tsx'

interface Account {
  readonly id: string
  readonly state: 'active' | 'disabled'
  readonly apps: number
  readonly apiKeys: number
  readonly createdAt: string
}

interface Column<Shown> {
  readonly title: string
  readonly isNumber?: boolean
  readonly show: (account: Shown) => ReactNode
}

/** A table of accounts, as operators see them. */
export function AccountTable<Shown extends Account>(props: {
  readonly accounts: readonly Shown[]
  /** The column with the name, which links to the page of the account. */
  readonly name: Column<Shown>
  /** Shown beside the state. */
  readonly badge?: (account: Shown) => ReactNode
  /** More columns. */
  readonly columns?: readonly Column<Shown>[]
}) {
  const { name, badge } = props
  const columns: readonly Column<Shown>[] = [
    { title: 'Apps', isNumber: true, show: ({ apps }) => countText(apps) },
    { title: 'API keys', isNumber: true, show: ({ apiKeys }) => countText(apiKeys) },
    ...(props.columns ?? []),
    { title: 'Created', show: ({ createdAt }) => dayText(createdAt) },
  ]
  return (
    <table className="table cards">
      <TableHead titles={[name.title, 'Status', ...columns]} />
      <tbody>
        {props.accounts.map((account) => (
          <tr key={account.id}>
            <th scope="row">{name.show(account)}</th>
            <td>
              <span className={account.state === 'active' ? 'badge good' : 'badge bad'}>
                {account.state === 'active' ? 'Active' : 'Disabled'}
              </span>{' '}
              {badge?.(account)}
            </td>
            {columns.map(({ title, isNumber, show }) => (
              <td key={title} className={isNumber ? 'number' : undefined} data-label={title}>
                {show(account)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
