import { useId } from 'react'
import { describeField, FieldFix } from './fieldNotes.tsx'

/** A field with a list to choose from. */
export function SelectField<Value extends string>(props: {
  readonly label: string
  readonly name: string
  readonly value: Value | ''
  readonly onChange: (value: Value) => void
  readonly options: readonly { readonly value: Value; readonly title: string }[]
  /** The placeholder before anything is chosen. */
  readonly nothing?: string
  readonly required?: boolean
  readonly fix?: string | undefined
}) {
  const id = useId()
  return (
    <div className="field">
      <div className="field-label">
        <label htmlFor={id}>{props.label}</label>
      </div>
      <select
        id={id}
        name={props.name}
        className="input"
        value={props.value}
        required={props.required}
        aria-invalid={props.fix ? true : undefined}
        aria-describedby={describeField(id, props)}
        onChange={({ target }) => props.onChange(target.value as Value)}
      >
        {props.nothing !== undefined && (
          <option value="" disabled>
            {props.nothing}
          </option>
        )}
        {props.options.map(({ value, title }) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
      <FieldFix id={id} fix={props.fix} />
    </div>
  )
}
