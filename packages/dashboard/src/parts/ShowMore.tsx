import { Button } from './Button.tsx'

/** A button that loads the next page of a list. Renders nothing if there is none. */
export function ShowMore(props: {
  readonly of: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => Promise<unknown>
  }
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = props.of
  if (!hasNextPage) return null
  return (
    <div className="row">
      <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </div>
  )
}
