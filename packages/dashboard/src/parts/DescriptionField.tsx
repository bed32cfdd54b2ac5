import { TextField } from './TextField.tsx'

/** The field for the description of an app or an API key. */
export function DescriptionField(props: {
  readonly value: string
  readonly onChange: (description: string) => void
  readonly fix: string | undefined
}) {
  const { value, onChange, fix } = props
  return (
    <TextField
      label="Description"
      name="description"
      lines
      optional
      value={value}
      onChange={onChange}
      most={500}
      fix={fix}
    />
  )
}
