import type { ReactNode } from 'react'
import { isControlFailure } from '../control/controlFailure.ts'
import { sentence } from '../control/sentence.ts'
import { Button } from './Button.tsx'
import { Note } from './Note.tsx'
import { PageHead } from './PageHead.tsx'

interface Loading<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** What was asked for, once it is there. Until then the shape of it, or why it is not there and a way to try again. */
export function Loaded<Data>(props: {
  readonly query: Loading<Data>
  readonly children: (data: Data) => ReactNode
  readonly shape?: ReactNode
  /** The page's heading where it is not there; of pages whose heading is in what is loaded. */
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
  return (
    <div role="status">
      <span className="hidden">Loading</span>
      {props.shape ?? <Skeleton />}
    </div>
  )
}

/** Why something is not there. */
export function Failed({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const isFailure = isControlFailure(error)
  return (
    <Note kind="bad" action={<Button onClick={retry}>Try again</Button>}>
      {isFailure ? sentence(error.message) : 'Something went wrong in this page.'}
      {isFailure && error.requestId !== undefined && error.status >= 500 && (
        <span className="small"> Request {error.requestId}</span>
      )}
    </Note>
  )
}

/** Where something is about to be. */
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
