import { TextField } from './TextField.tsx'

/** The email address of an account. */
export function EmailField(props: {
  readonly value: string
  readonly onChange: (email: string) => void
  readonly fix: string | undefined
  readonly hint?: string
}) {
  return <TextField label="Email address" name="email" type="email" autoComplete="username" required {...props} />
}
