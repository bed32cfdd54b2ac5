import type { ReactNode } from 'react'
import type { Submit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Problem } from './Note.tsx'

/** A form with one button at its end, and above all why it did not work. */
export function SaveForm(props: {
  readonly of: Submit
  readonly children: ReactNode
  /** On the button. @default 'Save' */
  readonly action?: string
  /** What it is called, where no heading says so. */
  readonly label?: string
}) {
  const { submit, isPending, problem } = props.of
  return (
    <form className="stack" noValidate onSubmit={submit} aria-label={props.label}>
      <Problem text={problem} />
      {props.children}
      <div className="row end">
        <Button kind="primary" type="submit" busy={isPending}>
          {props.action ?? 'Save'}
        </Button>
      </div>
    </form>
  )
}
