// Runs a bundle in Hermes: node startHermes.mjs hermes bundle.js '{ "baseUrl": … }'. Like the native part of React Native, it does the work of timers,
// fetch and WebSocket for the program, which posts messages. The last line of the output is the report.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , hermes, bundle, given] = process.argv
// It reads lines of code. With each prompt it writes what it has printed.
const child = spawn(hermes, [], { stdio: ['pipe', 'pipe', 'inherit'] })

/** Evaluates a line in Hermes. */
const evaluate = (code) =>
  child.stdin.write(
    `${code.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`,
  )
const emit = (...event) => evaluate(`onHostEvent(...${JSON.stringify(event)})`)

const requests = new Map()
const sockets = new Map()

const messages = {
  timer: (id, ms) => setTimeout(() => emit('timer', id), ms),
  fetch: async (id, url, request) => {
    const controller = new AbortController()
    requests.set(id, controller)
    try {
      const response = await fetch(url, { ...request, signal: controller.signal })
      emit('response', id, response.status, Object.fromEntries(response.headers), await response.text())
    } catch {
      emit('failed', id)
    }
    requests.delete(id)
  },
  abort: (id) => requests.get(id)?.abort(),
  open: (id, url, protocols, headers) => {
    const socket = new WebSocket(url, { protocols, headers })
    sockets.set(id, socket)
    socket.onopen = () => emit('opened', id)
    socket.onmessage = ({ data }) => emit('message', id, data)
    socket.onclose = ({ code, reason }) => emit('closed', id, code, reason)
  },
  send: (id, text) => sockets.get(id).send(text),
  close: (id, code) => sockets.get(id).close(code),
  log: (text) => console.log(text),
  problem: (text) => {
    console.error(text)
    process.exit(1)
  },
  report: (report) => {
    console.log(`\n${JSON.stringify(report)}`)
    process.exit()
  },
}

for (const event of ['exit', 'error']) child.on(event, (what) => messages.problem(`Hermes ended: ${what}`))
createInterface({ input: child.stdout }).on('line', (line) => {
  const [, message] = /^(?:>> )*@(\[.*\])$/.exec(line) ?? []
  // Everything else is the value of a line, which Hermes prints.
  if (message === undefined) return line.includes('Uncaught') ? messages.problem(line) : undefined
  const [name, ...values] = JSON.parse(message)
  messages[name](...values)
})
process.on('exit', () => child.kill())
evaluate(`eval(${JSON.stringify(readFileSync(bundle, 'utf8'))})`)
evaluate(`makeCalls(${given})`)
