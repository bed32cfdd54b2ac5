// A function of Next's edge runtime, in the form of a service worker.
import { useKeyrail } from './useKeyrail.mjs'

addEventListener('fetch', (event) => {
  event.respondWith(
    event.request
      .json()
      .then(useKeyrail)
      .then((report) => Response.json(report)),
  )
})
