import { useState } from 'react'
import type { ReactNode } from 'react'
import { useSubmit } from '../control/useSubmit.ts'
import type { SubmitOptions } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { ConfirmDialog } from './ConfirmDialog.tsx'

/** A button that makes a change once the user has confirmed it in a dialog. */
export function ConfirmedButton<T>(props: {
  readonly children: ReactNode
  readonly kind?: 'danger'
  readonly size?: 'little'
  /** @default its text */
  readonly label?: string
  /** The title of the dialog. */
  readonly title: string
  /** The consequences. */
  readonly lead: string
  /** On the button of the dialog. */
  readonly action: string
  readonly send: SubmitOptions<T>['send']
  readonly titles?: SubmitOptions<T>['titles']
  /** Handles the response once the dialog is closed. */
  readonly done: (response: T) => unknown
}) {
  const [isOpen, setOpen] = useState(false)
  const submitting = useSubmit({
    send: props.send,
    ...(props.titles && { titles: props.titles }),
    done: (response) => {
      setOpen(false)
      return props.done(response)
    },
  })
  return (
    <>
      <Button
        kind={props.kind}
        {...(props.size && { size: props.size })}
        label={props.label}
        onClick={() => {
          submitting.clear()
          setOpen(true)
        }}
      >
        {props.children}
      </Button>
      {isOpen && (
        <ConfirmDialog
          of={submitting}
          title={props.title}
          lead={props.lead}
          action={props.action}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
