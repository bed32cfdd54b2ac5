import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { CsvLink } from '../charts/CsvLink.tsx'
import { LiveBadge } from '../charts/LiveBadge.tsx'
import { deploymentQuery, requestsQuery, toRequestsCsvPath } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { readRequestFilters } from '../control/searchParams.ts'
import type { RequestFilters } from '../control/searchParams.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { Empty } from '../parts/Empty.tsx'
import { HelpLink } from '../parts/HelpLink.tsx'
import { Loaded } from '../parts/Loaded.tsx'
import { Note } from '../parts/Note.tsx'
import { SetupLink } from '../parts/SetupLink.tsx'
import { ShowMore } from '../parts/ShowMore.tsx'
import { FilterFields } from './FilterFields.tsx'
import type { DetailsOptions } from './RequestDetails.tsx'
import { RequestPanel } from './RequestPanel.tsx'
import { RequestTable } from './RequestTable.tsx'
import { SavedFilters } from './SavedFilters.tsx'
import { useOpenRequest } from './useOpenRequest.ts'
import { useLiveTail } from './useLiveTail.ts'

/** The requests of an app or an API key, the newest first. New ones appear while nobody reads the table. */
export function RequestLog(props: DetailsOptions & { readonly networks: readonly string[] }) {
  const { subject, networks } = props
  const search = useSearch({ strict: false })
  const filters = useMemo(() => readRequestFilters(search), [search])
  const navigate = useNavigate()
  const setFilters = (next: RequestFilters): void =>
    void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  const [isPaused, setPaused] = useState(false)
  const [isPointedAt, setPointedAt] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isScrolled = useIsScrolled()
  const { open, onOpen, onMove, onClose } = useOpenRequest(filters)
  const isReading = isPointedAt || isFocused || isScrolled || open !== undefined
  const { data: deployment } = useQuery(deploymentQuery)
  const isOff = deployment?.requestLog === false
  const query = useInfiniteQuery({ ...requestsQuery(subject, filters), placeholderData: keepPreviousData })
  const tail = useLiveTail(subject, filters, {
    isActive: !isOff && query.isSuccess && !query.isPlaceholderData && !isPaused && !isReading,
  })
  const isFiltered = Object.keys(filters).length > 0
  const requests = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const ids = useMemo(() => requests.map(({ id }) => id), [requests])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const isLast = open !== undefined && ids.at(-1) === open
  useEffect(() => {
    if (isLast && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [isLast, hasNextPage, isFetchingNextPage, fetchNextPage])
  if (isOff && query.data?.pages[0]?.items.length === 0 && !isFiltered) return <Off />
  return (
    <div className="stack wide">
      {isOff && (
        <Note kind="warn">
          The request log of this service is off: new requests are not recorded. These are from before it was turned
          off.
        </Note>
      )}
      <Card
        title="Requests"
        lead="Failed and reverted requests, and a sample of the successful ones, a few seconds after they arrive. The metrics count all requests."
        aside={
          <div className="row">
            {query.isPlaceholderData ? (
              <span className="badge" role="status">
                Loading…
              </span>
            ) : isOff ? (
              <span className="badge">Off</span>
            ) : isPaused || isReading ? (
              <span className="badge">{isPaused ? 'Paused' : 'Paused while you read'}</span>
            ) : (
              tail.updatedAt > 0 && <LiveBadge isLive={tail.isLive} updatedAt={tail.updatedAt} />
            )}
            {!isOff && (
              <Button size="little" onClick={() => setPaused(!isPaused)}>
                {isPaused ? 'Resume' : 'Pause'}
              </Button>
            )}
            <CsvLink href={toRequestsCsvPath(subject, filters)} of="requests" />
          </div>
        }
      >
        <SavedFilters subject={subject} filters={filters} onApply={setFilters} />
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
              <Nothing subject={subject} isFiltered={isFiltered} clear={() => setFilters({})} />
            ) : (
              <div
                onPointerEnter={() => setPointedAt(true)}
                onPointerLeave={() => setPointedAt(false)}
                onFocus={() => setFocused(true)}
                onBlur={() => setFocused(false)}
                aria-busy={query.isPlaceholderData}
              >
                <RequestTable subject={subject} pages={pages} open={open} onOpen={onOpen} />
              </div>
            )
          }
        </Loaded>
        <ShowMore of={query} />
      </Card>
      {open !== undefined && <RequestPanel {...props} logId={open} ids={ids} onMove={onMove} onClose={onClose} />}
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

function Off() {
  return (
    <Empty
      title="The request log is off"
      action={<HelpLink page="service/operating#request-log" of="the request log" text="Turn on the request log" />}
    >
      <p>
        This service records no requests; metrics still count all of them. The operator turns the log on with{' '}
        <code>requestLog.enabled</code> in the config file.
      </p>
    </Empty>
  )
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
    <Empty title="No requests yet" action={<SetupLink subject={subject}>Make a call</SetupLink>}>
      <p>Copy an example call from Setup, or run it there. It appears here a few seconds later.</p>
    </Empty>
  )
}
