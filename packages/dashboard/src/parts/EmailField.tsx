import { TextField } from './TextField.tsx'

/** Who logs in. */
export function MailField(props: {
  readonly value: string
  readonly onChange: (mail: string) => void
  readonly mend: string | undefined
  readonly hint?: string
}) {
  return <TextField label="Mail address" name="mail" type="email" autoComplete="username" required {...props} />
}
