import { lazy, Suspense, useEffect, useState } from 'react'
import { Button } from '../parts/Button.tsx'

const GoTo = lazy(async () => ({ default: (await import('./GoTo.tsx')).GoTo }))

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** Opens the dialog that goes to any page and runs any action, also by Ctrl+K, on Apple's computers ⌘K. */
export function GoToButton() {
  // `undefined` until it is opened for the first time.
  const [isOpen, setOpen] = useState<boolean>()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isShortcut = event.key.toLowerCase() === 'k' && (isApple ? event.metaKey : event.ctrlKey)
      if (!isShortcut || event.shiftKey || event.altKey) return
      event.preventDefault()
      // A dialog that asks for something must be answered first.
      if (document.querySelector('dialog[open]') === null) setOpen(true)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <>
      <Button size="little" className="go-to-button" onClick={() => setOpen(true)}>
        Go to… <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </Button>
      {isOpen !== undefined && (
        <Suspense>
          <GoTo isOpen={isOpen} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
