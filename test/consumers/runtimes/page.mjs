// For a page, which asks for it by name, and for a worker, which is asked by a message.
import { useKeyrail } from './useKeyrail.mjs'

if (typeof document === 'undefined') {
  addEventListener('message', async ({ data }) => {
    try {
      postMessage({ report: await useKeyrail(data) })
    } catch (error) {
      postMessage({ error: String(error) })
    }
  })
} else {
  globalThis.useKeyrail = useKeyrail
}
