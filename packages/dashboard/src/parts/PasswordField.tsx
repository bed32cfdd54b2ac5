import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { TextField } from './TextField.tsx'

/**
 * A field for the current password, which a browser fills in, or for a new one, which it offers to generate and store. A button shows the password
 * until the form is submitted.
 */
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
  const input = useRef<HTMLInputElement>(null)
  const selection = useRef<readonly [number | null, number | null]>([null, null])
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const form = input.current?.form
    // A browser offers to store the password only if the field is one for passwords.
    const hide = (): void => setShown(false)
    form?.addEventListener('submit', hide)
    return () => form?.removeEventListener('submit', hide)
  }, [])
  useLayoutEffect(() => {
    // Browsers move the caret when the type changes.
    if (document.activeElement === input.current) input.current?.setSelectionRange(...selection.current)
  }, [isShown])
  return (
    <TextField
      label={label}
      name={name}
      type={isShown ? 'text' : 'password'}
      autoComplete={`${kind}-password`}
      required
      inputRef={input}
      end={
        <button
          type="button"
          className="button plain little"
          aria-pressed={isShown}
          // The field keeps the focus and the caret.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => {
            selection.current = [input.current?.selectionStart ?? null, input.current?.selectionEnd ?? null]
            setShown(!isShown)
          }}
        >
          Show<span className="hidden"> {label.toLowerCase()}</span>
        </button>
      }
      {...rest}
    />
  )
}
