import { useEffect, useId, useRef } from 'react'
import type { ReactNode } from 'react'

/** A modal dialog. The browser keeps the focus in it, and restores it afterwards. */
export function Dialog(props: { readonly title: string; readonly onClose: () => void; readonly children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>('input, textarea, select')?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      className="dialog"
      aria-labelledby={titleId}
      // Chromium closes a dialog at the second Escape, even if the first was cancelled.
      onClose={() => ref.current?.showModal()}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose()
      }}
    >
      <div className="card-body">
        <h2 id={titleId}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  )
}
