import { TextField } from './TextField.tsx'

/** Who logs in. */
export function EmailField(props: {
  readonly value: string
  readonly onChange: (email: string) => void
  readonly fix: string | undefined
  readonly hint?: string
}) {
  return <TextField label="Email address" name="email" type="email" autoComplete="username" required {...props} />
}
