import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { usersQuery } from '../../control/queries.ts'
import { AccountTable } from '../../parts/AccountTable.tsx'
import { Card } from '../../parts/Card.tsx'
import { useSearchText } from '../../control/useSearchText.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { TextField } from '../../parts/TextField.tsx'

/** The accounts of users. */
export function OperatorUsers() {
  const [search, setSearch] = useSearchText()
  const deferredSearch = useDeferredValue(search.trim())
  const query = useInfiniteQuery({ ...usersQuery(deferredSearch), placeholderData: keepPreviousData })
  return (
    <>
      <PageHead title="Users" windowTitle="Operator: users" />
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
