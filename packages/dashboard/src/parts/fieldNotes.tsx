import type { ReactNode } from 'react'

/** What explains a field: how to fix its value, and a hint. */
interface FieldTexts {
  readonly fix?: string | undefined
  readonly hint?: ReactNode
}

/** Returns the `aria-describedby` of the field with this id. */
export const describeField = (id: string, { fix, hint }: FieldTexts): string | undefined =>
  [fix ? `${id}-fix` : '', hint ? `${id}-hint` : ''].filter(Boolean).join(' ') || undefined

/** Says how to fix the value of a field. */
export const FieldFix = ({ id, fix }: { readonly id: string; readonly fix: string | undefined }): ReactNode =>
  fix && (
    <p className="fix" id={`${id}-fix`}>
      {fix}
    </p>
  )

/** Explains what to enter in a field. */
export const FieldHint = ({ id, hint }: { readonly id: string; readonly hint: ReactNode }): ReactNode =>
  hint && (
    <p className="hint" id={`${id}-hint`}>
      {hint}
    </p>
  )
