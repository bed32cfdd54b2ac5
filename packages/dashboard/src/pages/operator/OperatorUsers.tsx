import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { overviewQuery, usersQuery } from '../../control/queries.ts'
import { AccountTable } from '../../parts/AccountTable.tsx'
import { Card } from '../../parts/Card.tsx'
import { useSearchText } from '../../control/useSearchText.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { clockText, countText, dayText } from '../../parts/times.ts'

/** The overview of the service, and its accounts. */
export function OperatorUsers() {
  const [search, setSearch] = useSearchText()
  const deferredSearch = useDeferredValue(search.trim())
  const overview = useQuery({ ...overviewQuery, refetchInterval: 10_000 })
  const query = useInfiniteQuery({ ...usersQuery(deferredSearch), placeholderData: keepPreviousData })
  return (
    <>
      <PageHead title="Users" windowTitle="Operator: users" />
      <Loaded query={overview}>
        {({ users, apps, apiKeys, startedAt, degraded }) => (
          <>
            {degraded.length > 0 && <Note kind="warn">Not as it should be: {degraded.join(', ')}.</Note>}
            <dl className="figures">
              {[
                { title: 'Users', value: countText(users), note: '' },
                { title: 'Apps', value: countText(apps), note: '' },
                { title: 'API keys', value: countText(apiKeys), note: '' },
                { title: 'Up since', value: dayText(startedAt), note: clockText(startedAt) },
              ].map(({ title, value, note }) => (
                <div className="card figure" key={title}>
                  <dt>{title}</dt>
                  <dd>{value}</dd>
                  {note && <dd className="small">{note}</dd>}
                </div>
              ))}
            </dl>
          </>
        )}
      </Loaded>
      <Card title="Accounts">
        <div role="search">
          <TextField label="Find by email address" name="search" type="search" value={search} onChange={setSearch} />
        </div>
        <Loaded query={query}>
          {({ pages }) => {
            const users = pages.flatMap(({ items }) => items)
            return users.length === 0 ? (
              <p className="soft" role="status">
                No email address matches.
              </p>
            ) : (
              <>
                <AccountTable
                  accounts={users}
                  name={{
                    title: 'Email address',
                    show: ({ id, email }) => (
                      <Link to="/operator/users/$userId" params={{ userId: id }}>
                        {email}
                      </Link>
                    ),
                  }}
                  badge={({ role }) => role === 'operator' && <span className="badge">Operator</span>}
                />
                <ShowMore of={query} />
              </>
            )
          }}
        </Loaded>
      </Card>
    </>
  )
}
