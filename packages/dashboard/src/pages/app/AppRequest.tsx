import { RequestDetails } from '../../requests/RequestDetails.tsx'
import { useApp } from './useApp.ts'

/** One request of an app. */
export function AppRequest() {
  const { id, recordDetails } = useApp()
  return <RequestDetails subject={{ appId: id }} recordDetails={recordDetails} />
}
