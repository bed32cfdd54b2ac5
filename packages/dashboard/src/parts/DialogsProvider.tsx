import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { callApi } from '../control/callApi.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { sentence } from '../control/sentence.ts'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { DialogsContext } from './dialogs.ts'
import type { Dialogs } from './dialogs.ts'
import { FactorForm } from './FactorForm.tsx'
import { NewKeyDialog } from './NewKeyDialog.tsx'
import { PasswordField } from './PasswordField.tsx'
import { Toast } from './Toast.tsx'

interface PasswordPrompt {
  readonly wasWrong: boolean
  readonly resolve: (password: string | undefined) => void
}

interface Message {
  readonly text: string
  readonly undo: (() => Promise<unknown>) | undefined
}

const loadFactorOptions = () => callApi('POST /api/session/confirm/options')

/** How long a change can be undone, in milliseconds. */
const undoMs = 15_000

/** Renders the dialogs and messages of {@link useDialogs}. */
export function DialogsProvider({ children }: { readonly children: ReactNode }) {
  const [passwordPrompt, setPasswordPrompt] = useState<PasswordPrompt>()
  const [newKey, setNewKey] = useState<{
    readonly apiKey: string
    readonly revealable: boolean
    readonly saved: () => void
  }>()
  const [factorPrompt, setFactorPrompt] = useState<(isProved: boolean) => void>()
  const [password, setPassword] = useState('')
  const [toast, setToast] = useState<Message>()
  const [isUndoing, setUndoing] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const say = useCallback<Dialogs['say']>((text, options) => {
    clearTimeout(timer.current)
    setToast({ text, undo: options?.undo })
    timer.current = setTimeout(() => setToast(undefined), options?.undo ? undoMs : 4_000)
  }, [])
  const undo = async (): Promise<void> => {
    setUndoing(true)
    clearTimeout(timer.current)
    try {
      await toast?.undo?.()
      say('Undone')
    } catch (error) {
      say(isControlFailure(error) ? `Could not undo. ${sentence(error.message)}` : 'Could not undo')
    } finally {
      setUndoing(false)
    }
  }
  const askPassword = useCallback(
    (wasWrong: boolean) => new Promise<string | undefined>((resolve) => setPasswordPrompt({ wasWrong, resolve })),
    [],
  )
  const askFactor = useCallback(() => new Promise<boolean>((resolve) => setFactorPrompt(() => resolve)), [])
  const closeFactorPrompt = (isProved: boolean): void => {
    factorPrompt?.(isProved)
    setFactorPrompt(undefined)
  }
  const showNewKey = useCallback<Dialogs['showNewKey']>(
    (apiKey, { revealable }) => new Promise<void>((saved) => setNewKey({ apiKey, revealable, saved })),
    [],
  )
  const closePrompt = (password: string | undefined): void => {
    passwordPrompt?.resolve(password)
    setPasswordPrompt(undefined)
    setPassword('')
  }
  const dialogs = useMemo(
    () => ({ askPassword, askFactor, showNewKey, say }),
    [askPassword, askFactor, showNewKey, say],
  )
  return (
    <DialogsContext value={dialogs}>
      {children}
      {passwordPrompt && (
        <Dialog title="Your password" onClose={() => closePrompt(undefined)}>
          <form
            className="stack"
            onSubmit={(event: FormEvent) => {
              event.preventDefault()
              if (password !== '') closePrompt(password)
            }}
          >
            <p className="soft">You logged in a while ago. Enter your password to continue.</p>
            <PasswordField
              kind="current"
              value={password}
              onChange={setPassword}
              fix={passwordPrompt.wasWrong ? 'Wrong password.' : undefined}
            />
            <div className="row end">
              <Button onClick={() => closePrompt(undefined)}>Cancel</Button>
              <Button kind="primary" type="submit">
                Continue
              </Button>
            </div>
          </form>
        </Dialog>
      )}
      {factorPrompt && (
        <Dialog title="Your second factor" onClose={() => closeFactorPrompt(false)}>
          <p className="soft">It was proved more than 10 minutes ago. Prove it again to continue.</p>
          <FactorForm
            load={loadFactorOptions}
            send={(body) => callApi('POST /api/session/confirm', { body })}
            done={() => closeFactorPrompt(true)}
            onCancel={() => closeFactorPrompt(false)}
          />
        </Dialog>
      )}
      {newKey && (
        <NewKeyDialog
          apiKey={newKey.apiKey}
          revealable={newKey.revealable}
          onSaved={() => {
            setNewKey(undefined)
            newKey.saved()
          }}
        />
      )}
      <Toast
        text={toast?.text}
        action={
          toast?.undo && (
            <Button size="little" busy={isUndoing} onClick={() => void undo()}>
              Undo
            </Button>
          )
        }
      />
    </DialogsContext>
  )
}
