import type { ReactNode } from 'react'
import { useMay } from '../control/useMay.ts'
import type { Scope } from '../control/useMay.ts'
import type { Draft } from '../control/useDraft.ts'
import type { Submit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Note, Problem } from './Note.tsx'

/** A form with its problem at the top and its button at the end. */
export function SaveForm(props: {
  readonly of: Submit
  readonly children: ReactNode
  /** What was typed, which the user can discard. */
  readonly draft?: Pick<Draft<object>, 'isDirty' | 'hasConflict' | 'clear'>
  /** On the button. @default 'Save' */
  readonly action?: string
  /** Whether it deletes something. @default false */
  readonly isDanger?: boolean
  /** Its name, if it has no heading. */
  readonly label?: string
  /** More buttons. */
  readonly more?: ReactNode
  /** What the user's role in the account must allow. Without it, the form shows its values only. @default anyone can use it */
  readonly needs?: Scope | undefined
}) {
  return props.needs === undefined ? <Form {...props} /> : <LimitedForm {...props} needs={props.needs} />
}

type FormProps = Parameters<typeof SaveForm>[0]

function LimitedForm(props: FormProps & { readonly needs: Scope }) {
  return useMay()(props.needs) ? (
    <Form {...props} />
  ) : (
    <fieldset className="stack" disabled aria-label={props.label}>
      {props.children}
    </fieldset>
  )
}

function Form(props: FormProps) {
  const { draft } = props
  const { submit, isPending, problem } = props.of
  // Of several forms on a page, only the one with changes has a colored button.
  const isChanged = draft?.isDirty ?? true
  return (
    <form className="stack" noValidate onSubmit={submit} aria-label={props.label}>
      <Problem text={problem} />
      {props.children}
      {draft?.hasConflict && (
        <Note kind="warn">
          This was changed elsewhere after you started to type. Discard your changes to see it, or save to replace it.
        </Note>
      )}
      <div className="row end">
        {draft?.isDirty && (
          <>
            <span className="soft small">Unsaved changes</span>
            <Button onClick={draft.clear}>Discard</Button>
          </>
        )}
        {props.more}
        <Button
          kind={props.isDanger ? 'dangerPrimary' : isChanged ? 'primary' : undefined}
          type="submit"
          busy={isPending}
        >
          {props.action ?? 'Save'}
        </Button>
      </div>
    </form>
  )
}
