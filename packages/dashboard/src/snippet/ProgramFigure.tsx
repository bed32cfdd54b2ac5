import type { Snippet, SnippetLanguage } from '@keyrail/snippets'
import { useState } from 'react'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Icon } from '../parts/Icon.tsx'
import { Problem } from '../parts/Note.tsx'
import { highlight } from './highlight.ts'
import { canShowKey } from './useKeyHolder.ts'
import type { KeyHolder } from './useKeyHolder.ts'

/** A program to read and copy. Its key is masked until the user reveals it. */
export function ProgramFigure(props: {
  readonly holder: KeyHolder
  readonly label: string
  readonly language: SnippetLanguage
  /** Writes it with a key, or without one: then it reads its key from the environment. */
  readonly write: (apiKey: string | undefined) => Snippet
}) {
  const { holder, write } = props
  const [isShown, setShown] = useState(false)
  const reveal = useSubmit({ send: (password) => holder.reveal(password), done: () => setShown(true) })
  const canShow = canShowKey(holder)
  const { fileName, text } = write(
    isShown && holder.stored !== undefined ? holder.stored : canShow ? holder.masked : undefined,
  )
  return (
    <>
      <Problem text={reveal.problem} />
      <figure className="code" aria-label={props.label}>
        <div className="code-bar">
          <code>{fileName}</code>
          <div className="row">
            {canShow && (
              <Button
                size="little"
                busy={reveal.isPending}
                onClick={() => (isShown ? setShown(false) : reveal.submit())}
              >
                <Icon name={isShown ? 'hide' : 'eye'} />
                {isShown ? 'Hide key' : 'Show key'}
              </Button>
            )}
            <CopyButton
              key={text}
              what="the program"
              kind="primary"
              text={async (password) => write(canShow ? await holder.reveal(password) : undefined).text}
            />
          </div>
        </div>
        <pre tabIndex={0} role="region" aria-label="Program">
          <code>
            {highlight(text, props.language).map(({ text: part, kind }, at) =>
              kind === 'plain' ? (
                part
              ) : (
                <span key={at} className={`tok-${kind}`}>
                  {part}
                </span>
              ),
            )}
          </code>
        </pre>
      </figure>
    </>
  )
}
