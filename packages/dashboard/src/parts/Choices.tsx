import { useId } from 'react'
import type { ReactNode } from 'react'

/** Several things to choose of: one (radio buttons), or any number (boxes). */
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
  const described = [props.fix ? `${id}-fix` : '', props.hint ? `${id}-hint` : ''].filter(Boolean).join(' ')
  return (
    <fieldset className="field" aria-describedby={described || undefined}>
      <legend className="field-label">{props.legend}</legend>
      {props.hint && (
        <p className="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
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
      {props.fix && (
        <p className="fix" id={`${id}-fix`}>
          {props.fix}
        </p>
      )}
    </fieldset>
  )
}
