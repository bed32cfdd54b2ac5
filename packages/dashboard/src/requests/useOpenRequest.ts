import { useNavigate, useRouter, useRouterState, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { readRequestsSearch } from '../control/searchParams.ts'
import type { RequestFilters } from '../control/searchParams.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether the entry before this one is the same list without an open request. */
    isOverList?: boolean
  }
}

/** The link of a request in the table; `null` if its row is not rendered. */
const findLink = (id: string): HTMLElement | null => document.querySelector(`a[data-log-id="${id}"]`)

/**
 * The request that is open beside the list, which is in the URL, so that it can be shared and Back closes it.
 * @param filters - Those of the list.
 * @returns `onOpen` opens a request, `onMove` opens another one in its place. When it closes, the focus returns to its row.
 */
export function useOpenRequest(filters: RequestFilters): {
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
  readonly onMove: (id: string) => void
  readonly onClose: () => void
} {
  const { request: open } = readRequestsSearch(useSearch({ strict: false }))
  const isOverList = useRouterState({ select: ({ location }) => location.state.isOverList === true })
  const navigate = useNavigate()
  const router = useRouter()
  const before = useRef(open)
  useEffect(() => {
    const closed = open === undefined ? before.current : undefined
    before.current = open
    if (open !== undefined) findLink(open)?.scrollIntoView({ block: 'nearest' })
    // Unless the user has moved the focus already.
    if (closed !== undefined && document.activeElement === document.body) findLink(closed)?.focus()
  }, [open])
  const show = (request: string, options: { readonly replace: boolean; readonly isOverList: boolean }): void =>
    void navigate({
      to: '.',
      search: { ...filters, request },
      replace: options.replace,
      state: { isOverList: options.isOverList },
      resetScroll: false,
    })
  return {
    open,
    onOpen: (id) =>
      open === undefined ? show(id, { replace: false, isOverList: true }) : show(id, { replace: true, isOverList }),
    onMove: (id) => show(id, { replace: true, isOverList }),
    onClose: () =>
      isOverList
        ? router.history.back()
        : void navigate({ to: '.', search: filters, replace: true, resetScroll: false }),
  }
}
