import { lazy, Suspense, useEffect, useId, useRef } from 'react'
import { Button } from '../parts/Button.tsx'
import { Skeleton } from '../parts/Loaded.tsx'
import { countText } from '../parts/times.ts'
import type { DetailsOptions } from './RequestDetails.tsx'

const RequestDetails = lazy(async () => ({ default: (await import('./RequestDetails.tsx')).RequestDetails }))

/** Where the arrow keys have a use of their own. */
const usesArrows = 'input, textarea, select, pre, [role="listbox"]'

/** One request beside the list of requests. Escape closes it, and the arrow keys move to the request above or below. */
export function RequestPanel(
  props: DetailsOptions & {
    readonly logId: string
    /** The requests of the list, the newest first. The open one may not be one of them. */
    readonly ids: readonly string[]
    readonly onMove: (id: string) => void
    readonly onClose: () => void
  },
) {
  const { logId, ids, onMove, onClose } = props
  const titleId = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const panel = useRef<HTMLElement>(null)
  const at = ids.indexOf(logId)
  const newer = at === -1 ? undefined : ids[at - 1]
  const older = at === -1 ? undefined : ids[at + 1]
  useEffect(() => {
    panel.current?.scrollTo(0, 0)
    // A button that moves keeps the focus.
    if (panel.current?.contains(document.activeElement) !== true) heading.current?.focus()
  }, [logId])
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const target = event.target instanceof Element ? event.target : document.body
      const isOwn = panel.current?.contains(target) === true || target.closest('[data-log-id]') !== null
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.shiftKey || !isOwn) return
      if (event.key === 'Escape') onClose()
      else if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
      else if (target.closest(usesArrows) !== null) return
      else {
        const next = event.key === 'ArrowUp' ? newer : older
        if (next !== undefined) onMove(next)
      }
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [newer, older, onMove, onClose])
  return (
    <section className="side-panel" ref={panel} aria-labelledby={titleId}>
      <div className="side-panel-head">
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          Request
        </h2>
        <div className="row">
          <span className="soft small" role="status">
            {at !== -1 && `${countText(at + 1)} of ${countText(ids.length)}`}
          </span>
          {at !== -1 && (
            <>
              <Button size="little" busy={newer === undefined} onClick={() => newer && onMove(newer)}>
                Newer
              </Button>
              <Button size="little" busy={older === undefined} onClick={() => older && onMove(older)}>
                Older
              </Button>
            </>
          )}
          <Button size="little" onClick={onClose}>
            Close
          </Button>
        </div>
      </div>
      <div className="stack wide">
        <Suspense fallback={<Skeleton lines={8} />}>
          <RequestDetails {...props} />
        </Suspense>
      </div>
    </section>
  )
}
