import { useId } from 'react'
import type { ReactNode } from 'react'
import { describeField, FieldFix, FieldHint } from './fieldNotes.tsx'

/** A choice of one option (radio buttons), or of any number (checkboxes). */
export function Choices<Value extends string>(props: {
  readonly legend: string
  readonly kind: 'one' | 'any'
  readonly name: string
  readonly value: readonly Value[]
  readonly onChange: (value: readonly Value[]) => void
  readonly options: readonly { readonly value: Value; readonly title: string; readonly what?: ReactNode }[]
  readonly across?: boolean
  readonly hint?: ReactNode
  readonly fix?: string | undefined
}) {
  const id = useId()
  const { kind, value: chosen } = props
  return (
    <fieldset className="field" aria-describedby={describeField(id, props)}>
      <legend className="field-label">{props.legend}</legend>
      <FieldHint id={id} hint={props.hint} />
      <div className={props.across ? 'choices across' : 'choices'}>
        {props.options.map(({ value, title, what }) => (
          <label className="choice" key={value}>
            <input
              type={kind === 'one' ? 'radio' : 'checkbox'}
              name={props.name}
              value={value}
              checked={chosen.includes(value)}
              aria-invalid={props.fix ? true : undefined}
              onChange={({ target }) =>
                props.onChange(
                  kind === 'one'
                    ? [value]
                    : target.checked
                      ? [...chosen, value]
                      : chosen.filter((other) => other !== value),
                )
              }
            />
            <span>
              {title}
              {what && <span className="hint"> {what}</span>}
            </span>
          </label>
        ))}
      </div>
      <FieldFix id={id} fix={props.fix} />
    </fieldset>
  )
}
