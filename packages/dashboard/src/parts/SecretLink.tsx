import { CopyButton } from './CopyButton.tsx'
import { Note } from './Note.tsx'
import { momentText } from './times.ts'

/** A link that works once, to send to a person. */
export function SecretLink(props: { readonly url: string; readonly expiresAt: string; readonly what: string }) {
  return (
    <Note kind="good" action={<CopyButton what={props.what} text={() => props.url} />}>
      <p>
        Copy this link and give it to the person. It works once, until {momentText(props.expiresAt)}, and is not shown
        again.
      </p>
      <code>{props.url}</code>
    </Note>
  )
}
