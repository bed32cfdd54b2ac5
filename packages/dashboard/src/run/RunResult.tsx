import type { KeySubject } from '../control/queries.ts'
import { sentence } from '../control/sentence.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Note } from '../parts/Note.tsx'
import { countText, msText } from '../parts/times.ts'
import { highlight } from '../snippet/highlight.ts'
import { LogLink } from '../requests/LogLink.tsx'
import { StatusBadge } from '../requests/StatusBadge.tsx'
import { AdviceLink } from './AdviceLink.tsx'
import { getAdvice } from './getAdvice.ts'
import type { RequestResult } from './sendRequest.ts'

/** The result of the last request of a run: its status, latency, id and response, and how to fix it if it failed. */
export function RunResult({
  results,
  subject,
}: {
  readonly results: readonly RequestResult[]
  readonly subject: KeySubject
}) {
  const last = results.at(-1)
  if (last === undefined) return null
  const { response } = last
  if (response === undefined) return <Note kind="bad">{last.problem}</Note>
  const { status, error, requestId } = response
  const isGood = status < 400 && error === undefined
  const advice = isGood ? undefined : getAdvice(error?.reason, `this dashboard’s, ${location.origin},`)
  const of = results.length > 1 ? `Response ${results.length}: ` : ''
  return (
    <div className="stack tight">
      {!isGood && (
        <Note kind="bad" action={advice?.page && <AdviceLink page={advice.page} subject={subject} />}>
          {error?.message === undefined
            ? `The service responded with status ${status}.`
            : sentence(error.code === undefined ? error.message : `${error.message} (code ${error.code})`)}{' '}
          {advice?.text}
        </Note>
      )}
      <figure className="code" aria-label="Response">
        <div className="code-bar">
          <code className="break">
            {of}
            {last.methods.join(', ')}
          </code>
          <div className="row">
            <StatusBadge status={status} kind={isGood ? 'good' : 'bad'}>
              Status{' '}
            </StatusBadge>
            <span className="badge">{msText(last.latencyMs)}</span>
            <CopyButton key={response.text} what="the response" text={() => response.text} />
          </div>
        </div>
        <pre tabIndex={0} role="region" aria-label="Response body" className="scroll">
          <code>
            {highlight(response.text, 'javascript').map(({ text, kind }, at) =>
              kind === 'plain' ? (
                text
              ) : (
                <span key={at} className={`tok-${kind}`}>
                  {text}
                </span>
              ),
            )}
          </code>
        </pre>
      </figure>
      <p className="small soft break">
        {response.isCut && `The first 20 kB of ${countText(response.bytes)} bytes. `}
        {requestId !== undefined && (
          <>
            Request id <code>{requestId}</code>.{' '}
          </>
        )}
        <LogLink subject={subject}>See all requests</LogLink>
      </p>
    </div>
  )
}
