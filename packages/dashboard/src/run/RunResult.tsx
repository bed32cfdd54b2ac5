import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { sentence } from '../control/sentence.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Note } from '../parts/Note.tsx'
import { countText, msText } from '../parts/times.ts'
import { highlight } from '../snippet/highlight.ts'
import { getAdvice } from './getAdvice.ts'
import type { AdvicePage } from './getAdvice.ts'
import type { RequestResult } from './sendRequest.ts'

/** The app or API key that a request is sent with. */
export type RunSubject = { readonly appId: string } | { readonly keyId: string }

/** The result of the last request of a run: its status, latency, id and response, and how to fix it if it failed. */
export function RunResult({
  results,
  subject,
}: {
  readonly results: readonly RequestResult[]
  readonly subject: RunSubject
}) {
  const last = results.at(-1)
  if (last === undefined) return null
  const { response } = last
  if (response === undefined) return <Note kind="bad">{last.problem}</Note>
  const { status, error, requestId } = response
  const isGood = status < 400 && error === undefined
  const advice = isGood ? undefined : getAdvice(error?.reason, location.origin)
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
            <span className={isGood ? 'badge good' : 'badge bad'}>Status {status}</span>
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
            Request id <code>{requestId}</code>
          </>
        )}
      </p>
    </div>
  )
}

/** Links to where a rejection can be fixed. */
function AdviceLink({ page, subject }: { readonly page: AdvicePage; readonly subject: RunSubject }): ReactNode {
  if ('keyId' in subject) {
    return page === 'limits' ? (
      <Link to="/account">Usage</Link>
    ) : (
      <Link to="/keys/$keyId/settings" params={subject}>
        Settings
      </Link>
    )
  }
  switch (page) {
    case 'allowList':
      return (
        <Link to="/apps/$appId/settings/allow-list" params={subject}>
          Allow list
        </Link>
      )
    case 'jwtKeys':
      return (
        <Link to="/apps/$appId/settings/jwt-keys" params={subject}>
          JWT keys
        </Link>
      )
    case 'networks':
      return (
        <Link to="/apps/$appId/networks" params={subject}>
          Networks
        </Link>
      )
    case 'settings':
    case 'limits':
      return (
        <Link to="/apps/$appId/settings/advanced" params={subject}>
          Advanced configuration
        </Link>
      )
  }
}
