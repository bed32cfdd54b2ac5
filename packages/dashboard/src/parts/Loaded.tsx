import { useQueryClient } from '@tanstack/react-query'
import type { Query } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isControlFailure } from '../control/controlFailure.ts'
import { sentence } from '../control/sentence.ts'
import { Button } from './Button.tsx'
import { Note } from './Note.tsx'
import { PageHead } from './PageHead.tsx'

interface Loadable<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Renders the data of a query once it is loaded. Until then its skeleton, or the error with a button to retry. */
export function Loaded<Data>(props: {
  readonly query: Loadable<Data>
  readonly children: (data: Data) => ReactNode
  readonly shape?: ReactNode
  /** The heading if loading fails, for pages whose heading is part of the data. */
  readonly failedTitle?: string
}) {
  const { data, error, refetch } = props.query
  if (data !== undefined) return props.children(data)
  if (error) {
    return (
      <>
        {props.failedTitle !== undefined && <PageHead title={props.failedTitle} />}
        <Failed error={error} retry={() => refetch()} />
      </>
    )
  }
  return <Loading shape={props.shape} />
}

/** A placeholder while something loads. It takes its place at once, and is visible after a moment. */
export function Loading({ shape = <Skeleton /> }: { readonly shape?: ReactNode }) {
  return (
    <div role="status" aria-busy="true" className="loading">
      <span className="hidden">Loading</span>
      {shape}
    </div>
  )
}

const hasFailed = ({ state }: Query): boolean => state.status === 'error'

/** Why loading failed. Its button also loads what the page's frame failed to load, which has no place for a button. */
export function Failed({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const queries = useQueryClient()
  const isFailure = isControlFailure(error)
  const loadAgain = (): void => {
    retry()
    void queries.refetchQueries({ type: 'active', predicate: hasFailed }, { cancelRefetch: false })
  }
  return (
    <Note kind="bad" action={<Button onClick={loadAgain}>Try again</Button>}>
      {isFailure ? sentence(error.message) : 'Something went wrong in this page.'}
      {isFailure && error.requestId !== undefined && error.status >= 500 && (
        <span className="small"> Request {error.requestId}</span>
      )}
    </Note>
  )
}

/** The placeholder of figures with a chart that are loading. */
export function FiguresSkeleton() {
  return (
    <div className="stack">
      <Skeleton lines={1} />
      <Skeleton lines={6} />
    </div>
  )
}

/** The placeholder of a page whose heading is part of the data: its heading, its tabs and its first card. */
export function PageSkeleton() {
  return (
    <div className="stack wide" aria-hidden="true">
      <div className="skeleton head" />
      <div className="skeleton tabs-shape" />
      <Skeleton lines={5} />
    </div>
  )
}

/** The placeholder of data that is loading. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className="card">
      <div className="card-body" aria-hidden="true">
        <div className="skeleton head" />
        {Array.from({ length: lines }, (_, at) => (
          <div className="skeleton" key={at} />
        ))}
      </div>
    </div>
  )
}
