import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { contractErrorsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import { Card } from '../parts/Card.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'

/** The revert data of a call, decoded by the contract errors of its app. */
export function RevertData({ data, subject }: { readonly data: string; readonly subject: KeySubject }) {
  const appId = 'appId' in subject ? subject.appId : undefined
  const errors = useQuery({ ...contractErrorsQuery(appId ?? ''), enabled: appId !== undefined })
  const signatures = appId === undefined ? [] : errors.data?.signatures
  const { data: decoded } = useQuery({
    queryKey: ['decoded-revert', data, signatures],
    // Few requests revert, and the decoder is larger than the page.
    queryFn: async () => (await import('./decodeRevert.ts')).decodeRevert(data, signatures ?? []),
    enabled: signatures !== undefined,
    staleTime: Infinity,
  })
  return (
    <Card title="Revert data">
      {decoded?.kind === 'decoded' && <code className="break">{decoded.text}</code>}
      {decoded?.kind === 'cut' && (
        <p>
          <code className="break">{decoded.text}</code>, whose arguments are longer than what the log records.
        </p>
      )}
      {decoded?.kind === 'unknown' && (
        <p>
          No known error has the selector <code>{decoded.selector}</code>.{' '}
          {appId !== undefined && (
            <Link to="/apps/$appId/settings/advanced" params={{ appId }} hash="card-contract-errors">
              Paste the ABI of the contract
            </Link>
          )}
        </p>
      )}
      <figure className="code" aria-label="Revert data in hex">
        <div className="code-bar">
          <span>Hex</span>
          <CopyButton what="the revert data" text={() => data} />
        </div>
        <pre tabIndex={0} role="region" aria-label="Recorded revert data" className="scroll wrap">
          <code>{data}</code>
        </pre>
      </figure>
    </Card>
  )
}
