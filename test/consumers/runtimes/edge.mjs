// A function of Next's edge runtime, in the form of a service worker.
import { runCalls } from './runCalls.mjs'

addEventListener('fetch', (event) => {
  event.respondWith(
    event.request
      .json()
      .then(runCalls)
      .then((report) => Response.json(report)),
  )
})
