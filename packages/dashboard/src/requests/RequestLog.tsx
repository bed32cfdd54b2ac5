import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { LiveBadge } from '../charts/LiveBadge.tsx'
import { requestsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { readRequestFilters } from '../control/searchParams.ts'
import type { RequestFilters } from '../control/searchParams.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Loaded } from '../parts/Loaded.tsx'
import { ShowMore } from '../parts/ShowMore.tsx'
import { FilterFields } from './FilterFields.tsx'
import { RequestTable } from './RequestTable.tsx'
import { useLiveTail } from './useLiveTail.ts'

/** The requests of an app or an API key, the newest first. New ones appear while nobody reads the table. */
export function RequestLog({
  subject,
  networks,
}: {
  readonly subject: KeySubject
  readonly networks: readonly string[]
}) {
  const search = useSearch({ strict: false })
  const filters = useMemo(() => readRequestFilters(search), [search])
  const navigate = useNavigate()
  const setFilters = (next: RequestFilters): void =>
    void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  const [isPaused, setPaused] = useState(false)
  const [isPointedAt, setPointedAt] = useState(false)
  const isScrolled = useIsScrolled()
  const isReading = isPointedAt || isScrolled
  const query = useInfiniteQuery({ ...requestsQuery(subject, filters), placeholderData: keepPreviousData })
  const tail = useLiveTail(subject, filters, {
    isActive: query.isSuccess && !query.isPlaceholderData && !isPaused && !isReading,
  })
  const requests = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  return (
    <div className="stack wide">
      <Card
        title="Requests"
        lead="Failed requests and a sample of the successful ones, some seconds after they arrive. The metrics count all."
        aside={
          <div className="row">
            {query.isPlaceholderData ? (
              <span className="badge" role="status">
                Loading…
              </span>
            ) : isPaused || isReading ? (
              <span className="badge">{isPaused ? 'Paused' : 'Paused while you read'}</span>
            ) : (
              tail.updatedAt > 0 && <LiveBadge isLive={tail.isLive} updatedAt={tail.updatedAt} />
            )}
            <Button size="little" onClick={() => setPaused(!isPaused)}>
              {isPaused ? 'Resume' : 'Pause'}
            </Button>
          </div>
        }
      >
        <FilterFields
          subject={subject}
          filters={filters}
          onChange={setFilters}
          networks={networks}
          requests={requests}
        />
        <Loaded query={query}>
          {({ pages }) =>
            requests.length === 0 ? (
              <Nothing subject={subject} isFiltered={Object.keys(filters).length > 0} clear={() => setFilters({})} />
            ) : (
              <div
                onPointerEnter={() => setPointedAt(true)}
                onPointerLeave={() => setPointedAt(false)}
                onFocus={() => setPointedAt(true)}
                onBlur={() => setPointedAt(false)}
                aria-busy={query.isPlaceholderData}
              >
                <RequestTable subject={subject} filters={filters} pages={pages} />
              </div>
            )
          }
        </Loaded>
        <ShowMore of={query} />
      </Card>
    </div>
  )
}

/** Whether the page is scrolled down, so that new rows would move those that are read. */
function useIsScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const read = (): void => setScrolled(scrollY > 300)
    read()
    addEventListener('scroll', read, { passive: true })
    return () => removeEventListener('scroll', read)
  }, [])
  return isScrolled
}

function Nothing(props: { readonly subject: KeySubject; readonly isFiltered: boolean; readonly clear: () => void }) {
  const { subject } = props
  if (props.isFiltered) {
    return (
      <Empty title="No request matches the filters" action={<Button onClick={props.clear}>Clear the filters</Button>}>
        <p>New requests that match appear here.</p>
      </Empty>
    )
  }
  return (
    <Empty
      title="No requests yet"
      action={
        'appId' in subject ? (
          <Link to="/apps/$appId/setup" params={subject} className="button primary">
            Make a call
          </Link>
        ) : (
          <Link to="/keys/$keyId/setup" params={subject} className="button primary">
            Make a call
          </Link>
        )
      }
    >
      <p>Copy an example call from Setup, or run it there. It appears here some seconds later.</p>
    </Empty>
  )
}
