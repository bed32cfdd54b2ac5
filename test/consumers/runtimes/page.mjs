// A page calls the global function. A worker receives a message, and a service worker also a port for the response.
import { runCalls } from './runCalls.mjs'

if (typeof document === 'undefined') {
  addEventListener('message', ({ data, ports }) => {
    const to = ports[0] ?? globalThis
    runCalls(data).then(
      (report) => to.postMessage({ report }),
      (error) => to.postMessage({ error: String(error) }),
    )
  })
} else {
  globalThis.runCalls = runCalls
}
