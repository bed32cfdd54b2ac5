// What React Native adds to Hermes, as far as the SDK uses it: timers, fetch, WebSocket and AbortController. As there, the host does the work, here
// startHermes.mjs, and a response has no stream. The host prints no more than these messages.
import { AbortController } from 'abort-controller/dist/abort-controller'

/** Sends a message to the host. */
const post = (...message) => globalThis.print(`@${JSON.stringify(message)}`)

globalThis.post = post

// Hermes has these since the versions after the one that npm has as a program.
Symbol.asyncIterator ??= Symbol('Symbol.asyncIterator')
Array.prototype.at ??= function at(index) {
  return this[index < 0 ? this.length + index : index]
}
globalThis.TextEncoder ??= class {
  encode(text) {
    return Uint8Array.from(unescape(encodeURIComponent(text)), (character) => character.charCodeAt(0))
  }
}
Promise.allSettled ??= (promises) =>
  Promise.all(
    Array.from(promises, (promise) =>
      Promise.resolve(promise).then(
        (value) => ({ status: 'fulfilled', value }),
        (reason) => ({ status: 'rejected', reason }),
      ),
    ),
  )
globalThis.btoa ??= (text) => {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let encoded = ''
  for (let at = 0; at < text.length; at += 3) {
    const [a, b, c] = [0, 1, 2].map((offset) => text.charCodeAt(at + offset))
    encoded += digits[a >> 2] + digits[((a & 3) << 4) | (b >> 4)]
    encoded += at + 1 < text.length ? digits[((b & 15) << 2) | (c >> 6)] : '='
    encoded += at + 2 < text.length ? digits[c & 63] : '='
  }
  return encoded
}

globalThis.performance ??= { now: () => Date.now() }
globalThis.navigator ??= { product: 'ReactNative' }
globalThis.console ??= { log: (...values) => post('log', values.map(String).join(' ')), assert: () => {} }
globalThis.AbortController = AbortController

let lastId = 0
const timers = new Map()
const requests = new Map()
const sockets = new Map()

globalThis.setTimeout = (run, ms = 0, ...args) => {
  const id = ++lastId
  timers.set(id, () => run(...args))
  post('timer', id, ms)
  return id
}
globalThis.clearTimeout = (id) => void timers.delete(id)

globalThis.fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const id = ++lastId
    requests.set(id, { resolve, reject })
    signal?.addEventListener('abort', () => {
      if (!requests.delete(id)) return
      post('abort', id)
      reject(Object.assign(new Error('Aborted'), { name: 'AbortError' }))
    })
    post('fetch', id, url, { method, headers, body })
  })

globalThis.WebSocket = class {
  constructor(url, protocols, options) {
    this.id = ++lastId
    sockets.set(this.id, this)
    // React Native ignores protocols of another type.
    post('open', this.id, url, Array.isArray(protocols) ? protocols : [], options?.headers)
  }
  send(text) {
    post('send', this.id, text)
  }
  close(code) {
    post('close', this.id, code)
  }
}

const events = {
  timer: (id) => {
    const run = timers.get(id)
    timers.delete(id)
    run?.()
  },
  response: (id, status, headers, text) => {
    requests.get(id)?.resolve({
      status,
      ok: status >= 200 && status < 300,
      headers: { get: (name) => headers[name.toLowerCase()] ?? null },
      text: async () => text,
    })
    requests.delete(id)
  },
  failed: (id) => {
    requests.get(id)?.reject(new TypeError('Network request failed'))
    requests.delete(id)
  },
  opened: (id) => sockets.get(id)?.onopen?.({}),
  message: (id, data) => sockets.get(id)?.onmessage?.({ data }),
  closed: (id, code, reason) => {
    sockets.get(id)?.onclose?.({ code, reason })
    sockets.delete(id)
  },
}

/** Called by the host. */
globalThis.onHostEvent = (name, ...values) => void events[name](...values)
