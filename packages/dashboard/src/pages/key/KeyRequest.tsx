import { RequestDetails } from '../../requests/RequestDetails.tsx'
import { useKey } from './useKey.ts'

/** One request of an API key. */
export function KeyRequest() {
  const { id, recordDetails } = useKey()
  return <RequestDetails subject={{ keyId: id }} recordDetails={recordDetails} />
}
