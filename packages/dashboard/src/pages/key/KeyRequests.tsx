import { useMemo } from 'react'
import { RecordDetails } from '../../requests/RecordDetails.tsx'
import { RequestLog } from '../../requests/RequestLog.tsx'
import { useKey, useKeyText } from './useKey.ts'
import { useKeyChange } from './useKeyChange.ts'

/** The request log of an API key. */
export function KeyRequests() {
  const key = useKey()
  const subject = useMemo(() => ({ keyId: key.id }), [key.id])
  const networks = useMemo(() => [key.network], [key.network])
  const holder = useKeyText(key)
  const change = useKeyChange(key)
  return (
    <div className="stack wide">
      <RequestLog
        subject={subject}
        networks={networks}
        holder={holder}
        recordDetails={key.recordDetails}
        requireJwt={false}
      />
      {key.state !== 'revoked' && (
        <RecordDetails isOn={key.recordDetails} change={(recordDetails) => change({ recordDetails })} />
      )}
    </div>
  )
}
