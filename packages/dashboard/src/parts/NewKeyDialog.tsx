import { useEffect, useState } from 'react'
import { Button } from './Button.tsx'
import { Choices } from './Choices.tsx'
import { CopyButton } from './CopyButton.tsx'
import { Dialog } from './Dialog.tsx'

/** Shows a new key. If the service cannot show it again, closes only when the user confirms that they saved it. */
export function NewKeyDialog(props: {
  readonly apiKey: string
  readonly revealable: boolean
  readonly onSaved: () => void
}) {
  const { apiKey, revealable, onSaved } = props
  const [isSaved, setSaved] = useState(false)
  const [fix, setFix] = useState<string>()
  const done = (): void => {
    if (isSaved || revealable) onSaved()
    else setFix('Confirm that you saved the key.')
  }
  useEffect(() => {
    if (revealable) return undefined
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [revealable])
  return (
    <Dialog title={revealable ? 'Your new key' : 'Copy your new key now'} onClose={done}>
      <p className="soft">
        {revealable
          ? 'Replace the old key with it wherever you use it. Setup shows it again.'
          : 'This service stores no copy of keys, so it cannot show it again. Save it where you keep secrets, such as a password manager.'}
      </p>
      <div className="address">
        <code>{apiKey}</code>
        <CopyButton what="the new key" kind="primary" text={() => apiKey} />
      </div>
      {!revealable && (
        <Choices
          legend="Before you close this"
          kind="any"
          name="saved"
          value={isSaved ? ['saved'] : []}
          onChange={(value) => {
            setSaved(value.length > 0)
            setFix(undefined)
          }}
          options={[{ value: 'saved', title: 'I saved the key' }]}
          fix={fix}
        />
      )}
      <div className="row end">
        <Button kind="primary" onClick={done}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
