import { RequestDetails } from '../../requests/RequestDetails.tsx'
import { useApp, useAppKey } from './useApp.ts'

/** One request of an app. */
export function AppRequest() {
  const app = useApp()
  const holder = useAppKey(app)
  return (
    <RequestDetails
      subject={{ appId: app.id }}
      holder={holder}
      recordDetails={app.recordDetails}
      requireJwt={app.requireJwt}
    />
  )
}
