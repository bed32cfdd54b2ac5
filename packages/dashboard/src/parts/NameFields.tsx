import { DescriptionField } from './DescriptionField.tsx'
import { TextField } from './TextField.tsx'

interface Named {
  readonly name: string
  readonly description: string
}

/** The fields for a name and a description. */
export function NameFields(props: {
  readonly values: Named
  readonly onChange: (part: Partial<Named>) => void
  readonly getFix: (field: string) => string | undefined
}) {
  const { values, onChange, getFix } = props
  return (
    <>
      <TextField
        label="Name"
        name="name"
        value={values.name}
        onChange={(name) => onChange({ name })}
        required
        most={64}
        fix={getFix('name')}
      />
      <DescriptionField
        value={values.description}
        onChange={(description) => onChange({ description })}
        fix={getFix('description')}
      />
    </>
  )
}
