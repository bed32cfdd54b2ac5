import { useEffect, useRef, useState } from 'react'
import { useAction } from '../control/useAction.ts'
import { Button } from './Button.tsx'
import { copyText } from './copyText.ts'
import { useDialogs } from './dialogs.ts'
import { Icon } from './Icon.tsx'

/** Copies a text, which it may first have to request, and announces that. */
export function CopyButton(props: {
  /** Takes the password if the user was asked for it. */
  readonly text: (password: string | undefined) => Promise<string> | string
  /** The copied thing, for screen readers: `address of testnet`. */
  readonly what: string
  readonly title?: string
  readonly kind?: 'primary'
}) {
  const [isDone, setDone] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const { say } = useDialogs()
  const { submit, isPending } = useAction({
    send: async (password) => props.text(password),
    done: async (text) => {
      const isCopied = await copyText(text)
      say(isCopied ? `Copied: ${props.what}` : 'The browser did not allow copying. Show it and copy it by hand.')
      setDone(isCopied)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setDone(false), 2_500)
    },
  })
  // What is shown is a part of its name, or voice control would not find it.
  const title = isDone ? 'Copied' : (props.title ?? 'Copy')
  return (
    <Button size="little" kind={props.kind} busy={isPending} onClick={() => submit()} label={`${title}: ${props.what}`}>
      <Icon name={isDone ? 'done' : 'copy'} />
      {title}
    </Button>
  )
}
