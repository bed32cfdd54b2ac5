// A page calls the global function, and a worker receives a message.
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
