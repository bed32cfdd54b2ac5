/** A choice of one of a few options, side by side. */
export function Segments<Value extends string>(props: {
  readonly legend: string
  readonly name: string
  readonly value: Value
  readonly onChange: (value: Value) => void
  readonly options: readonly { readonly value: Value; readonly title: string }[]
}) {
  return (
    <fieldset>
      <legend className="hidden">{props.legend}</legend>
      <div className="segments">
        {props.options.map(({ value, title }) => (
          <label key={value}>
            <input
              type="radio"
              name={props.name}
              value={value}
              checked={props.value === value}
              onChange={() => props.onChange(value)}
            />
            {title}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
