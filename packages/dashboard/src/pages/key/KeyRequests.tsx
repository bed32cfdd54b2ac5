import { useMemo } from 'react'
import { RecordDetails } from '../../requests/RecordDetails.tsx'
import { RequestLog } from '../../requests/RequestLog.tsx'
import { useKey } from './useKey.ts'
import { useKeyChange } from './useKeyChange.ts'

/** The request log of an API key. */
export function KeyRequests() {
  const key = useKey()
  const subject = useMemo(() => ({ keyId: key.id }), [key.id])
  const networks = useMemo(() => [key.network], [key.network])
  const change = useKeyChange(key)
  return (
    <div className="stack wide">
      <RequestLog subject={subject} networks={networks} />
      {key.state !== 'revoked' && (
        <RecordDetails isOn={key.recordDetails} change={(recordDetails) => change({ recordDetails })} />
      )}
    </div>
  )
}
