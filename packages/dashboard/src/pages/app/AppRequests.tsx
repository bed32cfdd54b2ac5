import { useMemo } from 'react'
import { RecordDetails } from '../../requests/RecordDetails.tsx'
import { RequestLog } from '../../requests/RequestLog.tsx'
import { useApp, useAppKey } from './useApp.ts'
import { useAppChange } from './useAppChange.ts'

/** The request log of an app. */
export function AppRequests() {
  const app = useApp()
  const subject = useMemo(() => ({ appId: app.id }), [app.id])
  const holder = useAppKey(app)
  const change = useAppChange(app)
  return (
    <div className="stack wide">
      <RequestLog
        subject={subject}
        networks={app.networks}
        holder={holder}
        recordDetails={app.recordDetails}
        requireJwt={app.requireJwt}
      />
      <RecordDetails isOn={app.recordDetails} change={(recordDetails) => change({ recordDetails })} />
    </div>
  )
}
