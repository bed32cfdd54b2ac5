import type { Snippet, SnippetLanguage } from '@keyrail/snippets'
import { CopyButton } from '../parts/CopyButton.tsx'
import { highlight } from './highlight.ts'

/** A program to read and copy. It contains no key. */
export function ProgramFigure(props: {
  readonly label: string
  readonly language: SnippetLanguage
  readonly program: Snippet
}) {
  const { fileName, text } = props.program
  return (
    <figure className="code" aria-label={props.label}>
      <div className="code-bar">
        <code>{fileName}</code>
        <CopyButton key={text} what="the program" kind="primary" text={() => text} />
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
  )
}
