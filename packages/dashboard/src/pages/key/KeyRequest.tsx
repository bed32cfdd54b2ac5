import { RequestDetails } from '../../requests/RequestDetails.tsx'
import { useKey, useKeyText } from './useKey.ts'

/** One request of an API key. */
export function KeyRequest() {
  const key = useKey()
  const holder = useKeyText(key)
  return (
    <RequestDetails subject={{ keyId: key.id }} holder={holder} recordDetails={key.recordDetails} requireJwt={false} />
  )
}
