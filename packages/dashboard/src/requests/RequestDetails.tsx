import { useQuery } from '@tanstack/react-query'
import type { RequestDetailsView } from '@keyrail/gateway'
import type { ReactNode } from 'react'
import { outcomeKind } from '../charts/outcomeKind.ts'
import { outcomeTitle } from '../charts/outcomeTitle.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { requestQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { sentence } from '../control/sentence.ts'
import { NetworkName } from '../networks/NetworkName.tsx'
import { useNetworks } from '../networks/useNetworks.ts'
import { Card } from '../parts/Card.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { Note } from '../parts/Note.tsx'
import { countText, exactMomentText, msExactText } from '../parts/times.ts'
import { AdviceLink } from '../run/AdviceLink.tsx'
import { getAdvice } from '../run/getAdvice.ts'
import type { KeyHolder } from '../snippet/useKeyHolder.ts'
import { methodText } from './methodText.ts'
import { Replay } from './Replay.tsx'
import { RevertData } from './RevertData.tsx'
import { StatusBadge } from './StatusBadge.tsx'

/** What the details of a request need to know of its app or API key. */
export interface DetailsOptions {
  readonly subject: KeySubject
  readonly holder: KeyHolder
  readonly recordDetails: boolean
  readonly requireJwt: boolean
}

/** A request of the log with all that was recorded, and how to fix it if it failed. */
export function RequestDetails(
  props: DetailsOptions & {
    readonly logId: string
  },
) {
  const { subject, recordDetails, logId } = props
  const query = useQuery(requestQuery(subject, logId))
  if (isControlFailure(query.error, 'not_found')) {
    return (
      <Empty title="Request not found">
        <p>It is no longer in the log, which has only the latest requests.</p>
      </Empty>
    )
  }
  return (
    <Loaded query={query} shape={<Skeleton lines={8} />}>
      {(request) => (
        <>
          <Facts request={request} subject={subject} />
          {request.revertData !== null && <RevertData data={request.revertData} subject={subject} />}
          <Content request={request} recordDetails={recordDetails} />
          <Replay request={request} subject={subject} holder={props.holder} requireJwt={props.requireJwt} />
        </>
      )}
    </Loaded>
  )
}

const bytesText = (bytes: number | null): string => (bytes === null ? 'unknown' : `${countText(bytes)} bytes`)

function Facts({ request, subject }: { readonly request: RequestDetailsView; readonly subject: KeySubject }) {
  const { getTitle } = useNetworks()
  const { outcome, status, code, message, origin, calls, failedCalls, storedCalls } = request
  const kind = outcomeKind(outcome)
  const advice = kind === 'good' ? undefined : getAdvice(outcome, origin ?? 'a request without an origin')
  const facts: readonly (readonly [title: string, value: ReactNode])[] = [
    ['Time', <time dateTime={request.at}>{exactMomentText(request.at)}</time>],
    ['Outcome', outcomeTitle(outcome)],
    ['Latency', msExactText(request.durationMs)],
    ['Network', <NetworkName title={getTitle(request.network)} network={request.network} />],
    ['Transport', request.transport === 'http' ? 'HTTP' : 'WebSocket'],
    ['Key', request.keyEnding === null ? 'identified by a JWT' : <code>…{request.keyEnding}</code>],
    ['Origin', origin ?? 'none'],
    ['IP block', request.ipBlock ?? 'unknown'],
    ['Request size', bytesText(request.requestBytes)],
    ['Response size', bytesText(request.responseBytes)],
    ...(calls > 1 ? [['Calls', `${countText(calls)}, of which ${countText(failedCalls)} failed`] as const] : []),
    ...(storedCalls > 0
      ? [['From the chain store', calls > 1 ? `${countText(storedCalls)} of the results` : 'the result'] as const]
      : []),
  ]
  return (
    <Card
      title={methodText(request)}
      aside={
        <StatusBadge status={status} kind={kind}>
          Status{' '}
        </StatusBadge>
      }
    >
      {kind !== 'good' && (
        <Note
          {...(kind === 'bad' && { kind })}
          action={advice?.page && <AdviceLink page={advice.page} subject={subject} />}
        >
          {sentence(message === null ? outcomeTitle(outcome) : code === null ? message : `${message} (code ${code})`)}{' '}
          {advice?.text}
        </Note>
      )}
      <dl className="facts">
        {facts.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div className="wide">
          <dt>Request id</dt>
          <dd className="row">
            <code>{request.requestId}</code>
            <CopyButton what="the request id" text={() => request.requestId} />
          </dd>
        </div>
      </dl>
      <div className="row">
        <CopyButton
          title="Copy link"
          what="the link to this request"
          text={() => `${location.origin}${location.pathname}?request=${request.id}`}
        />
      </div>
    </Card>
  )
}

function Content(props: { readonly request: RequestDetailsView; readonly recordDetails: boolean }) {
  const { params, response } = props.request
  const recorded = [
    ['Params', params],
    ['Response', response],
  ] as const
  return (
    <Card title="Params and response">
      {params === null && response === null ? (
        <p className="soft">
          {props.recordDetails
            ? 'They were not recorded, or more than 24 hours ago.'
            : 'They were not recorded. Turn on recording below the requests to see those of later requests.'}
        </p>
      ) : (
        recorded.map(([title, text]) => (
          <figure className="code" key={title} aria-label={title}>
            <div className="code-bar">
              <span>{title}</span>
              {text !== null && <CopyButton what={`the ${title.toLowerCase()}`} text={() => text} />}
            </div>
            <pre tabIndex={0} role="region" aria-label={`Recorded ${title.toLowerCase()}`} className="scroll">
              <code>{text === null ? 'Not recorded' : toPretty(text)}</code>
            </pre>
          </figure>
        ))
      )}
    </Card>
  )
}

/** Formats JSON. An excerpt that was cut is no JSON, and stays as it is. */
function toPretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
