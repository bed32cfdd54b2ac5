// For a page, which asks for it by name, and for a worker, which is asked by a message.
import { useKeyrail } from './useKeyrail.mjs'

if (typeof document === 'undefined') {
  addEventListener('message', ({ data }) => {
    useKeyrail(data).then(
      (report) => postMessage({ report }),
      (error) => postMessage({ error: String(error) }),
    )
  })
} else {
  globalThis.useKeyrail = useKeyrail
}
