import { useId } from 'react'
import type { ReactNode } from 'react'
import { describeField, FieldFix, FieldHint } from './fieldNotes.tsx'

/** A text field with its label, its hint and its problem. */
export function TextField(props: {
  readonly label: string
  /** Whether only screen readers get the label. @default false */
  readonly hidesLabel?: boolean
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'password' | 'email' | 'number' | 'search' | 'date' | 'datetime-local'
  readonly lines?: boolean
  readonly required?: boolean
  readonly optional?: boolean
  readonly hint?: ReactNode
  readonly fix?: string | undefined
  readonly autoComplete?: string
  readonly placeholder?: string
  /** In characters. Longer text is not cut off: the field shows its length. */
  readonly most?: number
  readonly min?: number | string
  readonly max?: number | string
  readonly mono?: boolean
  readonly inputRef?: React.Ref<HTMLInputElement>
  /** A button that belongs to the field. */
  readonly end?: ReactNode
}) {
  const id = useId()
  const length = [...props.value.trim()].length
  const common = {
    id,
    name: props.name,
    className: props.mono ? 'input mono' : 'input',
    value: props.value,
    required: props.required,
    placeholder: props.placeholder,
    autoComplete: props.autoComplete ?? 'off',
    'aria-invalid': props.fix ? true : undefined,
    'aria-describedby': describeField(id, props),
  }
  return (
    <div className="field">
      <div className={props.hidesLabel ? 'hidden' : 'field-label'}>
        <label htmlFor={id}>
          {props.label}
          {props.optional && <span className="soft"> (optional)</span>}
        </label>
        {props.most !== undefined && length > props.most * 0.6 && (
          <span className="soft small">
            {length} of {props.most}
          </span>
        )}
      </div>
      {props.lines ? (
        <textarea {...common} spellCheck={!props.mono} onChange={({ target }) => props.onChange(target.value)} />
      ) : (
        <div className={props.end === undefined ? undefined : 'input-row'}>
          <input
            {...common}
            ref={props.inputRef}
            type={props.type ?? 'text'}
            min={props.min}
            max={props.max}
            onChange={({ target }) => props.onChange(target.value)}
          />
          {props.end}
        </div>
      )}
      <FieldFix id={id} fix={props.fix} />
      <FieldHint id={id} hint={props.hint} />
    </div>
  )
}
