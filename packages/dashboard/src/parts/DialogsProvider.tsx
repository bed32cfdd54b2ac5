import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { DialogsContext } from './dialogs.ts'
import { NewKeyDialog } from './NewKeyDialog.tsx'
import { PasswordField } from './PasswordField.tsx'

interface Asked {
  readonly wasWrong: boolean
  readonly answer: (password: string | undefined) => void
}

/** Brings up what {@link useDialogs} asks for. */
export function DialogsProvider({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<Asked>()
  const [newKey, setNewKey] = useState<{ readonly apiKey: string; readonly saved: () => void }>()
  const [password, setPassword] = useState('')
  const [said, setSaid] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const say = useCallback((text: string) => {
    clearTimeout(timer.current)
    setSaid(text)
    timer.current = setTimeout(() => setSaid(''), 4_000)
  }, [])
  const askPassword = useCallback(
    (wasWrong: boolean) => new Promise<string | undefined>((answer) => setAsked({ wasWrong, answer })),
    [],
  )
  const showNewKey = useCallback((apiKey: string) => new Promise<void>((saved) => setNewKey({ apiKey, saved })), [])
  const settle = (answer: string | undefined): void => {
    asked?.answer(answer)
    setAsked(undefined)
    setPassword('')
  }
  const dialogs = useMemo(() => ({ askPassword, showNewKey, say }), [askPassword, showNewKey, say])
  return (
    <DialogsContext value={dialogs}>
      {children}
      {asked && (
        <Dialog title="Your password" onClose={() => settle(undefined)}>
          <form
            className="stack"
            onSubmit={(event: FormEvent) => {
              event.preventDefault()
              if (password !== '') settle(password)
            }}
          >
            <p className="soft">It has been a while since you logged in, so this needs your password.</p>
            <PasswordField
              kind="current"
              value={password}
              onChange={setPassword}
              fix={asked.wasWrong ? 'This is not your password.' : undefined}
            />
            <div className="row end">
              <Button onClick={() => settle(undefined)}>Cancel</Button>
              <Button kind="primary" type="submit">
                Go on
              </Button>
            </div>
          </form>
        </Dialog>
      )}
      {newKey && (
        <NewKeyDialog
          apiKey={newKey.apiKey}
          onSaved={() => {
            setNewKey(undefined)
            newKey.saved()
          }}
        />
      )}
      <div className="toast" role="status" aria-live="polite">
        {said}
      </div>
    </DialogsContext>
  )
}
