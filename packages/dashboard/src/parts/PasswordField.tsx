import { TextField } from './TextField.tsx'

/** A field for the current password, which a browser fills in, or for a new one, which it offers to generate and store. */
export function PasswordField(props: {
  readonly kind: 'current' | 'new'
  /** @default 'Password' */
  readonly label?: string
  /** @default 'password' */
  readonly name?: string
  readonly value: string
  readonly onChange: (password: string) => void
  readonly hint?: string
  readonly fix: string | undefined
}) {
  const { kind, label = 'Password', name = 'password', ...rest } = props
  return <TextField label={label} name={name} type="password" autoComplete={`${kind}-password`} required {...rest} />
}
